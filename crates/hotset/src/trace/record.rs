//! `hotset trace record`: accesses of a real command and of what it starts, page by page.
mod followed;

use super::convert::output_format;
use super::near::Near;
use crate::late::Late;
use anyhow::{bail, Context, Result};
use clap::Args;
use followed::Followed;
use kbuild::progress::Unit;
use rustix::io::{fcntl_setfd, FdFlags};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::Ordering;
use trace::{Batch, Format, Packing, ReadOptions, Reader, Writer};

#[derive(Args)]
pub struct RecordArgs {
    /// The trace to write, packed if it ends in .zst or .gz; - is standard output
    out: PathBuf,
    /// oracleGeneral, spc, csv, text or lackey, where OUT's name does not tell
    #[arg(long = "to", value_name = "FORMAT")]
    to_format: Option<Format>,
    /// Keep every access; otherwise one to a page that was among the last two is left out, which would
    /// be a hit in any cache
    #[arg(long)]
    all: bool,
    /// Stop recording after this many accesses; the command is ended
    #[arg(long, value_name = "COUNT", value_parser = super::count)]
    limit: Option<u64>,
    /// Say on standard error what was done, as JSON
    #[arg(long)]
    json: bool,
    /// The command and its arguments. Programs that it starts are followed; a process that is forked
    /// and executes none is not
    #[arg(required = true, last = true)]
    command: Vec<String>,
}

/// # Errors
/// When valgrind is missing, the command fails, or the trace cannot be written.
pub fn run(args: &RecordArgs) -> Result<ExitCode> {
    let format = output_format(&args.out, args.to_format)?;
    let (reading, writing) = std::io::pipe().context("making a pipe")?;
    // Whoever has it is not over yet, so that exec(2) must not close it.
    fcntl_setfd(&writing, FdFlags::empty()).context("making a pipe")?;
    let followed = Followed::listen(reading)?;
    let programs = followed.count();
    let mut child = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes", "--quiet"])
        .args(["--trace-children=yes", "--child-silent-after-fork=yes"])
        .arg(format!("--log-socket={}", followed.address()?))
        .arg("--")
        .args(&args.command)
        .spawn()
        .context("starting valgrind (Debian package valgrind)")?;
    drop(writing);
    let options = ReadOptions {
        format: Some(Format::Lackey),
        limit: args.limit,
        flags: true,
        ..ReadOptions::default()
    };
    let (reader, made) = match Reader::new(Path::new("lackey"), followed, None, &options) {
        Ok(mut reader) => {
            let made = copy(args, format, &mut reader);
            (Some(reader), made)
        }
        Err(error) => (None, Err(error.into())),
    };
    // Ended where the limit was reached or the trace could not be written: nobody reads their lines.
    let over =
        matches!(&made, Ok((_, accesses, _)) if args.limit.is_none_or(|limit| *accesses < limit));
    if !over {
        followed::end(child.id());
    }
    // Not before: whose connection is gone says all on standard error.
    drop(reader);
    let status = child.wait().context("waiting for valgrind")?;
    let (requests, accesses, skipped) = made?;
    if over && !status.success() {
        eprintln!("hotset: {} ended with {status}", args.command.join(" "));
    }
    if requests == 0 {
        bail!("{}: no access was seen", args.command.join(" "));
    }
    if args.json {
        let programs = programs.load(Ordering::Relaxed);
        let said = json!({ "requests": requests, "accesses": accesses, "unread": skipped, "programs": programs });
        eprintln!("{said}");
    } else {
        eprintln!("{requests} requests of {accesses} accesses");
    }
    Ok(ExitCode::SUCCESS)
}

/// Requests written, accesses seen, and lines of lackey's that were none.
fn copy(args: &RecordArgs, format: Format, reader: &mut Reader) -> Result<(u64, u64, u64)> {
    let page_size = ReadOptions::default().page_size;
    let packing = Packing::of_name(&args.out);
    let mut writer = Writer::create(&args.out, format, packing, page_size)?;
    let late = Late::new("Recording", None, Unit::Steps);
    let (mut last, mut accesses) = (Near::new(2), 0);
    let (mut batch, mut kept) = (Batch::default(), Batch::default());
    while reader.fill(&mut batch)? {
        accesses += batch.ids.len() as u64;
        late.advance(accesses);
        if args.all {
            writer.put(&batch)?;
            continue;
        }
        last.keep(&batch, &mut kept);
        writer.put(&kept)?;
    }
    let written = writer.finish()?;
    Ok((written.requests, accesses, reader.skipped().malformed))
}
