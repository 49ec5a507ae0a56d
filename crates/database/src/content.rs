//! The contents of a database: numbered records, each with a key that does not depend on the order
//! of the numbers.
use random::mix;

/// Bytes of a record, its key included: four to a page of 4 KiB.
pub const RECORD: usize = 1000;
/// Bytes of a key: an index of these is about a tenth of the records.
pub const KEY: usize = 80;

pub type Key = [u8; KEY];

/// The key of a record. Its first bytes distinguish it from all others, and order it.
pub fn key(number: u64) -> Key {
    let mut key = [0; KEY];
    fill(&mut key, mix(number));
    key
}

/// A record: its key, and incompressible bytes.
pub fn record(number: u64) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..KEY].copy_from_slice(&key(number));
    fill(&mut record[KEY..], !number);
    record
}

/// Fills `bytes` with a chain of 64-bit numbers that begins with `word`, most significant byte first.
fn fill(bytes: &mut [u8], mut word: u64) {
    for eight in bytes.chunks_mut(8) {
        eight.copy_from_slice(&word.to_be_bytes()[..eight.len()]);
        word = mix(word);
    }
}

/// The records that a seed looks up, one after the other, of `records`.
pub fn draws(seed: u64, records: u64) -> impl Iterator<Item = u64> {
    let from = mix(seed);
    // The high half of a product: all records with the same probability, to 2^-40.
    (0u64..).map(move |turn| {
        let word = mix(from.wrapping_add(turn));
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
        assert_eq!(key(7)[..8], mix(7).to_be_bytes());
        assert_eq!(record(7)[..KEY], key(7));
    }

    /// Results of different versions are comparable only while every byte stays the same.
    #[test]
    fn a_record_is_the_same_in_every_version() {
        assert_eq!(random::fnv1a(record(7)), 0xbfed_6d53_3804_27ee);
        assert_eq!(
            draws(5, 1000).take(3).collect::<Vec<u64>>(),
            [979, 880, 654]
        );
    }

    #[test]
    fn a_seed_draws_all_records_equally_often_and_the_same_each_time() {
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
