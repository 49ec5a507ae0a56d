//! `hotset trace record`: accesses of a real command and of what it starts, page by page.
mod followed;

use super::convert::output_format;
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
    #[arg(long, conflicts_with = "near")]
    all: bool,
    /// Leave out what was among the last COUNT pages (Smith's stack deletion): a shorter trace for
    /// caches that are far larger
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1024))]
    near: u16,
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

/// Lets through what is none of the last pages.
struct Last {
    /// The latest first.
    pages: Vec<u64>,
    most: usize,
}

impl Last {
    fn new(most: usize) -> Last {
        Last {
            pages: Vec::with_capacity(most),
            most,
        }
    }

    fn is_new(&mut self, page: u64) -> bool {
        let place = self.pages.iter().position(|one| *one == page);
        match place {
            Some(place) => self.pages[..=place].rotate_right(1),
            None => {
                self.pages.truncate(self.most - 1);
                self.pages.insert(0, page);
            }
        }
        place.is_none()
    }
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
    let (mut last, mut accesses) = (Last::new(args.near.into()), 0);
    let (mut batch, mut kept) = (Batch::default(), Batch::default());
    while reader.fill(&mut batch)? {
        accesses += batch.ids.len() as u64;
        late.advance(accesses);
        if args.all {
            writer.put(&batch)?;
            continue;
        }
        kept.ids.clear();
        kept.flags.clear();
        kept.sizes.clear();
        for (at, &page) in batch.ids.iter().enumerate() {
            if last.is_new(page) {
                kept.ids.push(page);
                kept.flags.extend(batch.flags.get(at));
                kept.sizes.extend(batch.sizes.get(at));
            }
        }
        writer.put(&kept)?;
    }
    let written = writer.finish()?;
    Ok((written.requests, accesses, reader.skipped().malformed))
}

#[cfg(test)]
mod tests {
    use super::Last;

    fn kept(most: usize, pages: &[u64]) -> Vec<u64> {
        let mut last = Last::new(most);
        let pages = pages.iter().copied();
        pages.filter(|page| last.is_new(*page)).collect()
    }

    #[test]
    fn what_was_among_the_last_pages_is_left_out() {
        let pages = [1, 1, 2, 1, 2, 2, 3, 2, 1, 3];
        assert_eq!(kept(1, &pages), [1, 2, 1, 2, 3, 2, 1, 3]);
        assert_eq!(kept(2, &pages), [1, 2, 3, 1, 3]);
        assert_eq!(kept(3, &pages), [1, 2, 3]);
    }
}
