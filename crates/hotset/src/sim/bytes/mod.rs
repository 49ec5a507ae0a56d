//! `hotset sim bytes`
mod show;

use super::args::{choices, sizes, ShowArgs, Sizes};
use crate::shell::usage;
use crate::trace::read_args::ReadArgs;
use crate::trace::reading;
use anyhow::{Context, Result};
use clap::Args;
use names::shown;
use progress::{Delayed, Unit};
use sim::sized::{sweep, SizedInput};
use sim::sweep::jobs;
use sim::sweep::results::TraceId;
use sim::sweep::size::Size;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Args)]
pub struct BytesArgs {
    /// The trace, in a format with sizes: oracleGeneral, spc, lackey, or csv with a column of sizes; - is standard
    /// input
    #[arg(value_name = "FILE")]
    trace: PathBuf,
    /// Policies between commas: fifo, lru, s4-fifo, lhd
    #[arg(
        short,
        long,
        value_name = "POLICIES",
        default_value = "fifo,lru,s4-fifo,lhd"
    )]
    policy: Vec<String>,
    /// Sizes of the cache between commas: bytes (64M, 1G) or shares of the bytes of all objects (1%);
    /// LOW..HIGH:COUNT is that many sizes, each the same factor above the one before
    #[arg(short, long, value_name = "SIZES", value_parser = sizes)]
    size: Sizes,
    /// Policies and sizes at once [default: one for each processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    show: ShowArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub fn run(args: &BytesArgs) -> Result<ExitCode> {
    let choices = choices(&args.policy)?;
    let mut options = args.read.options();
    options.sizes = true;
    let trace = reading::read(&args.trace, &args.read, options)?;
    let name = match (args.trace.as_os_str() == "-", args.trace.file_name()) {
        (false, Some(name)) => shown(Path::new(name)).to_string(),
        _ => "standard input".to_string(),
    };
    if trace.sizes.is_none() {
        return Err(usage!(
            "{name} has no sizes: oracleGeneral, spc, lackey and csv with a column of sizes have (--size-column names it)"
        ));
    }
    let input = SizedInput::of(&trace).with_context(|| name.clone())?;
    let footprint = input.footprint();
    let all = jobs(&choices, &rooms(&args.size.0, footprint)?);
    let threads = args.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let title = format!("Simulating {} jobs of {} requests", all.len(), trace.len());
    let steps = all.len() as u64 * trace.len() as u64;
    let late = Delayed::new(title, Some(steps), Unit::Steps);
    let done = AtomicU64::new(0);
    let rows = sweep(&input, &all, threads, &|requests| {
        late.advance(done.fetch_add(requests, Ordering::Relaxed) + requests);
    });
    let rows = rows.map_err(|error| usage!("--policy: {error}"))?;
    drop(late);
    let id = TraceId::of(&name, input.input()).without(&trace.skipped);
    show::rows(&args.show, &id, footprint, &rows)?;
    Ok(ExitCode::SUCCESS)
}

/// The sizes of the cache in bytes.
fn rooms(sizes: &[Size], footprint: u64) -> Result<Vec<u64>> {
    let room = |size: &Size| {
        match *size {
        Size::Bytes(bytes) => Ok(bytes),
        Size::Share(share) => Ok(((footprint as f64 * share) as u64).max(1)),
        Size::Objects(objects) => Err(usage!(
            "--size {objects}: a number without a unit counts objects; here write bytes (64M) or a share (1%)"
        )),
    }
    };
    sizes.iter().map(room).collect()
}
