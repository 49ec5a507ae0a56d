//! Plain text: an object a line. Empty lines and lines that begin with `#` are left out.
use super::lines::{number, Lines};
use super::reader::{Context, Source};
use super::Batch;
use crate::{Error, Names, ReadOptions};
use std::collections::HashMap;
use std::io::Read;

pub(crate) struct Text<R> {
    lines: Lines<R>,
    keys: Keys,
}

impl<R: Read> Text<R> {
    pub fn new(input: R, options: &ReadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            keys: Keys::new(options.names),
        }
    }
}

impl<R: Read + Send> Source for Text<R> {
    fn has_flags(&self) -> bool {
        false
    }

    fn fill(&mut self, context: &mut Context, batch: &mut Batch) -> Result<bool, Error> {
        while batch.ids.len() < context.room {
            let Some(line) = self.lines.next(context)? else {
                return Ok(!batch.ids.is_empty());
            };
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            match self.keys.key(line) {
                Some(key) => batch.ids.push(key),
                None => {
                    let line = line.to_vec();
                    context.bad(self.lines.place(), Keys::EXPECTED, &line)?;
                }
            }
        }
        Ok(true)
    }
}

/// Names of objects to keys.
pub(crate) struct Keys {
    names: Names,
    strings: HashMap<Box<[u8]>, u64>,
}

impl Keys {
    pub const EXPECTED: &'static str =
        "the number of an object, or its name as text (--names strings)";

    pub fn new(names: Names) -> Keys {
        Keys {
            names,
            strings: HashMap::new(),
        }
    }

    /// None where a number is needed and `name` is none.
    #[inline]
    pub fn key(&mut self, name: &[u8]) -> Option<u64> {
        match self.names {
            Names::Numbers => number(name),
            Names::Strings => self.intern(name),
            Names::Auto => {
                self.names = match number(name) {
                    Some(_) => Names::Numbers,
                    None => Names::Strings,
                };
                self.key(name)
            }
        }
    }

    /// None where it is no text: a binary file has few line ends, and would be some strange names.
    fn intern(&mut self, name: &[u8]) -> Option<u64> {
        if let Some(&key) = self.strings.get(name) {
            return Some(key);
        }
        if name.iter().any(|&b| b < b' ' && b != b'\t') {
            return None;
        }
        let key = self.strings.len() as u64;
        self.strings.insert(name.into(), key);
        Some(key)
    }
}
