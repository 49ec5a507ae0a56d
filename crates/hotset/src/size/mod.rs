//! `hotset size`: how much memory does this machine need?
mod group;
mod look;
mod machine;
mod place;
mod text;
mod tracefs;
mod validate;
mod watch;

use crate::record;
use crate::shell::{self, document, out};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use size::{curve, Curve};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use watch::Watched;

#[derive(Args)]
#[command(after_help = "\
The machine works as ever while it is watched, and the kernel's events of the page cache are counted. \
A page that comes back from behind others that were evicted would have stayed in a larger memory: so what is read \
again now tells what would be read again with more memory. Root alone may read these events.\n\n\
Examples:\n  \
    sudo hotset size --for 10m\n  \
    sudo hotset size -- make -j4\n  \
    sudo hotset size --cgroup system.slice/postgresql.service\n  \
    sudo hotset size --for 1h --json > size.json")]
pub struct SizeArgs {
    /// Time to watch: seconds, or with a unit: 90s, 30m, 1h; without, 10m, or as long as COMMAND runs
    #[arg(long = "for", value_name = "TIME", value_parser = record::interval)]
    duration: Option<Duration>,
    /// Cgroup to watch, below /sys/fs/cgroup; without, the machine
    #[arg(long, value_name = "CGROUP", conflicts_with = "command")]
    cgroup: Option<PathBuf>,
    /// Watch nothing: compare what the guests of a lab run foretell of larger guests with these
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["duration", "command", "cgroup"])]
    validate: Option<PathBuf>,
    #[arg(long, help = shell::JSON)]
    json: bool,
    /// Command to run and watch
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    watched: &'a Watched,
    curve: &'a Curve,
}

/// Memory beside that of now, as shares of it.
const MORE: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];

/// Watches, and estimates.
///
/// # Errors
/// The kernel cannot be traced, or the command cannot be started.
pub fn run(args: &SizeArgs) -> Result<ExitCode> {
    if let Some(folder) = &args.validate {
        validate::run(folder, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (watched, distances) = watch::run(args.duration, &args.command, args.cgroup.as_deref())?;
    let pages = watched.memory / watched.page_size;
    let more = MORE.map(|share| (pages as f64 * share) as u64);
    let curve = curve::of(&distances, watched.seconds, &more);
    if args.json {
        let found = Document {
            watched: &watched,
            curve: &curve,
        };
        shell::outln!("{}", document("size", 1, &found)?)?;
    } else {
        out!("{}", text::page(&watched, &curve))?;
    }
    Ok(ExitCode::SUCCESS)
}
