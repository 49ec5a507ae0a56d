//! Any bytes as the journal: it is read, and what is written anew reads the same.
//!
//! A line's checksum is put right first, since few inputs would have a right one.
#![no_main]
use hotsetd::actuate::journal::Journal;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let path = format!("/dev/shm/hotset-fuzz-{}.journal", std::process::id());
    let path = std::path::Path::new(&path);
    let (right, lines) = match data.split_first() {
        Some((first, rest)) => (first & 1 == 1, rest),
        None => return,
    };
    let mut text = Vec::new();
    for line in lines.split(|&byte| byte == b'\n') {
        if right {
            let sum = random::fnv1a(line.iter().copied());
            text.extend_from_slice(format!("{sum:016x}\t").as_bytes());
        }
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    std::fs::write(path, &text).unwrap();
    let mut journal = Journal::open(path, "boot").unwrap();
    let before = journal.entries().to_vec();
    if let Some(&entry) = before.first() {
        // Fails where the entry is longer than a line may be. Then nothing has changed.
        if journal.intend(entry).is_ok() {
            let again = Journal::open(path, "boot").unwrap();
            assert!(again.complaints.is_empty(), "{:?}", again.complaints);
            assert_eq!(again.entries(), before);
        }
        assert_eq!(journal.entries(), before);
    }
});
