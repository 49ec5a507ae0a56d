//! What several of the commands take: a trace, policies, sizes, and how results are shown.
use crate::trace::read_args::{self, ReadArgs};
use anyhow::{anyhow, Result};
use clap::Args;
use sim::registry::{Choice, POLICIES};
use sim::size::{parse_list, Size};
use std::path::PathBuf;
use trace::{Budget, Trace};

#[derive(Args)]
pub struct TraceArgs {
    /// The trace; - is standard input
    pub trace: PathBuf,
    /// Bytes of an object, for sizes in bytes
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = crate::trace::count)]
    pub object_size: u64,
    /// Most memory for the trace and one policy a thread. Where a trace has more objects than that,
    /// a sample of them is simulated, results are estimates and say so. Without it all is exact
    #[arg(long, value_name = "BYTES", value_parser = crate::trace::count)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub read: ReadArgs,
}

impl TraceArgs {
    /// Reads it, with how its requests were made where a policy may ask for that.
    ///
    /// # Errors
    /// The file's.
    pub fn load(&self, flags: bool, threads: usize) -> Result<Trace> {
        let mut options = self.read.options();
        options.flags = flags;
        options.budget = self.memory.map(|bytes| Budget {
            bytes,
            // What no policy exceeds, and a sample's parts besides.
            per_object: 24 * threads as u64 + 8,
        });
        let trace = read_args::read(&self.trace, options)?;
        if let Some(sample) = trace.sample {
            eprintln!(
                "hotset: ESTIMATES: {} has about {} objects, too many for --memory; one in {} is simulated ({} objects, {} of {} requests)",
                trace.name,
                u64::from(trace.objects) * sample.one_in,
                sample.one_in,
                trace.objects,
                trace.len(),
                sample.requests
            );
        }
        Ok(trace)
    }

    /// Sizes in objects of that trace.
    pub fn sizes(&self, sizes: &[Size], trace: &Trace) -> Vec<u64> {
        let one_in = trace.sample.map_or(1, |sample| sample.one_in);
        let footprint = u64::from(trace.objects) * one_in;
        sizes
            .iter()
            .map(|size| size.objects(footprint, self.object_size))
            .collect()
    }
}

#[derive(Args)]
pub struct ShowArgs {
    /// One JSON object
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Comma-separated values, with a heading
    #[arg(long)]
    pub csv: bool,
}

/// Several sizes of one argument.
#[derive(Clone)]
pub struct Sizes(pub Vec<Size>);

pub fn sizes(text: &str) -> Result<Sizes, String> {
    parse_list(text).map(Sizes)
}

/// Policies of one or more arguments: names between commas, each with its parameters; `all` is all.
/// A comma also stands between parameters: what has a `=` before any `:` belongs to the one before.
///
/// # Errors
/// A policy or a parameter that is not known.
pub fn choices(texts: &[String]) -> Result<Vec<Choice>> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let parameter = part.contains('=') && !part.contains(':');
            match names.last_mut().filter(|_| parameter) {
                Some(before) => {
                    before.push(',');
                    before.push_str(part);
                }
                _ if part == "all" => names.extend(POLICIES.iter().map(|p| p.name.to_string())),
                _ => names.push(part.to_string()),
            }
        }
    }
    names
        .iter()
        .map(|name| {
            Choice::parse(name)
                .map_err(|error| anyhow!("{error} (`hotset sim policies` lists them)"))
        })
        .collect()
}

/// Threads to use: as many as asked, or as the machine has.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}
