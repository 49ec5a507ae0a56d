//! Splits a file into lines without copying them.
use super::source::Context;
use crate::{Error, Place};
use std::io::{ErrorKind, Read};

/// The longest line in bytes. A file with longer lines is no trace.
const LONGEST: usize = 1 << 16;

/// The error of a time that the output cannot hold.
pub(crate) const LATE: &str =
    "a time below 4294967296, the most that oracleGeneral holds (the time column is in seconds)";

pub(crate) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// Bytes from `start` on that hold no line's end. They are not searched again.
    searched: usize,
    /// The number of the line that was returned last.
    number: u64,
}

impl<R: Read> Lines<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; 4 * LONGEST],
            start: 0,
            end: 0,
            ended: false,
            searched: 0,
            number: 0,
        }
    }

    /// The place of the line that was returned last; the first line is 1.
    pub fn place(&self) -> Place {
        Place::Line(self.number)
    }

    /// The next line without its end and without blanks around it.
    pub fn next(&mut self, context: &mut Context) -> Result<Option<&[u8]>, Error> {
        loop {
            let rest = &self.buffer[self.start..self.end];
            let end = memchr::memchr(b'\n', &rest[self.searched..]).map(|at| at + self.searched);
            let length = end.unwrap_or(rest.len());
            // The length is checked before the line's end arrives, so that the sizes of reads have no effect.
            if length >= LONGEST {
                self.too_long(context)?;
            } else if end.is_some() {
                return Ok(Some(self.take(length, 1)));
            } else if !self.ended {
                self.searched = length;
                self.more(context)?;
            } else if length > 0 {
                return Ok(Some(self.take(length, 0)));
            } else {
                return Ok(None);
            }
        }
    }

    fn take(&mut self, length: usize, newline: usize) -> &[u8] {
        let line = self.start..self.start + length;
        self.start += length + newline;
        self.searched = 0;
        self.number += 1;
        self.buffer[line].trim_ascii()
    }

    fn more(&mut self, context: &mut Context) -> Result<(), Error> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(got) => {
                    self.end += got;
                    self.ended = got == 0;
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    context.end_early(self.place(), e)?;
                    // The rest may be the beginning of a longer line, such as 12 of 123.
                    (self.start, self.end, self.searched) = (0, 0, 0);
                    self.ended = true;
                    return Ok(());
                }
            }
        }
    }

    /// Reports a line that is too long, and skips to the next line.
    fn too_long(&mut self, context: &mut Context) -> Result<(), Error> {
        self.number += 1;
        self.searched = 0;
        let found = "a longer one; is it a binary format?".to_string();
        context.malformed(self.place(), "a line of less than 64 KiB", found)?;
        loop {
            let rest = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memchr(b'\n', rest) {
                self.start += length + 1;
                return Ok(());
            }
            self.start = self.end;
            if self.ended {
                return Ok(());
            }
            self.more(context)?;
        }
    }
}

/// A decimal number, or a hexadecimal one after `0x`.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if let Some(digits) = text
        .strip_prefix(b"0x")
        .or_else(|| text.strip_prefix(b"0X"))
    {
        return hexadecimal(digits);
    }
    if text.is_empty() {
        return None;
    }
    // Nineteen digits always fit 64 bits.
    if text.len() <= 19 {
        let mut value = 0u64;
        for &byte in text {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        return Some(value);
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then_some(())?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A hexadecimal number of up to 16 digits after any zeros.
pub(crate) fn hexadecimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = (byte as char).to_digit(16)?;
        (value >> 60 == 0).then(|| value << 4 | u64::from(digit))
    })
}

/// A time in seconds: finite and not below zero.
pub(crate) fn seconds(text: &[u8]) -> Option<f64> {
    // Whole seconds are common, and exact below 2^53.
    if text.len() <= 15 && text.iter().all(u8::is_ascii_digit) {
        return number(text).map(|n| n as f64);
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}
