//! `hotset trace convert`.
mod lost;

use super::near::Near;
use super::read_args::ReadArgs;
use super::reading::{open, report_skipped};
use crate::shell::{self, usage, Force};
use anyhow::{bail, Result};
use clap::Args;
use lost::Lost;
use names::shown;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trace::{Batch, Format, Packing, Reader, Writer, Written};
use units::parse_count;

#[derive(Args)]
pub struct ConvertArgs {
    /// The trace to read; - is standard input
    trace: PathBuf,
    /// The trace to write, packed if it ends in .zst or .gz; - is standard output
    output: PathBuf,
    /// Format to write: oracleGeneral, spc, csv, text or lackey [default: by the ending of OUTPUT's name]
    #[arg(long = "to", value_name = "FORMAT")]
    to_format: Option<Format>,
    /// Leave out requests of the last COUNT objects, 1 to 1024 (Smith's stack deletion). The shorter trace has
    /// nearly the same misses in caches that are far larger
    #[arg(long, value_name = "COUNT", value_parser = near)]
    near: Option<u16>,
    #[command(flatten)]
    force: Force,
    #[arg(long, help = shell::JSON_SUMMARY)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
}

fn near(text: &str) -> Result<u16, String> {
    match parse_count(text)? {
        count @ 1..=1024 => Ok(count as u16),
        _ => Err(format!("{text} is out of range (1 to 1024)")),
    }
}

/// The format of a trace to be written.
///
/// # Errors
/// Neither an option nor the file's name determines the format.
pub fn output_format(path: &Path, asked: Option<Format>) -> Result<Format> {
    match asked.or_else(|| Format::of_name(path)) {
        Some(format) => Ok(format),
        None if path.as_os_str() == "-" => Ok(Format::Text),
        None => Err(usage!(
            "{}: the ending of the name is no format: end it in .oracleGeneral.bin, .txt, .csv, .spc or .lackey (and .zst or .gz), or use --to",
            shown(path)
        )),
    }
}

/// Prints a command's summary as JSON where the trace is not: on standard output, or on standard error.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_summary(output: &Path, command: &str, summary: &serde_json::Value) -> Result<()> {
    let line = shell::line(command, 1, summary)?;
    match output.as_os_str() == "-" {
        true => eprintln!("{line}"),
        false => shell::outln!("{line}")?,
    }
    Ok(())
}

/// # Errors
/// A file cannot be read or written.
pub fn run(args: &ConvertArgs) -> Result<ExitCode> {
    let format = output_format(&args.output, args.to_format)?;
    let mut options = args.read.options();
    options.short_times = format == Format::OracleGeneral;
    let page_size = options.page_size;
    if format == Format::Spc && page_size < 512 {
        return Err(usage!(
            "--page-size: pages of {page_size} bytes do not fit spc, whose blocks have 512"
        ));
    }
    let (mut reader, _) = open(&args.trace, &args.read, options, Some(format))?;
    let inputs = [args.trace.as_path()];
    let mut writer = Writer::create(
        &args.output,
        format,
        Packing::of_name(&args.output),
        page_size,
        args.force.rules(&inputs),
    )?;
    let mut near = args.near.map(Near::new);
    let mut lost = Lost::default();
    let (mut batch, mut kept) = (Batch::default(), Batch::default());
    while reader.fill(&mut batch)? {
        if let Some(near) = &mut near {
            near.keep(&batch, &mut kept);
            std::mem::swap(&mut batch, &mut kept);
        }
        lost.count(&batch, format, page_size);
        writer.put(&batch)?;
    }
    lost.names = reader.names();
    report_skipped(reader.skipped());
    if writer.requests() == 0 {
        bail!(
            "{}: no request left to write, read as {}",
            shown(&args.trace),
            reader.format().name()
        );
    }
    let written = writer.finish()?;
    tell(args, &reader, format, &written, &lost)?;
    Ok(ExitCode::SUCCESS)
}

fn tell(
    args: &ConvertArgs,
    reader: &Reader,
    format: Format,
    written: &Written,
    lost: &Lost,
) -> Result<()> {
    let output = shown(&args.output);
    for note in lost.notes(format, args.read.options().page_size) {
        shell::note(format!("{output}: {note}"));
    }
    let (from, to, requests) = (reader.format().name(), format.name(), written.requests);
    let skipped = reader.skipped();
    if args.json {
        let summary = json!({
            "input": args.trace.to_string_lossy(),
            "output": args.output.to_string_lossy(),
            "from": from,
            "to": to,
            "requests": requests,
            "skipped": { "malformed": skipped.malformed, "first": skipped.first, "writes": skipped.writes },
            "lost": lost.json(),
        });
        return print_summary(&args.output, "trace.convert", &summary);
    }
    let dropped = match skipped.writes {
        0 => String::new(),
        n => format!(", {n} writes left out"),
    };
    shell::note(format!(
        "{output}: {requests} requests, {from} to {to}{dropped}"
    ));
    Ok(())
}
