//! Plain text: one object on each line. Empty lines and lines that begin with `#` are skipped.
use super::lines::{number, Lines};
use super::source::{Batch, Context, Source};
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

    fn names(&self) -> u64 {
        self.keys.strings()
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

/// Keys of objects by name.
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

    /// The key of a name. None where names must be numbers and `name` is not one.
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

    /// The number of strings that have a key.
    pub fn strings(&self) -> u64 {
        self.strings.len() as u64
    }

    /// The key of a string. None where the string is not text, so that a binary file is an error.
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
