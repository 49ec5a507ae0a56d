//! The interface between formats and the reader: batches of requests, and counts of left-out requests.
use crate::{CutOff, Error, Flags, Place};
use std::io;
use std::path::PathBuf;

/// Requests, column by column. Each column is as long as `ids`, or empty where the format lacks the
/// column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Objects by their numbers in the file. Strings are numbered in order of first appearance.
    pub ids: Vec<u64>,
    pub flags: Vec<Flags>,
    /// Times in seconds, from the beginning of the file's own clock.
    pub times: Vec<f64>,
    /// Sizes in bytes.
    pub sizes: Vec<u32>,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.flags.clear();
        self.times.clear();
        self.sizes.clear();
    }

    pub(crate) fn truncate(&mut self, requests: usize) {
        self.ids.truncate(requests);
        self.flags.truncate(requests);
        self.times.truncate(requests);
        self.sizes.truncate(requests);
    }
}

/// The counts of requests that were left out of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Malformed lines or records.
    pub malformed: u64,
    /// The error of the first malformed line or record.
    pub first: Option<String>,
    /// The packed file was cut off. It counts as malformed, once.
    pub cut_off: bool,
    /// Writes that were left out because of an option.
    pub writes: u64,
}

/// The part of a reader that decodes one format.
pub(crate) trait Source: Send {
    /// Appends some requests to the empty `batch`. Returns false at the end.
    fn fill(&mut self, context: &mut Context, batch: &mut Batch) -> Result<bool, Error>;
    /// Does the format have [`Flags`]?
    fn has_flags(&self) -> bool;
    /// The number of objects so far whose names are strings.
    fn names(&self) -> u64 {
        0
    }
    /// What each named column is taken for, with its name or its number from 1.
    fn columns(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// A choice that was made without an option, and that its user may not have meant.
    fn doubt(&self) -> Option<String> {
        None
    }
}

/// The file that is read, and the handling of its malformed lines.
pub(crate) struct Context {
    pub file: PathBuf,
    pub skip_bad: bool,
    pub skipped: Skipped,
    /// The most requests to read at once. Lines behind a limit are not read, malformed or not.
    pub room: usize,
}

impl Context {
    /// Reports a malformed line: as an error, or by counting it where malformed lines are skipped.
    pub fn bad(&mut self, place: Place, expected: &str, found: &[u8]) -> Result<(), Error> {
        self.malformed(place, expected, quoted(found))
    }

    /// As [`Context::bad`], with a description of the found text.
    pub fn malformed(&mut self, place: Place, expected: &str, found: String) -> Result<(), Error> {
        let error = Error::Malformed {
            file: self.file.clone(),
            place,
            expected: expected.to_string(),
            found,
        };
        if !self.skip_bad {
            return Err(error);
        }
        self.skipped.malformed += 1;
        if self.skipped.first.is_none() {
            self.skipped.first = Some(error.to_string());
        }
        Ok(())
    }

    pub fn io(&self, cause: io::Error) -> Error {
        Error::Io {
            file: self.file.clone(),
            behind: None,
            cause,
        }
    }

    /// The error of a packed file that was cut off, before the reader has put the number of requests into it.
    pub fn cut_off(&self) -> Error {
        Error::CutOff {
            file: self.file.clone(),
            requests: 0,
        }
    }

    /// Takes the end of a packed file that was cut off for the end of the trace, where malformed lines are skipped.
    ///
    /// # Errors
    /// `cause` is another error, or malformed lines are not skipped.
    pub fn end_early(&mut self, behind: Place, cause: io::Error) -> Result<(), Error> {
        if !CutOff::is(&cause) {
            return Err(self.io_behind(behind, cause));
        }
        if !self.skip_bad {
            return Err(self.cut_off());
        }
        // A source that reads on finds the same end again.
        if std::mem::replace(&mut self.skipped.cut_off, true) {
            return Ok(());
        }
        self.skipped.malformed += 1;
        if self.skipped.first.is_none() {
            self.skipped.first = Some(self.io_behind(behind, cause).to_string());
        }
        Ok(())
    }

    /// As [`Context::io`], with the last place that was read.
    pub fn io_behind(&self, place: Place, cause: io::Error) -> Error {
        let (Place::Line(number) | Place::Record(number)) = place;
        Error::Io {
            file: self.file.clone(),
            behind: (number > 0).then_some(place),
            cause,
        }
    }

    pub fn file(&self, problem: impl Into<String>) -> Error {
        Error::File {
            file: self.file.clone(),
            problem: problem.into(),
        }
    }
}

/// A malformed line as an error shows it: short, and without anything that a terminal acts upon.
fn quoted(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    let (shown, more) = match bytes.len() > LONGEST {
        true => (&bytes[..LONGEST], "..."),
        false => (bytes, ""),
    };
    match shown.is_empty() {
        true => "nothing".to_string(),
        false => format!("\"{}\"{more}", shown.escape_ascii()),
    }
}
