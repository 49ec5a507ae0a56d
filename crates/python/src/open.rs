//! Files of traces, read with the options that Python gives.
use crate::errors;
use crate::work::Work;
use pyo3::prelude::*;
use sim::sweep::sampled;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use trace::{Budget, CsvOptions, Format, Names, ReadOptions, Reader, SpcOptions, Trace};

/// The options of `Trace.open`. None: it was not given.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    format: Option<String>,
    count: Option<u64>,
    skip_bad: bool,
    flags: bool,
    memory: Option<Memory>,
    writes: Option<bool>,
    page_size: Option<u32>,
    unit_spaces: Option<bool>,
    split: Option<bool>,
    block_size: Option<u32>,
    names: Option<String>,
    id_column: Option<String>,
    op_column: Option<String>,
    time_column: Option<String>,
    size_column: Option<String>,
    addresses: Option<bool>,
    header: Option<bool>,
    delimiter: Option<String>,
}

/// Bytes, as a number or as text.
#[derive(FromPyObject)]
enum Memory {
    Number(u64),
    Text(String),
}

impl Memory {
    fn bytes(&self) -> PyResult<u64> {
        match self {
            Memory::Number(bytes) => Ok(*bytes),
            Memory::Text(text) => units::parse_bytes(text).map_err(errors::value),
        }
    }
}

impl Options {
    fn options(&self) -> PyResult<ReadOptions> {
        let usual = ReadOptions::default();
        let format: Option<Format> = match &self.format {
            Some(name) => Some(name.parse().map_err(errors::value)?),
            None => None,
        };
        let names = match &self.names {
            Some(text) => {
                { text.parse() }.map_err(|wrong| errors::value(format!("names={wrong}")))?
            }
            None => Names::Auto,
        };
        let delimiter = self.delimiter.as_deref().map(CsvOptions::delimiter);
        let delimiter = delimiter
            .transpose()
            .map_err(|wrong| errors::value(format!("delimiter={wrong}")))?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let memory = self.memory.as_ref().map(Memory::bytes).transpose()?;
        let writes = self.writes.unwrap_or(true);
        Ok(ReadOptions {
            format,
            sizes: false,
            skip_bad: self.skip_bad,
            flags: self.flags,
            page_size: self.page_size.unwrap_or(usual.page_size),
            limit: self.count,
            budget: memory.map(|bytes| Budget {
                bytes,
                per_object: sampled::BYTES * threads as u64,
            }),
            spc: SpcOptions {
                writes,
                unit_spaces: self.unit_spaces.unwrap_or(true),
                split: self.split.unwrap_or(true),
                block_size: self.block_size.unwrap_or(usual.spc.block_size),
            },
            csv: CsvOptions {
                delimiter,
                header: self.header.unwrap_or(true),
                id: self.id_column.clone(),
                op: self.op_column.clone(),
                time: self.time_column.clone(),
                size: self.size_column.clone(),
                addresses: self.addresses.unwrap_or(false),
                writes,
            },
            names,
            ..usual
        })
    }

    /// The first option that was given and means nothing for a trace of this format, and the formats that have it.
    fn misplaced(&self, read: Format) -> Option<(&'static str, &'static str)> {
        let (csv, spc) = (read == Format::Csv, read == Format::Spc);
        let addresses = self.addresses == Some(true);
        let pages = spc || read == Format::Lackey || (csv && addresses);
        let named = read == Format::Text || (csv && !addresses);
        let all = [
            ("writes", self.writes.is_some(), csv || spc, "spc and csv"),
            (
                "page_size",
                self.page_size.is_some(),
                pages,
                "spc, lackey, and csv with addresses",
            ),
            ("unit_spaces", self.unit_spaces.is_some(), spc, "spc"),
            ("split", self.split.is_some(), spc, "spc"),
            ("block_size", self.block_size.is_some(), spc, "spc"),
            (
                "names",
                self.names.is_some(),
                named,
                "text, and csv without addresses",
            ),
            ("id_column", self.id_column.is_some(), csv, "csv"),
            ("op_column", self.op_column.is_some(), csv, "csv"),
            ("time_column", self.time_column.is_some(), csv, "csv"),
            ("size_column", self.size_column.is_some(), csv, "csv"),
            ("addresses", self.addresses.is_some(), csv, "csv"),
            ("header", self.header.is_some(), csv, "csv"),
            ("delimiter", self.delimiter.is_some(), csv, "csv"),
        ];
        let wrong = all.into_iter().find(|(_, given, has, _)| *given && !has);
        wrong.map(|(option, .., formats)| (option, formats))
    }
}

/// Reads a trace, and reports the bytes of the file that are read. Also returns what its user may not have meant.
///
/// # Errors
/// The file cannot be read or is malformed, or an option means nothing for its format.
pub fn read(
    path: &Path,
    asked: &Options,
    work: &std::sync::Arc<Work>,
) -> PyResult<(Trace, Option<String>)> {
    let mut options = asked.options()?;
    let before = AtomicU64::new(0);
    let reported = std::sync::Arc::clone(work);
    options.progress = Some(std::sync::Arc::new(move |done, length| {
        reported.expect(length.unwrap_or(0));
        reported.advance(done - before.swap(done, Ordering::Relaxed));
    }));
    let reader = Reader::open(path, &options).map_err(|error| errors::trace(&error))?;
    if let Some((option, formats)) = asked.misplaced(reader.format()) {
        let format = reader.format().name();
        return Err(errors::value(format!(
            "{option}: {} is read as {format}; the option is for {formats}",
            names::shown(path)
        )));
    }
    let knows_writes = reader.columns().iter().any(|(role, _)| *role == "op");
    if asked.writes == Some(false) && reader.format() == Format::Csv && !knows_writes {
        return Err(errors::value(format!(
            "writes=False: {} has no column of operations that is known; op_column names it",
            names::shown(path)
        )));
    }
    let doubt = reader.doubt();
    let doubt = doubt.map(|doubt| errors::in_python(format!("{}: {doubt}", names::shown(path))));
    let trace = trace::load(reader, &options).map_err(|error| errors::trace(&error))?;
    Ok((trace, doubt))
}
