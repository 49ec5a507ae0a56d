//! The records of a file, hotsetd's or one of `hotset record`, or a kernel's log.
use super::log::source::{self, Log};
use anyhow::{anyhow, Context, Result};
use flight::{Flight, ReadError, Record};
use kernfs::samples::Machine;
use names::shown;
use std::io::{BufRead, ErrorKind};
use std::path::{Path, PathBuf};

/// hotsetd's record.
const RECORD: &str = "/var/lib/hotset/flight";

/// What was read.
pub enum Found {
    Records(Input),
    Log(Log),
}

/// What is explained.
pub struct Input {
    pub file: PathBuf,
    /// By time; at least one.
    pub records: Vec<Record>,
    /// Bytes.
    pub page_size: u64,
    /// Where the record says which machine it is of.
    pub machine: Option<Machine>,
    /// Slots that were being written when the machine stopped, or are damaged.
    pub torn: u64,
    /// Whether the records name programs.
    pub names_programs: bool,
}

/// Reads a file, or else hotsetd's record, or where there is none the kernel's log.
///
/// # Errors
/// The file cannot be read, is of no known kind, or is empty.
pub fn read(file: Option<&Path>) -> Result<Found> {
    let path = file.unwrap_or(Path::new(RECORD));
    let input = match flight::read(path) {
        Ok(flight) => of_flight(path, flight),
        Err(ReadError::NoHeader) => match is_json(path)? {
            true => of_recording(path)?,
            false => return Ok(Found::Log(source::of_file(path)?)),
        },
        Err(ReadError::Io(error)) if error.kind() == ErrorKind::NotFound && file.is_none() => {
            return Ok(Found::Log(source::of_machine()?));
        }
        Err(error) => return Err(anyhow!("{}: {error}", shown(path))),
    };
    match input.records.is_empty() {
        true => Err(anyhow!("{}: nothing has been recorded yet", shown(path))),
        false => Ok(Found::Records(input)),
    }
}

/// Whether the file is empty or begins as JSON does, as recordings do.
fn is_json(path: &Path) -> Result<bool> {
    let named = || shown(path).to_string();
    let mut file = trace::open_unpacked(path).with_context(named)?;
    let begin = file.fill_buf().with_context(named)?;
    let first = begin.iter().find(|byte| !byte.is_ascii_whitespace());
    Ok(begin.is_empty() || first == Some(&b'{'))
}

fn of_flight(path: &Path, flight: Flight) -> Input {
    Input {
        file: path.into(),
        records: flight.records,
        page_size: flight.header.machine.page_size.max(1024),
        machine: Some(flight.header.machine),
        torn: flight.torn,
        names_programs: true,
    }
}

/// A recording has no processes, and the time since boot alone: its end is taken for the time of the file.
fn of_recording(path: &Path) -> Result<Input> {
    let file = trace::open_unpacked(path).with_context(|| shown(path).to_string())?;
    let mut reader = kernfs::samples::Reader::new(file);
    let mut samples = Vec::new();
    for sample in &mut reader {
        samples.push(sample.with_context(|| shown(path).to_string())?);
    }
    let machine = samples.first().and_then(|first| first.machine.clone());
    let page_size = machine.as_ref().map(|machine| machine.page_size);
    let end_s = samples.last().map_or(0.0, |last| last.t);
    let changed = std::fs::metadata(path).and_then(|found| found.modified());
    let changed_s = changed
        .ok()
        .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let changed_s = changed_s.map_or(0.0, |since| since.as_secs_f64());
    let records = samples
        .into_iter()
        .enumerate()
        .map(|(number, sample)| Record {
            unix_s: changed_s - (end_s - sample.t),
            number: number as u64,
            whole: true,
            sample,
            ..Record::default()
        });
    Ok(Input {
        file: path.into(),
        records: records.collect(),
        page_size: page_size.unwrap_or(4096).max(1024),
        machine,
        torn: 0,
        names_programs: false,
    })
}
