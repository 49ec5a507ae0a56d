//! How a trace is read: the same options wherever one is.
use super::count;
use crate::late::Late;
use anyhow::Result;
use clap::{Args, ValueEnum};
use kbuild::progress::Unit;
use std::path::Path;
use std::sync::Arc;
use trace::{CsvOptions, Format, Names, ReadOptions, SpcOptions, Trace};

#[derive(Args)]
#[command(next_help_heading = "Reading the trace")]
pub struct ReadArgs {
    /// oracleGeneral, spc, csv, text or lackey; guessed from name and contents. .zst and .gz are seen
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Leave malformed lines and records out, and say how many
    #[arg(long)]
    skip_bad: bool,
    /// No more requests than this
    #[arg(long, value_name = "COUNT", value_parser = count)]
    limit: Option<u64>,
    /// Leave writes out (SPC, CSV with an op column)
    #[arg(long)]
    drop_writes: bool,
    /// Bytes of a page: the objects of SPC, lackey and CSV with --addresses
    #[arg(long, value_name = "BYTES", default_value = "4096", value_parser = page_size)]
    page_size: u32,
    /// SPC: all units share one address space
    #[arg(long)]
    one_space: bool,
    /// SPC: one request for the first page instead of one for each page that is covered
    #[arg(long)]
    no_split: bool,
    /// SPC: bytes of a block address
    #[arg(long, value_name = "BYTES", default_value = "512", value_parser = block_size)]
    block_size: u32,
    /// Text and CSV: objects are numbers or any strings; auto goes by the first one
    #[arg(long, value_enum, default_value = "auto")]
    names: NamesArg,
    /// CSV: the object's column, by name or by number from 1
    #[arg(long, value_name = "COLUMN")]
    id_column: Option<String>,
    /// CSV: reads and writes
    #[arg(long, value_name = "COLUMN")]
    op_column: Option<String>,
    /// CSV: seconds
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// CSV: bytes
    #[arg(long, value_name = "COLUMN")]
    size_column: Option<String>,
    /// CSV: the id is a byte address, its page the object; a size splits a request into pages
    #[arg(long)]
    addresses: bool,
    /// CSV: the first line is a request and names no columns
    #[arg(long)]
    no_header: bool,
    /// CSV: one character, or tab; else the first line tells
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<u8>,
}

#[derive(Clone, Copy, ValueEnum)]
enum NamesArg {
    Auto,
    Numbers,
    Strings,
}

fn page_size(text: &str) -> Result<u32, String> {
    let bytes = count(text)?;
    match u32::try_from(bytes) {
        Ok(size) if size.is_power_of_two() => Ok(size),
        _ => Err(format!("{bytes} bytes: a power of two up to 2Gi is needed")),
    }
}

fn block_size(text: &str) -> Result<u32, String> {
    match count(text)? {
        bytes @ 1..=0x8000_0000 => Ok(bytes as u32),
        bytes => Err(format!("{bytes} bytes: 1 to 2Gi")),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte] if byte != b'"' && byte != b'\n' => Ok(byte),
        _ => Err("one character such as ; or tab".into()),
    }
}

impl ReadArgs {
    /// As the trace crate takes them.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            skip_bad: self.skip_bad,
            page_size: self.page_size,
            limit: self.limit,
            spc: SpcOptions {
                writes: !self.drop_writes,
                unit_spaces: !self.one_space,
                split: !self.no_split,
                block_size: self.block_size,
            },
            csv: CsvOptions {
                delimiter: self.delimiter,
                header: !self.no_header,
                id: self.id_column.clone(),
                op: self.op_column.clone(),
                time: self.time_column.clone(),
                size: self.size_column.clone(),
                addresses: self.addresses,
                writes: !self.drop_writes,
            },
            names: match self.names {
                NamesArg::Auto => Names::Auto,
                NamesArg::Numbers => Names::Numbers,
                NamesArg::Strings => Names::Strings,
            },
            ..ReadOptions::default()
        }
    }
}

/// Adds a bar that appears when reading takes its time.
pub fn with_progress(mut options: ReadOptions, path: &Path) -> ReadOptions {
    let length = std::fs::metadata(path).ok().map(|about| about.len());
    let late = Late::new(format!("Reading {}", path.display()), length, Unit::Bytes);
    options.progress = Some(Arc::new(move |done, _| late.advance(done)));
    options
}

/// Reads a whole trace with progress; says on standard error what was left out.
///
/// # Errors
/// What [`trace::open`] says.
pub fn read(path: &Path, options: ReadOptions) -> Result<Trace> {
    let trace = trace::open(path, &with_progress(options, path))?;
    tell_skipped(&trace.skipped);
    Ok(trace)
}

/// What was left out, for a person.
pub fn tell_skipped(skipped: &trace::Skipped) {
    if let Some(first) = &skipped.first {
        let n = skipped.malformed;
        eprintln!("hotset: left out {n} malformed; the first: {first}");
    }
}
