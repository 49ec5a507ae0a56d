//! Copies of records around an event, which later records do not overwrite.
use crate::flight::disk::read_slot;
use flight::slot::{seal, text, SEAL};
use flight::{Kept, Layout};
use std::os::fd::OwnedFd;

/// Events of each kind that are kept: half are kills, and half are stalls, so that many stalls cost no kill.
const EACH: u64 = flight::EVENTS / 2;
/// What is kept, by the word in the copies.
pub const KILL: &str = "kill";
pub const STALL: &str = "stall";

/// The number of a record, from its line.
pub fn number(line: &str) -> Option<u64> {
    number_behind(line, ",\"number\":")
}

fn number_behind(line: &str, name: &str) -> Option<u64> {
    let at = line.find(name)? + name.len();
    let rest = &line[at..];
    let end = rest.find(|letter: char| !letter.is_ascii_digit())?;
    rest[..end].parse().ok()
}

/// Says in a record's slot why it is kept. `false`: the slot holds no whole record, or has no room.
pub fn mark(slot: &mut [u8], kept: &Kept) -> bool {
    let Some(length) = text(slot).ok().map(|line| line.len() - (SEAL - 1)) else {
        return false;
    };
    let more = format!(
        ",\"kept\":{{\"why\":\"{}\",\"unix_s\":{:.3}}}",
        kept.why, kept.unix_s
    );
    if length + more.len() + SEAL > slot.len() {
        return false;
    }
    slot[length..length + more.len()].copy_from_slice(more.as_bytes());
    seal(slot, length + more.len());
    true
}

/// Where the next event of this kind is kept: where the oldest is. `None`: the file cannot be read.
pub fn place(file: &OwnedFd, layout: &Layout, why: &str, buffer: &mut [u8]) -> Option<u64> {
    let first = if why == KILL { EACH } else { 0 };
    let mut oldest = None;
    for which in first..first + EACH {
        read_slot(file, layout.of_kept(which, 0), buffer).ok()?;
        let line = text(buffer).unwrap_or_default();
        let kept = line.find(",\"kept\":").map_or("", |at| &line[at..]);
        let at_s = number_behind(kept, "\"unix_s\":").unwrap_or(0);
        if oldest.is_none_or(|(_, before)| at_s < before) {
            oldest = Some((which, at_s));
        }
    }
    oldest.map(|(which, _)| which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_why_it_is_kept() {
        let begin = b"{\"t\":1,\"number\":17,\"boot\":\"ab\"";
        let mut slot = vec![0; 256];
        slot[..begin.len()].copy_from_slice(begin);
        seal(&mut slot, begin.len());
        assert_eq!(number(text(&slot).unwrap()), Some(17));
        let kept = Kept {
            why: KILL.into(),
            unix_s: 1.5e9,
        };
        assert!(mark(&mut slot, &kept));
        let record: flight::Record = serde_json::from_str(text(&slot).unwrap()).unwrap();
        assert_eq!((record.number, record.kept), (17, Some(kept.clone())));
        // A second time: no room is left at some point, and the slot stays whole.
        while mark(&mut slot, &kept) {}
        assert!(text(&slot).is_ok());
    }
}
