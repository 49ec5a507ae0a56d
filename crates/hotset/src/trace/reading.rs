//! Opens traces, and says on standard error what was found, left out or chosen.
use super::read_args::ReadArgs;
use crate::shell::{self, usage};
use anyhow::Result;
use names::shown;
use progress::{Delayed, Unit};
use std::path::Path;
use std::sync::Arc;
use trace::{Format, ReadOptions, Reader, Skipped, Trace};

/// Opens a trace, with progress. `options` are those of `args`, with what the command adds. `written` is the format
/// that the command writes.
///
/// # Errors
/// As [`Reader::open`], or an option was given that the trace's format does not have.
pub fn open(
    path: &Path,
    args: &ReadArgs,
    mut options: ReadOptions,
    written: Option<Format>,
) -> Result<(Reader, ReadOptions)> {
    let length = std::fs::metadata(path).ok().map(|about| about.len());
    let late = Delayed::new(format!("Reading {}", shown(path)), length, Unit::Bytes);
    options.progress = Some(Arc::new(move |done, _| late.advance(done)));
    let reader = Reader::open(path, &options)?;
    let (name, format) = (shown(reader.path()).to_string(), reader.format());
    let from = match args.format_from(path) {
        "option" => "by --format".to_string(),
        found => format!("by its {found}"),
    };
    if let Some((option, formats)) = args.misplaced(format, written) {
        return Err(usage!(
            "{option}: {name} is read as {} ({from}); the option is for {formats}",
            format.name()
        ));
    }
    let columns = reader.columns();
    if args.drops_writes() && format == Format::Csv && columns.iter().all(|(role, _)| *role != "op")
    {
        return Err(usage!(
            "--drop-writes: {name} has no column of operations that is known; --op-column names it"
        ));
    }
    shell::verbose(format!(
        "{name}: {}, {} ({from})",
        reader.packing().name(),
        format.name()
    ));
    if !columns.is_empty() {
        let columns = columns
            .iter()
            .map(|(role, column)| format!("{role} from {column}"));
        let columns: Vec<String> = columns.collect();
        shell::verbose(format!("{name}: columns: {}", columns.join(", ")));
    }
    if let Some(doubt) = reader.doubt() {
        shell::note(format!("{name}: {doubt}"));
    }
    Ok((reader, options))
}

/// Reads a whole trace with progress, and reports left-out requests on standard error.
///
/// # Errors
/// As [`open`] and [`trace::load`].
pub fn read(path: &Path, args: &ReadArgs, options: ReadOptions) -> Result<Trace> {
    let (reader, options) = open(path, args, options, None)?;
    let trace = trace::load(reader, &options)?;
    report_skipped(&trace.skipped);
    Ok(trace)
}

/// Reports the number of left-out requests on standard error, with the first error.
pub fn report_skipped(skipped: &Skipped) {
    if let Some(first) = &skipped.first {
        let n = skipped.malformed;
        shell::note(format!("left out {n} malformed; the first: {first}"));
    }
}
