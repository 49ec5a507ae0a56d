//! Records, line by line, off a samples file.
use super::Record;
use serde_json::error::Category;
use std::fmt;
use std::io::{BufRead, ErrorKind, Read};

/// The longest line in bytes: a thousand times that of a large machine.
const LONGEST: u64 = 64 << 20;

/// An error in a samples file.
#[derive(Debug)]
pub struct ReadError {
    /// Counted from 1.
    pub line: u64,
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Reads records from lines. The caller decompresses a `.zst` file.
///
/// A recording may end anywhere: its program was killed, or its disk was full. The reader returns the records
/// before that place and then ends; [`Reader::cut_off`] tells. An input that finds itself cut off reports
/// [`ErrorKind::UnexpectedEof`].
pub struct Reader<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    last_t: f64,
    cut_off: bool,
    /// Nothing follows the line.
    over: bool,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
            last_t: f64::NEG_INFINITY,
            cut_off: false,
            over: false,
        }
    }

    /// Number of the line that was read last, counted from 1; 0 before the first.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.number
    }

    /// Whether the end that was found is not one that a whole file has.
    #[must_use]
    pub fn cut_off(&self) -> bool {
        self.cut_off
    }

    /// # Errors
    /// A line that is no record, time that runs backwards, or the input's own error.
    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            if self.over || !self.next_line()? {
                return Ok(None);
            }
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            let record: Record = match serde_json::from_slice(&self.line) {
                Ok(record) => record,
                // A beginning of a line that may still become a record.
                Err(why) if why.is_eof() && !self.line.ends_with(b"\n") => {
                    (self.cut_off, self.over) = (true, true);
                    return Ok(None);
                }
                Err(why) => return Err(self.error(not_a_record(&why))),
            };
            if !record.schema.is_empty() && record.schema != Record::SCHEMA {
                return Err(self.error(format!(
                    "the schema is {:?}; this program reads {:?}",
                    record.schema,
                    Record::SCHEMA
                )));
            }
            if record.t.is_nan() || record.t < self.last_t {
                return Err(self.error(format!(
                    "t is {} s, less than the {} s of the sample before; samples must be in order of time",
                    record.t, self.last_t
                )));
            }
            self.last_t = record.t;
            return Ok(Some(record));
        }
    }

    /// Reads a line, which lacks its end where the input ends. Returns false at the end.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        self.line.clear();
        self.number += 1;
        let mut input = (&mut self.input).take(LONGEST);
        match input.read_until(b'\n', &mut self.line) {
            Ok(got) if got as u64 == LONGEST => {
                Err(self.error("longer than 64 MiB; is it a recording?".to_owned()))
            }
            Ok(got) => Ok(got > 0),
            Err(why) if why.kind() == ErrorKind::UnexpectedEof => {
                (self.cut_off, self.over) = (true, true);
                // The line may be whole but for its end.
                Ok(!self.line.is_empty())
            }
            Err(why) => Err(self.error(why.to_string())),
        }
    }

    fn error(&self, message: String) -> ReadError {
        ReadError {
            line: self.number,
            message,
        }
    }
}

/// Says why a line is no record. The line number of the cause is always 1.
fn not_a_record(why: &serde_json::Error) -> String {
    let column = why.column();
    match why.classify() {
        Category::Data => format!(
            "a field is missing, or of another type than in a recording, before column {column}"
        ),
        // Nothing of the line is JSON.
        _ if column <= 1 => "not a JSON object".to_owned(),
        _ => format!("not a JSON object, from column {column} on"),
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, BufReader};

    const LINES: &str =
        "{\"t\":1.5,\"vmstat\":{\"pgfree\":12}}\n\n{\"schema\":\"hotset.record.1\",\"t\":2}\n\
        {\"t\":30,\"knobs\":{\"vm.swappiness\":-1}}\n";

    /// The times of the samples, whether the input was cut off, and the line of the error.
    fn read(input: impl BufRead) -> (Vec<f64>, bool, Option<u64>) {
        let mut reader = Reader::new(input);
        let mut times = Vec::new();
        while let Some(record) = reader.next() {
            match record {
                Ok(record) => times.push(record.t),
                Err(error) => return (times, reader.cut_off(), Some(error.line)),
            }
        }
        (times, reader.cut_off(), None)
    }

    #[test]
    fn a_plain_file_cut_anywhere_is_read_as_far_as_it_goes() {
        // Where each line's object ends.
        let ends: Vec<usize> = LINES.match_indices("}\n").map(|(at, _)| at + 1).collect();
        let whole = [1.5, 2.0, 30.0];
        for end in 0..=LINES.len() {
            let (times, cut_off, error) = read(&LINES.as_bytes()[..end]);
            let samples = ends.iter().filter(|at| **at <= end).count();
            assert_eq!(
                (times.as_slice(), error),
                (&whole[..samples], None),
                "{end}"
            );
            let between = |at: &usize| (*at..at + 2).contains(&end);
            let between = end == 0 || end == ends[0] + 2 || ends.iter().any(between);
            assert_eq!(cut_off, !between, "{end}");
        }
    }

    /// An input that ends with an error.
    struct Failing<'a>(&'a [u8], ErrorKind);

    impl Read for Failing<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer) {
                Ok(0) => Err(self.1.into()),
                got => got,
            }
        }
    }

    #[test]
    fn an_input_that_finds_itself_cut_off_is_read_as_far_as_it_goes() {
        for end in 0..=LINES.len() {
            let part = &LINES.as_bytes()[..end];
            let (times, _, _) = read(part);
            let cut = BufReader::new(Failing(part, ErrorKind::UnexpectedEof));
            assert_eq!(read(cut), (times.clone(), true, None), "{end}");
            let broken = BufReader::new(Failing(part, ErrorKind::InvalidData));
            let (before, cut_off, error) = read(broken);
            assert!(times.starts_with(&before) && !cut_off && error.is_some());
        }
    }

    #[test]
    fn garbage_is_no_cut_off() {
        for garbage in [
            "x",
            "{\"t\":1}}",
            "{\"t\":\"1\"}",
            "{}",
            "{\"t\":0.5}",
            "\0\0",
            "{\"t\" 5",
        ] {
            for end in ["", "\n", "\n{\"t\":9}\n"] {
                let found = read(format!("{{\"t\":1}}\n{garbage}{end}").as_bytes());
                assert_eq!(found, (vec![1.0], false, Some(2)), "{garbage:?}{end:?}");
            }
        }
        // A line that only begins well is cut off at the end of a file, and garbage within it.
        assert_eq!(read(&b"{\"t\":1}\n{\"t\""[..]), (vec![1.0], true, None));
        assert_eq!(
            read(&b"{\"t\":1}\n{\"t\"\n{\"t\":2}\n"[..]),
            (vec![1.0], false, Some(2))
        );
        let later = read(&b"{\"schema\":\"hotset.record.2\",\"t\":1}\n"[..]);
        assert_eq!(later, (vec![], false, Some(1)));
    }
}
