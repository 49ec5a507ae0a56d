//! `valgrind --tool=lackey --trace-mem=yes`: instruction fetches, loads, stores and modifications of
//! a process's memory.
//!
//! Every access is through a mapping. Instructions count as memory of a file. The trace does not
//! distinguish kinds of data. Data counts as anonymous memory, because most of it is heap and stack.
use super::lines::{hexadecimal, number, Lines};
use super::source::{Batch, Context, Source};
use crate::{Error, Flags, ReadOptions};
use std::io::Read;

const EXPECTED: &str = "I, L, S or M, then address,bytes";

/// The most bytes of one access. Vector and string instructions stay far below.
const MOST_BYTES: u64 = 1 << 16;

pub(crate) struct Lackey<R> {
    lines: Lines<R>,
    page_shift: u32,
}

impl<R: Read> Lackey<R> {
    pub fn new(input: R, options: &ReadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            page_shift: options.page_size.trailing_zeros(),
        }
    }
}

/// The kind of an access, its address, and its number of bytes.
fn parse(line: &[u8]) -> Option<(Flags, u64, u64)> {
    let (kind, rest) = line.split_first()?;
    let flags = match kind {
        b'I' => Flags::MAPPED | Flags::EXEC,
        b'L' => Flags::MAPPED | Flags::ANON,
        b'S' | b'M' => Flags::MAPPED | Flags::ANON | Flags::WRITE,
        _ => return None,
    };
    if !rest.first()?.is_ascii_whitespace() {
        return None;
    }
    let rest = rest.trim_ascii_start();
    let comma = rest.iter().position(|&b| b == b',')?;
    let address = hexadecimal(&rest[..comma])?;
    let bytes = number(&rest[comma + 1..])?;
    (bytes <= MOST_BYTES && address.checked_add(bytes).is_some()).then_some((flags, address, bytes))
}

/// Is `line` a line of lackey's output?
pub(crate) fn is_line(line: &[u8]) -> bool {
    parse(line.trim_ascii()).is_some()
}

impl<R: Read + Send> Source for Lackey<R> {
    fn has_flags(&self) -> bool {
        true
    }

    fn fill(&mut self, context: &mut Context, batch: &mut Batch) -> Result<bool, Error> {
        while batch.ids.len() < context.room {
            let Some(line) = self.lines.next(context)? else {
                return Ok(!batch.ids.is_empty());
            };
            // Valgrind's own messages begin with ==pid==, or with -- when it is verbose.
            if line.is_empty() || line.starts_with(b"==") || line.starts_with(b"--") {
                continue;
            }
            let Some((flags, address, bytes)) = parse(line) else {
                let line = line.to_vec();
                context.bad(self.lines.place(), EXPECTED, &line)?;
                continue;
            };
            let last = (address + bytes.saturating_sub(1)) >> self.page_shift;
            for page in address >> self.page_shift..=last {
                batch.ids.push(page);
                batch.flags.push(flags);
                batch.sizes.push(1 << self.page_shift);
            }
        }
        Ok(true)
    }
}
