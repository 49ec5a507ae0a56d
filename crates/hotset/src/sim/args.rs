//! Arguments that several commands take: a trace, policies, sizes, and the form of the output.
use crate::shell::{note, usage};
use crate::trace::read_args::ReadArgs;
use crate::trace::reading;
use anyhow::Result;
use clap::Args;
use names::shown;
use sim::registry::{Choice, POLICIES};
use sim::sweep::sampled;
use sim::sweep::size::{parse_list, Size};
use std::path::{Path, PathBuf};
use trace::{Budget, Extent, Trace};

#[derive(Args)]
pub struct TraceArgs {
    /// The trace; - is standard input
    #[arg(value_name = "FILE")]
    pub trace: PathBuf,
    /// Size of an object, for cache sizes in bytes
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = object_size)]
    pub object_size: u64,
    /// Memory limit for the trace and one policy a job. A larger trace is sampled, and its results are
    /// marked as estimates [default: no limit, and exact results]
    #[arg(long, value_name = "BYTES", value_parser = units::parse_bytes)]
    pub memory: Option<u64>,
    /// Policies and sizes at once [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    pub read: ReadArgs,
}

fn object_size(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text)? {
        0 => Err("an object has at least one byte".into()),
        bytes => Ok(bytes),
    }
}

impl TraceArgs {
    /// Reads the trace, with its flags if a policy may use them, for these sizes of a cache. No sizes are
    /// those up to the footprint.
    ///
    /// # Errors
    /// The file cannot be read, or is malformed, or `--memory` is too little for a sample.
    pub fn load(&self, flags: bool, sizes: &[Size]) -> Result<Trace> {
        let mut options = self.read.options();
        options.flags = flags;
        options.budget = self.memory.map(|bytes| Budget {
            bytes,
            per_object: sampled::BYTES * self.jobs() as u64,
        });
        let read = reading::read(&self.trace, &self.read, options);
        let mut trace = read.map_err(|error| match error.downcast_ref() {
            Some(trace::Error::Budget { least, extent, .. }) => {
                self.too_small(sizes, extent, *least)
            }
            _ => error,
        })?;
        // The whole name: a.csv and a.bin are two traces.
        trace.name = match (self.trace.as_os_str() == "-", self.trace.file_name()) {
            (false, Some(name)) => shown(Path::new(name)).to_string(),
            _ => "standard input".to_string(),
        };
        if let Some(sample) = trace.sample {
            note(format!(
                "ESTIMATES: {} has about {} objects, too many for --memory: one in {} is simulated ({} objects, {} of {} requests)",
                trace.name,
                u64::from(trace.objects) * sample.one_in,
                sample.one_in,
                trace.objects,
                trace.len(),
                sample.requests
            ));
        }
        Ok(trace)
    }

    /// The error where `--memory` has room for no estimate. At least `least` bytes are enough for a sample.
    pub fn too_small(&self, sizes: &[Size], extent: &Extent, least: u64) -> anyhow::Error {
        let each = sizes.iter();
        let each = each.map(|size| sampled::enough(extent, *size, self.object_size).max(least));
        let (one, all) = (each.clone().min(), each.max());
        let enough = match (one.unwrap_or(least), all.unwrap_or(least)) {
            (one, all) if one == all => format!("{all} are enough"),
            (one, all) => format!("{one} are enough for the largest size, {all} for all"),
        };
        usage!(
            "--memory: {} bytes are too few for an estimate of {}; {enough}",
            self.memory.unwrap_or_default(),
            shown(&self.trace)
        )
    }

    /// The cure where a size of the cache is too small for the sample.
    pub fn cure(&self, sizes: &[Size], trace: &Trace) -> Option<String> {
        let extent = trace.extent.as_ref()?;
        let each = sizes.iter();
        let all = each.map(|size| sampled::enough(extent, *size, self.object_size));
        Some(match all.max() {
            Some(all) => format!("--memory {all} is enough for all sizes"),
            None => format!("--memory {} is enough for all objects", extent.bytes(1)),
        })
    }

    /// Simulations at once.
    pub fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }

    /// Sizes in objects of the trace.
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
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print comma-separated values with a heading
    #[arg(long)]
    pub csv: bool,
}

/// Several sizes of one argument.
#[derive(Clone)]
pub struct Sizes(pub Vec<Size>);

pub fn sizes(text: &str) -> Result<Sizes, String> {
    parse_list(text).map(Sizes)
}

/// Policies of one or more arguments: names between commas, each with its parameters. `all` is every
/// policy. Commas also separate parameters: a part with `=` and without `:` belongs to the policy before.
///
/// # Errors
/// No policy is named, or a policy or a parameter is unknown.
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
    if names.is_empty() {
        return Err(usage!(
            "--policy: no policy is named; `hotset sim policies` lists them"
        ));
    }
    names
        .iter()
        .map(|name| {
            Choice::parse(name).map_err(|error| match error {
                sim::Error::Policy { .. } => {
                    usage!("--policy: {error} (`hotset sim policies` lists them)")
                }
                _ => usage!("--policy: {error}"),
            })
        })
        .collect()
}
