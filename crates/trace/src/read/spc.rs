//! SPC trace files (Storage Performance Council, "SPC Trace File Format Specification", revision
//! 1.0.1), as the UMass trace repository has them: unit, block address, bytes, R or W, seconds.
use super::lines::{number, seconds, Lines, LATE};
use super::source::{Batch, Context, Source};
use crate::{Error, Flags, ReadOptions, SpcOptions};
use std::io::Read;

/// The most pages of one request. A line with a larger request is damaged.
pub(crate) const MOST_PAGES: u64 = 1 << 16;

const EXPECTED: &str = "unit,block address,bytes,R or W,seconds";

pub(crate) struct Spc<R> {
    lines: Lines<R>,
    options: SpcOptions,
    page_shift: u32,
    /// Times from here on are refused.
    end: f64,
}

impl<R: Read> Spc<R> {
    pub fn new(input: R, options: &ReadOptions) -> Self {
        Self {
            lines: Lines::new(input),
            options: options.spc,
            page_shift: options.page_size.trailing_zeros(),
            end: options.end_of_times(),
        }
    }
}

struct Line {
    unit: u64,
    block: u64,
    bytes: u64,
    write: bool,
    seconds: f64,
}

fn parse(line: &[u8]) -> Option<Line> {
    let mut fields = line.split(|&b| b == b',').map(<[u8]>::trim_ascii);
    let mut next = || fields.next();
    Some(Line {
        unit: number(next()?)?,
        block: number(next()?)?,
        bytes: number(next()?)?,
        write: match next()? {
            b"R" | b"r" => false,
            b"W" | b"w" => true,
            _ => return None,
        },
        seconds: seconds(next()?)?,
    })
}

/// Is `line` a line of an SPC trace?
pub(crate) fn is_line(line: &[u8]) -> bool {
    parse(line).is_some()
}

impl<R: Read + Send> Source for Spc<R> {
    fn has_flags(&self) -> bool {
        true
    }

    fn fill(&mut self, context: &mut Context, batch: &mut Batch) -> Result<bool, Error> {
        while batch.ids.len() < context.room {
            let Some(text) = self.lines.next(context)? else {
                return Ok(!batch.ids.is_empty());
            };
            if text.is_empty() {
                continue;
            }
            let Some(line) = parse(text) else {
                let text = text.to_vec();
                context.bad(self.lines.place(), EXPECTED, &text)?;
                continue;
            };
            let Some((first, count)) = pages(&self.options, self.page_shift, &line) else {
                let text = text.to_vec();
                let expected =
                    "a unit below 65536, an address below 2^48 pages, at most 65536 pages";
                context.bad(self.lines.place(), expected, &text)?;
                continue;
            };
            if line.seconds >= self.end {
                let text = text.to_vec();
                context.bad(self.lines.place(), LATE, &text)?;
                continue;
            }
            if line.write && !self.options.writes {
                context.skipped.writes += 1;
                continue;
            }
            let flags = match line.write {
                true => Flags::WRITE,
                false => Flags::NONE,
            };
            let page = 1u64 << self.page_shift;
            for id in first..first + count {
                batch.ids.push(id);
                batch.flags.push(flags);
                batch.times.push(line.seconds);
                batch.sizes.push(match self.options.split {
                    true => page as u32,
                    false => line.bytes.min(u64::from(u32::MAX)) as u32,
                });
            }
        }
        Ok(true)
    }
}

/// The key of the first page, and the number of pages. None where the line exceeds the bounds.
fn pages(options: &SpcOptions, page_shift: u32, line: &Line) -> Option<(u64, u64)> {
    let start = line.block.checked_mul(u64::from(options.block_size))?;
    let last = start.checked_add(line.bytes.saturating_sub(1))?;
    let (first, last) = (start >> page_shift, last >> page_shift);
    if line.unit >= 1 << 16 || last >= 1 << 48 || last - first >= MOST_PAGES {
        return None;
    }
    let space = match options.unit_spaces {
        true => line.unit << 48,
        false => 0,
    };
    let count = match options.split {
        true => last - first + 1,
        false => 1,
    };
    Some((space | first, count))
}
