//! `hotset explain`: why did the machine freeze?
mod ahead;
mod asked;
mod curves;
mod helped;
mod input;
mod log;
mod page;
mod records;
mod sheet;
mod text;
mod verify;
mod when;

use crate::shell::{self, page as page_file, usage, Force};
use anyhow::Result;
use asked::Asked;
use clap::Args;
use input::Found;
use names::shown;
use outfile::OutFile;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
#[command(after_help = "\
hotsetd records what it sees, also through a freeze and a reset (/var/lib/hotset/flight, which root may read). \
Without WHEN the last freeze or kill is explained. \
Where there is no record, the kernel's log is read, which knows less: the journal, or a file. \
The exit status is 1 where nothing has happened.\n\n\
Examples:\n  \
    sudo hotset explain\n  \
    sudo hotset explain 14:03\n  \
    sudo hotset explain --list\n  \
    sudo hotset explain --report freeze.html\n  \
    sudo hotset explain --verify freeze\n  \
    hotset explain evening.jsonl.zst\n  \
    hotset explain /var/log/kern.log")]
pub struct ExplainArgs {
    /// The time, as 14:03 or \"2026-11-27 14:03\", or a file: a copy of hotsetd's record, one of `hotset record`, or a
    /// kernel's log
    #[arg(value_name = "WHEN|FILE")]
    place: Option<String>,
    /// The record or the log [default: /var/lib/hotset/flight, or else the kernel's log]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// List everything that happened, a line each
    #[arg(long, conflicts_with = "report")]
    list: bool,
    /// Also write a page: the story, charts over time, and tables. It needs no network
    #[arg(long, value_name = "FILE.html", value_parser = page_file())]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Also boot guests with the record's pressure, as it was and with each change, and say what came; FOLDER gets the
    /// results. Minutes
    #[arg(long, value_name = "FOLDER", conflicts_with = "list")]
    verify: Option<PathBuf>,
    #[arg(long, help = shell::JSON)]
    json: bool,
}

/// Explains a freeze.
///
/// # Errors
/// The record or the log cannot be read, or is empty; the page cannot be written.
pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let (file, at_s) = place(args)?;
    if args.list && at_s.is_some() {
        return Err(usage!("--list lists everything: it takes no time"));
    }
    let inputs: Vec<&Path> = file.iter().map(PathBuf::as_path).collect();
    let page = args.report.as_ref();
    let page = page.map(|path| OutFile::create(path, args.force.rules(&inputs)));
    let asked = Asked {
        at_s,
        list: args.list,
        json: args.json,
        page: page.transpose()?,
        verify: args.verify.clone(),
    };
    match input::read(file.as_deref())? {
        Found::Records(input) => records::tell(&input, asked),
        Found::Log(_) if args.verify.is_some() => Err(usage!(
            "--verify: a kernel's log does not tell how much was taken when; it needs a record of hotsetd"
        )),
        Found::Log(log) => log::tell(&log, asked),
    }
}

/// The file, if one is named, and the time that is asked for.
fn place(args: &ExplainArgs) -> Result<(Option<PathBuf>, Option<f64>)> {
    let Some(place) = &args.place else {
        return Ok((args.file.clone(), None));
    };
    let path = PathBuf::from(place);
    if path.exists() {
        return match args.file {
            None => Ok((Some(path), None)),
            Some(_) => Err(usage!("{}: --file names a file already", shown(&path))),
        };
    }
    match when::parse(place) {
        Some(at_s) => Ok((args.file.clone(), Some(at_s))),
        None => Err(usage!(
            "{}: no such file, and no time; a time is 14:03, 14:03:20 or \"2026-11-27 14:03\"",
            shown(&path)
        )),
    }
}
