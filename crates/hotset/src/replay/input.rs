//! The samples of a recording, or of the flight recorder's file.
use crate::shell;
use anyhow::{anyhow, bail, Context, Result};
use flight::{Flight, ReadError};
use kernfs::samples::{Reader, Record};
use kernfs::Sample;
use names::shown;
use std::io::BufRead;
use std::path::Path;

/// Samples, one after another.
pub struct Samples {
    /// The file, for messages.
    pub name: String,
    from: Source,
}

enum Source {
    Recording(Box<Reader<Box<dyn BufRead>>>),
    Flight(std::vec::IntoIter<Record>),
}

impl Samples {
    /// # Errors
    /// The file cannot be read.
    pub fn open(path: &Path) -> Result<Samples> {
        let name = match path.as_os_str() == "-" {
            true => "standard input".to_owned(),
            false => shown(path).to_string(),
        };
        // A pipe can be read once.
        if path.is_file() {
            match flight::read(path) {
                Ok(flight) => return Ok(of_flight(name, flight)),
                // Another kind of file; one that cannot be read is told as such below.
                Err(ReadError::NoHeader | ReadError::Io(_)) => {}
                Err(error) => bail!("{name}: {error}"),
            }
        }
        let (input, packing) = trace::open_packed(path)?;
        shell::verbose(format!("{name}: {}, JSON Lines", packing.name()));
        Ok(Samples {
            name,
            from: Source::Recording(Box::new(Reader::new(input))),
        })
    }

    /// Fills the next sample. `None`: there are no more.
    ///
    /// # Errors
    /// The file is damaged before its end.
    pub fn next(&mut self, sample: &mut Sample) -> Result<Option<Record>> {
        let name = &self.name;
        match &mut self.from {
            Source::Recording(reader) => {
                let Some(record) = reader.next() else {
                    return Ok(None);
                };
                let record = record.with_context(|| name.clone())?;
                let restored = record.restore(sample).map_err(|error| anyhow!(error));
                restored.with_context(|| format!("{name}: line {}", reader.line()))?;
                Ok(Some(record))
            }
            // What the daemon wrote in a hurry may lack a part; the samples around it tell enough.
            Source::Flight(records) => Ok(records.find(|record| record.restore(sample).is_ok())),
        }
    }

    /// Whether the file ends within a sample.
    pub fn cut_off(&self) -> bool {
        match &self.from {
            Source::Recording(reader) => reader.cut_off(),
            Source::Flight(_) => false,
        }
    }
}

/// The whole records of the last boot: the clock of samples begins anew with each.
fn of_flight(name: String, flight: Flight) -> Samples {
    let all = flight.records.len();
    let boot = flight.records.last().map(|last| last.boot.clone());
    let mut records: Vec<Record> = { flight.records.into_iter() }
        .filter(|record| record.whole && Some(&record.boot) == boot.as_ref())
        .map(|record| record.sample)
        .collect();
    if let Some(first) = records.first_mut() {
        first.machine.get_or_insert(flight.header.machine);
    }
    shell::verbose(format!(
        "{name}: the flight recorder's; {} of {all} records are of the last boot, and whole",
        records.len()
    ));
    Samples {
        name,
        from: Source::Flight(records.into_iter()),
    }
}
