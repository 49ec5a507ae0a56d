//! What is in a database: numbered records, each with a key that says nothing of its number.

/// Bytes of a record, its key included: four to a page of 4 KiB.
pub const RECORD: usize = 1000;
/// Bytes of a key, so that the index is about a tenth of the records, as the seed's is.
pub const KEY: usize = 80;

pub type Key = [u8; KEY];

/// A number scrambled: another for each, and no order is left (the finalizer of splitmix64).
pub fn scramble(number: u64) -> u64 {
    let mut word = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The key of a record. Its first bytes tell it from all others, and order it.
pub fn key(number: u64) -> Key {
    let mut key = [0; KEY];
    words(&mut key, scramble(number));
    key
}

/// A record: its key, and what cannot be compressed.
pub fn record(number: u64) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..KEY].copy_from_slice(&key(number));
    words(&mut record[KEY..], !number);
    record
}

/// Fills `bytes` from a first word on, which is written as it is, most significant byte first.
fn words(bytes: &mut [u8], mut word: u64) {
    for eight in bytes.chunks_mut(8) {
        eight.copy_from_slice(&word.to_be_bytes()[..eight.len()]);
        word = scramble(word);
    }
}

/// The records that a seed looks up, one after the other, of `records`.
pub fn draws(seed: u64, records: u64) -> impl Iterator<Item = u64> {
    let from = scramble(seed);
    // The high half of a product: all records alike, to 2^-40 of them.
    (0u64..).map(move |turn| {
        let word = scramble(from.wrapping_add(turn));
        ((u128::from(word) * u128::from(records)) >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_differ_and_do_not_follow_the_numbers() {
        let keys: Vec<Key> = (0..10_000).map(key).collect();
        let distinct: BTreeSet<&Key> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        let rising = keys.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((4800..5200).contains(&rising), "{rising}");
        assert_eq!(key(7)[..8], scramble(7).to_be_bytes());
        assert_eq!(record(7)[..KEY], key(7));
    }

    #[test]
    fn all_records_are_drawn_alike_and_the_same_by_the_same_seed() {
        let drawn: Vec<u64> = draws(5, 100).take(100_000).collect();
        let again: Vec<u64> = draws(5, 100).take(100_000).collect();
        assert_eq!(drawn, again);
        assert_ne!(drawn[..50], draws(6, 100).take(50).collect::<Vec<u64>>());
        for number in 0..100 {
            let times = drawn.iter().filter(|one| **one == number).count();
            assert!((850..1150).contains(&times), "{number}: {times}");
        }
    }
}
