//! Writes CSV with columns that [`crate::Reader`] finds by their names.
use crate::{Batch, Flags};
use std::io::Write as _;

pub(super) struct Columns {
    time: bool,
    size: bool,
    flags: bool,
}

impl Columns {
    pub fn of(batch: &Batch) -> Columns {
        Columns {
            time: !batch.times.is_empty(),
            size: !batch.sizes.is_empty(),
            flags: !batch.flags.is_empty(),
        }
    }

    pub fn header(&self, to: &mut Vec<u8>) {
        for (there, name) in [(self.time, "time,"), (true, "id"), (self.size, ",size")] {
            if there {
                to.extend_from_slice(name.as_bytes());
            }
        }
        if self.flags {
            to.extend_from_slice(b",op,kind,via");
        }
        to.push(b'\n');
    }

    pub fn rows(&self, batch: &Batch, to: &mut Vec<u8>) {
        for (at, id) in batch.ids.iter().enumerate() {
            // Writing to a Vec cannot fail.
            if self.time {
                let _ = write!(to, "{},", batch.times[at]);
            }
            let _ = write!(to, "{id}");
            if self.size {
                let _ = write!(to, ",{}", batch.sizes[at]);
            }
            if self.flags {
                to.extend_from_slice(flag_columns(batch.flags[at]).as_bytes());
            }
            to.push(b'\n');
        }
    }
}

/// The last three columns of a row.
fn flag_columns(flags: Flags) -> String {
    let choose = |flag, yes, no| if flags.has(flag) { yes } else { no };
    let op = choose(Flags::WRITE, "write", "read");
    let kind = choose(Flags::ANON, "anon", "file");
    let via = choose(Flags::EXEC, "exec", choose(Flags::MAPPED, "mapped", "fd"));
    format!(",{op},{kind},{via}")
}
