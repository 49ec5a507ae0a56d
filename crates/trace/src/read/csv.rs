//! Comma-separated values with named columns.
use super::columns::Columns;
use super::lines::{number, seconds, Lines, LATE};
use super::source::{Batch, Context, Source};
use super::spc::MOST_PAGES;
use super::text::Keys;
use crate::{CsvOptions, Error, Flags, ReadOptions};
use std::io::Read;

pub(crate) struct Csv<R> {
    lines: Lines<R>,
    options: CsvOptions,
    delimiter: u8,
    columns: Columns,
    /// The names in the first line; empty without a header.
    names: Vec<String>,
    keys: Keys,
    page_shift: u32,
    /// Times from here on are refused.
    end: f64,
    /// The begin and the end of each field of the current line.
    fields: Vec<(usize, usize)>,
}

impl<R: Read> Csv<R> {
    /// # Errors
    /// The first line does not name the columns.
    pub fn new(
        input: R,
        options: &ReadOptions,
        delimiter: u8,
        context: &mut Context,
    ) -> Result<Self, Error> {
        let mut csv = Csv {
            lines: Lines::new(input),
            options: options.csv.clone(),
            delimiter,
            columns: Columns::default(),
            names: Vec::new(),
            keys: Keys::new(options.names),
            page_shift: options.page_size.trailing_zeros(),
            end: options.end_of_times(),
            fields: Vec::new(),
        };
        if csv.options.addresses {
            csv.keys = Keys::new(crate::Names::Numbers);
        }
        if csv.options.header {
            let Some(line) = csv.lines.next(context)? else {
                return Err(context.file("empty: no trace"));
            };
            // A byte order mark is no part of the first column's name.
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            split(line, csv.delimiter, &mut csv.fields);
            for field in &csv.fields {
                let name = String::from_utf8_lossy(unquoted(&line[field.0..field.1]));
                csv.names.push(name.trim().to_lowercase());
            }
        }
        let found = Columns::find(&csv.options, &csv.names);
        csv.columns = found.map_err(|problem| context.file(problem))?;
        Ok(csv)
    }
}

/// The most frequent delimiter in the first line of `start`.
pub(crate) fn delimiter_of(start: &[u8]) -> u8 {
    let line = start
        .split(|&b| b == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let count = |delimiter| {
        let line = line.unwrap_or_default();
        line.iter().filter(|&&b| b == delimiter).count()
    };
    // Of equally frequent delimiters the last wins.
    [b';', b'\t', b',']
        .into_iter()
        .max_by_key(|&d| count(d))
        .unwrap_or(b',')
}

/// Finds the begin and the end of each field of a line. A delimiter between quotes does not count.
fn split(line: &[u8], delimiter: u8, fields: &mut Vec<(usize, usize)>) {
    fields.clear();
    let (mut start, mut within) = (0, false);
    // Fields are short: a search for the next delimiter costs more than a test of each byte.
    for (at, &byte) in line.iter().enumerate() {
        if byte == b'"' {
            within = !within;
        } else if byte == delimiter && !within {
            fields.push((start, at));
            start = at + 1;
        }
    }
    fields.push((start, line.len()));
}

/// A field without blanks and without one pair of quotes around it.
fn unquoted(field: &[u8]) -> &[u8] {
    let field = field.trim_ascii();
    let inner = field
        .strip_prefix(b"\"")
        .and_then(|f| f.strip_suffix(b"\""));
    inner.unwrap_or(field)
}

/// The fields of one request.
struct Row {
    /// The keys of the request: one, or one for each page that it covers.
    first: u64,
    last: u64,
    flags: Flags,
    time: f64,
    size: u32,
}

impl<R> Csv<R> {
    fn row(
        columns: &Columns,
        options: &CsvOptions,
        keys: &mut Keys,
        page_shift: u32,
        line: &[u8],
        fields: &[(usize, usize)],
    ) -> Result<Row, &'static str> {
        let field = |at: usize| fields.get(at).map(|f| unquoted(&line[f.0..f.1]));
        let name = field(columns.id).filter(|name| !name.is_empty());
        let name = name.ok_or("an object in the id column")?;
        let mut flags = Flags::NONE;
        if let Some(at) = columns.op {
            flags = flags | op(field(at)).ok_or("read or write in the op column")?;
        }
        if let Some(at) = columns.kind {
            flags = match field(at) {
                Some(b"anon") => flags | Flags::ANON,
                Some(b"file") => flags,
                _ => return Err("anon or file in the kind column"),
            };
        }
        if let Some(at) = columns.via {
            flags = match field(at) {
                Some(b"mapped") => flags | Flags::MAPPED,
                Some(b"exec") => flags | Flags::MAPPED | Flags::EXEC,
                Some(b"fd") => flags,
                _ => return Err("mapped, exec or fd in the via column"),
            };
        }
        let time = match columns.time {
            Some(at) => field(at)
                .and_then(seconds)
                .ok_or("seconds in the time column")?,
            None => 0.0,
        };
        let size = match columns.size {
            Some(at) => field(at)
                .and_then(number)
                .ok_or("bytes in the size column")?,
            None => 1,
        };
        // The key is parsed last, so that no name of a malformed line is stored.
        let key = keys.key(name).ok_or(Keys::EXPECTED)?;
        if !options.addresses {
            let size = u32::try_from(size).map_err(|_| "less than 4 GiB in the size column")?;
            return Ok(Row {
                first: key,
                last: key,
                flags,
                time,
                size,
            });
        }
        let last = key.checked_add(size.saturating_sub(1));
        let last = last.ok_or("an address below 2^64")? >> page_shift;
        let first = key >> page_shift;
        if last - first >= MOST_PAGES {
            return Err("at most 65536 pages");
        }
        Ok(Row {
            first,
            last,
            flags,
            time,
            size: 1 << page_shift,
        })
    }
}

fn op(text: Option<&[u8]>) -> Option<Flags> {
    let text = text?;
    let is = |names: &[&str]| {
        names
            .iter()
            .any(|w| text.eq_ignore_ascii_case(w.as_bytes()))
    };
    if is(&["r", "read", "get", "gets", "load"]) {
        Some(Flags::NONE)
    } else if is(&[
        "w", "write", "set", "put", "add", "replace", "store", "update",
    ]) {
        Some(Flags::WRITE)
    } else {
        None
    }
}

impl<R: Read + Send> Source for Csv<R> {
    fn has_flags(&self) -> bool {
        let columns = &self.columns;
        columns.op.is_some() || columns.kind.is_some() || columns.via.is_some()
    }

    fn names(&self) -> u64 {
        self.keys.strings()
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        self.columns.roles(&self.names)
    }

    fn doubt(&self) -> Option<String> {
        self.columns.doubt(&self.options, &self.names)
    }

    fn fill(&mut self, context: &mut Context, batch: &mut Batch) -> Result<bool, Error> {
        let has_flags = self.has_flags();
        let columns = self.columns;
        let has_size = columns.size.is_some() || self.options.addresses;
        while batch.ids.len() < context.room {
            let Some(line) = self.lines.next(context)? else {
                return Ok(!batch.ids.is_empty());
            };
            if line.is_empty() {
                continue;
            }
            split(line, self.delimiter, &mut self.fields);
            let row = Self::row(
                &columns,
                &self.options,
                &mut self.keys,
                self.page_shift,
                line,
                &self.fields,
            );
            let row = match row {
                Ok(row) if row.time < self.end => row,
                unfit => {
                    let expected = unfit.err().unwrap_or(LATE);
                    let line = line.to_vec();
                    context.bad(self.lines.place(), expected, &line)?;
                    continue;
                }
            };
            if row.flags.has(Flags::WRITE) && !self.options.writes {
                context.skipped.writes += 1;
                continue;
            }
            for key in row.first..=row.last {
                batch.ids.push(key);
                if has_flags {
                    batch.flags.push(row.flags);
                }
                if columns.time.is_some() {
                    batch.times.push(row.time);
                }
                if has_size {
                    batch.sizes.push(row.size);
                }
            }
        }
        Ok(true)
    }
}
