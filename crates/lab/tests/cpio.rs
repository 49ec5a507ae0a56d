//! The archive writer, read back by a reader of its own and by cpio(1).
use lab::guest::cpio::Archive;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

fn archive() -> Vec<u8> {
    let mut archive = Archive::new();
    archive.directory("dev");
    archive.device("dev/console", 0o600, (5, 1));
    archive.file("init", 0o755, b"seven b");
    archive.file("empty", 0o644, b"");
    archive.file("a-name-of-another-length", 0o644, &[0xff; 4097]);
    archive.finish()
}

struct Entry {
    mode: u32,
    device: (u32, u32),
    contents: Vec<u8>,
}

/// Reads "newc", strictly.
fn read(bytes: &[u8]) -> BTreeMap<String, Entry> {
    let mut entries = BTreeMap::new();
    let mut at = 0;
    loop {
        assert_eq!(&bytes[at..at + 6], b"070701", "at {at}");
        let field = |n: usize| {
            let text = &bytes[at + 6 + 8 * n..at + 14 + 8 * n];
            u32::from_str_radix(std::str::from_utf8(text).unwrap(), 16).unwrap()
        };
        let (mode, size, name_size) = (field(1), field(6) as usize, field(11) as usize);
        let name = &bytes[at + 110..at + 110 + name_size - 1];
        assert_eq!(bytes[at + 110 + name_size - 1], 0);
        let begin = (at + 110 + name_size).next_multiple_of(4);
        let name = String::from_utf8(name.to_vec()).unwrap();
        let device = (field(9), field(10));
        if name == "TRAILER!!!" {
            assert_eq!(begin + size, bytes.len(), "nothing after the trailer");
            return entries;
        }
        let contents = bytes[begin..begin + size].to_vec();
        entries.insert(
            name,
            Entry {
                mode,
                device,
                contents,
            },
        );
        at = (begin + size).next_multiple_of(4);
    }
}

#[test]
fn an_archive_is_read_back_as_it_was_written() {
    let entries = read(&archive());
    assert_eq!(entries.len(), 5);
    assert_eq!(entries["dev"].mode, 0o40755);
    assert_eq!(
        (entries["dev/console"].mode, entries["dev/console"].device),
        (0o20600, (5, 1))
    );
    assert_eq!(
        (entries["init"].mode, &entries["init"].contents[..]),
        (0o100755, &b"seven b"[..])
    );
    assert_eq!(entries["empty"].contents, b"");
    assert_eq!(entries["a-name-of-another-length"].contents, [0xff; 4097]);
    assert_eq!(
        archive(),
        archive(),
        "the same contents give the same bytes"
    );
}

#[test]
fn cpio_lists_the_names_of_an_archive() {
    let mut child = Command::new("cpio")
        .args(["-t", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test needs cpio(1): install Debian's package cpio");
    child.stdin.take().unwrap().write_all(&archive()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let names = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        names,
        "dev\ndev/console\ninit\nempty\na-name-of-another-length\n"
    );
}
