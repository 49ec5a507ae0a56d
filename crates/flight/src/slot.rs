//! One slot: a line of JSON that ends in its sum, then spaces, then the end of the line.
//!
//! ```text
//! {"schema":"hotset.record.1","t":12.5, ... ,"sum":"85944171f73967e8"}
//! ```
use std::fmt;

/// Bytes that [`seal`] needs behind the text: the sum, and the end of the line.
pub const SEAL: usize = BEFORE.len() + 16 + AFTER.len() + 1;
const BEFORE: &str = ",\"sum\":\"";
const AFTER: &str = "\"}";

/// Why a slot holds no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing was ever written to it.
    Empty,
    /// Its sum is not that of its text: it was being written, or something else is in it.
    Torn,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Damage::Empty => "nothing was written to it",
            Damage::Torn => "it is not whole",
        })
    }
}

/// Closes the object that begins at the slot's first byte. `length`: bytes of its text, without the closing brace.
///
/// # Panics
/// Where the slot has no room for [`SEAL`] more bytes.
pub fn seal(slot: &mut [u8], length: usize) {
    let sum = random::fnv1a(slot[..length].iter().copied());
    let mut at = length;
    let mut put = |bytes: &[u8]| {
        slot[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    put(BEFORE.as_bytes());
    let mut digits = [0; 16];
    for (place, digit) in digits.iter_mut().enumerate() {
        let nibble = (sum >> (60 - 4 * place)) & 15;
        *digit = b"0123456789abcdef"[nibble as usize];
    }
    put(&digits);
    put(AFTER.as_bytes());
    let last = slot.len() - 1;
    slot[at..last].fill(b' ');
    slot[last] = b'\n';
}

/// The line of JSON in a slot.
///
/// # Errors
/// The slot holds none, or not all of it.
pub fn text(slot: &[u8]) -> Result<&str, Damage> {
    if slot.iter().all(|byte| *byte == 0) {
        return Err(Damage::Empty);
    }
    let line = slot.strip_suffix(b"\n").ok_or(Damage::Torn)?;
    let line = line.trim_ascii_end();
    let length = line.len().checked_sub(SEAL - 1).ok_or(Damage::Torn)?;
    let (text, end) = line.split_at(length);
    let digits = end
        .strip_prefix(BEFORE.as_bytes())
        .and_then(|end| end.strip_suffix(AFTER.as_bytes()))
        .and_then(|digits| std::str::from_utf8(digits).ok())
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    match digits {
        Some(sum) if sum == random::fnv1a(text.iter().copied()) => {
            std::str::from_utf8(line).map_err(|_| Damage::Torn)
        }
        _ => Err(Damage::Torn),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sealed(text: &str, size: usize) -> Vec<u8> {
        let mut slot = vec![b'x'; size];
        slot[..text.len()].copy_from_slice(text.as_bytes());
        seal(&mut slot, text.len());
        slot
    }

    #[test]
    fn what_was_sealed_is_read_back() {
        let slot = sealed("{\"t\":1", 64);
        let line = text(&slot).unwrap();
        assert!(
            line.starts_with("{\"t\":1,\"sum\":\"") && line.ends_with("\"}"),
            "{line}"
        );
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["t"], 1);
        // The least room.
        let slot = sealed("{\"t\":1", 6 + SEAL);
        assert!(text(&slot).is_ok());
    }

    #[test]
    fn nothing_else_is() {
        assert_eq!(text(&[0; 4096]), Err(Damage::Empty));
        assert_eq!(text(b""), Err(Damage::Empty));
        assert_eq!(text(b"\n"), Err(Damage::Torn));
        assert_eq!(text(&[b' '; 64]), Err(Damage::Torn));
        assert_eq!(text(b"{\"sum\":\"0000000000000000\"}\n"), Err(Damage::Torn));
    }

    proptest! {
        /// Two writes meet in one slot, as when a machine stops in the middle of one.
        #[test]
        fn a_slot_of_two_records_is_torn(at in 1usize..511, one in "[a-z]{100,300}", other in "[A-Z]{100,300}") {
            let (one, other) = (sealed(&one, 512), sealed(&other, 512));
            let mut torn = one.clone();
            torn[at..].copy_from_slice(&other[at..]);
            let whole = torn == one || torn == other;
            prop_assert_eq!(text(&torn).is_ok(), whole);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = text(&bytes);
        }
    }
}
