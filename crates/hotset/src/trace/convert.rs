//! `hotset trace convert`.
use super::near::Near;
use super::read_args::{tell_skipped, with_progress, ReadArgs};
use anyhow::{bail, Result};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trace::{Batch, Format, Packing, Reader, Writer};

#[derive(Args)]
pub struct ConvertArgs {
    /// The trace to read; - is standard input
    from: PathBuf,
    /// The trace to write, packed if it ends in .zst or .gz; - is standard output
    to: PathBuf,
    /// oracleGeneral, spc, csv, text or lackey, where the name does not tell
    #[arg(long = "to", value_name = "FORMAT")]
    to_format: Option<Format>,
    /// Leave out what was among the last COUNT objects (Smith's stack deletion): a shorter trace with
    /// nearly the same misses, for caches that are far larger
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    near: Option<u16>,
    /// Say on standard error what was done, as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
}

/// The format of a trace to be written.
///
/// # Errors
/// When neither an option nor the name tells it.
pub fn output_format(path: &Path, asked: Option<Format>) -> Result<Format> {
    match asked.or_else(|| Format::of_name(path)) {
        Some(format) => Ok(format),
        None if path.as_os_str() == "-" => Ok(Format::Text),
        None => bail!(
            "{}: which format? Name it .oracleGeneral.bin, .txt, .csv, .spc or .lackey (.zst, .gz), or give --to",
            path.display()
        ),
    }
}

/// # Errors
/// Either file's.
pub fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let format = output_format(&args.to, args.to_format)?;
    let options = with_progress(args.read.options(), &args.from);
    let page_size = options.page_size;
    let mut reader = Reader::open(&args.from, &options)?;
    let mut writer = Writer::create(&args.to, format, Packing::of_name(&args.to), page_size)?;
    let mut near = args.near.map(Near::new);
    let (mut batch, mut kept) = (Batch::default(), Batch::default());
    while reader.fill(&mut batch)? {
        if let Some(near) = &mut near {
            near.keep(&batch, &mut kept);
            writer.put(&kept)?;
        } else {
            writer.put(&batch)?;
        }
    }
    tell_skipped(reader.skipped());
    if writer.requests() == 0 {
        bail!(
            "{}: no request to write, read as {}",
            args.from.display(),
            reader.format().name()
        );
    }
    let written = writer.finish()?;
    let (from, to) = (reader.format().name(), format.name());
    let skipped = reader.skipped();
    if args.json {
        let said = json!({
            "requests": written.requests, "from": from, "to": to,
            "skipped": { "malformed": skipped.malformed, "first": skipped.first, "writes": skipped.writes },
        });
        eprintln!("{said}");
    } else {
        let dropped = match skipped.writes {
            0 => String::new(),
            n => format!(", {n} writes left out"),
        };
        eprintln!("{} requests, {from} to {to}{dropped}", written.requests);
    }
    Ok(ExitCode::SUCCESS)
}
