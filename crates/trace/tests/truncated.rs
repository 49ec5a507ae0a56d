//! Packed files that were cut off or damaged, at every offset.
use flate2::{write::GzEncoder, Compression};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use trace::{open_unpacked, Batch, CutOff, Error, Format, ReadOptions, Reader, ZstdWriter};

/// Frames and members hold whole lines, and whole records: a file that ends between two of them is whole.
const FRAME: usize = 480;

fn lines() -> Vec<u8> {
    let line = |n| format!("{:011}\n", n * n * 7919).into_bytes();
    (0..120u64).flat_map(line).collect()
}

fn zst(plain: &[u8]) -> Vec<u8> {
    let mut writer = ZstdWriter::new(Vec::new());
    for frame in plain.chunks(FRAME) {
        for part in frame.chunks(100) {
            writer.write(part).unwrap();
            writer.flush().unwrap();
        }
        writer.finish().unwrap();
    }
    writer.into_inner()
}

fn gz(plain: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    for member in plain.chunks(FRAME) {
        let mut writer = GzEncoder::new(packed, Compression::default());
        for part in member.chunks(100) {
            writer.write_all(part).unwrap();
            writer.flush().unwrap();
        }
        packed = writer.finish().unwrap();
    }
    packed
}

/// The plain bytes that were read, and how reading ended.
fn read(path: &std::path::Path) -> (Vec<u8>, std::io::Result<usize>) {
    let mut plain = Vec::new();
    let end = match open_unpacked(path) {
        Ok(mut input) => input.read_to_end(&mut plain),
        Err(Error::Io { cause, .. }) => Err(cause),
        Err(error) => panic!("{error}"),
    };
    (plain, end)
}

#[test]
fn a_file_cut_at_any_offset_is_read_up_to_the_last_flush() {
    let dir = tempfile::tempdir().unwrap();
    let plain = lines();
    for (name, packed) in [("a.zst", zst(&plain)), ("a.gz", gz(&plain))] {
        let path = dir.path().join(name);
        let mut most = 0;
        for end in 0..=packed.len() {
            fs::write(&path, &packed[..end]).unwrap();
            let (found, how) = read(&path);
            assert!(plain.starts_with(&found), "{name} {end}");
            assert!(
                found.len() >= most,
                "{name} {end}: less than of a shorter file"
            );
            most = found.len();
            match how {
                // Between two frames or members nothing is missing.
                Ok(_) => assert!(most % FRAME == 0, "{name} {end}"),
                Err(error) => assert!(CutOff::is(&error), "{name} {end}: {error}"),
            }
        }
        assert_eq!(most, plain.len());
        // The last bytes are the checksum, so all of the contents were there before.
        fs::write(&path, &packed[..packed.len() - 4]).unwrap();
        assert_eq!(read(&path).0, plain, "{name}");
    }
}

#[test]
fn damage_is_no_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let plain = lines();
    for (name, packed) in [("a.zst", zst(&plain)), ("a.gz", gz(&plain))] {
        let path = dir.path().join(name);
        let mut damaged = 0;
        for at in 0..packed.len() {
            let mut bytes = packed.clone();
            bytes[at] ^= 0x10;
            fs::write(&path, &bytes).unwrap();
            let (found, how) = read(&path);
            match how {
                // Headers have bits that mean nothing for the contents; a lost magic number is plain text.
                Ok(_) => assert!(found == plain || at < 4, "{name} {at}"),
                Err(error) if CutOff::is(&error) => {}
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::InvalidData, "{name} {at}");
                    assert!(error.to_string().contains(&name[1..]), "{name} {at}");
                    damaged += 1;
                }
            }
        }
        assert!(damaged > packed.len() / 2, "{name}: {damaged}");
    }
}

#[test]
fn other_packings_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    for (bytes, name) in [
        (&b"\xfd7zXZ\0\0\x04\xe6\xd6"[..], ".xz"),
        (b"BZh91AY&SY\x1f", ".bz2"),
        (b"\x04\x22\x4d\x18abcdefg", ".lz4"),
    ] {
        fs::write(&path, bytes).unwrap();
        let (_, end) = read(&path);
        assert!(end.unwrap_err().to_string().contains(name));
    }
    // Nor is a word taken for one.
    fs::write(&path, b"BZh9\n").unwrap();
    assert_eq!(read(&path).0, b"BZh9\n");
}

fn requests(path: &std::path::Path, skip_bad: bool) -> (Vec<u64>, u64, Option<Error>) {
    let options = ReadOptions {
        skip_bad,
        ..ReadOptions::default()
    };
    let mut ids = Vec::new();
    let mut reader = match Reader::open(path, &options) {
        Ok(reader) => reader,
        Err(error) => return (ids, 0, Some(error)),
    };
    let mut batch = Batch::default();
    loop {
        match reader.fill(&mut batch) {
            Ok(true) => ids.extend_from_slice(&batch.ids),
            Ok(false) => break,
            Err(error) => return (ids, 0, Some(error)),
        }
    }
    assert_eq!(reader.skipped().cut_off, reader.skipped().malformed == 1);
    (ids, reader.skipped().malformed, None)
}

#[test]
fn a_cut_off_trace_names_its_requests_and_skip_bad_reads_them() {
    let dir = tempfile::tempdir().unwrap();
    let text = lines();
    let whole: Vec<u64> = (0..120).map(|n| n * n * 7919).collect();
    let oracle: Vec<u8> = whole
        .iter()
        .flat_map(|id| {
            let record = [&[0; 4][..], &id.to_le_bytes(), &[1, 0, 0, 0], &[0xff; 8]];
            record.concat()
        })
        .collect();
    assert_eq!(
        Format::of_name("a.bin".as_ref()),
        Some(Format::OracleGeneral)
    );
    for (name, packed) in [
        ("a.txt.zst", zst(&text)),
        ("a.txt.gz", gz(&text)),
        ("a.bin.zst", zst(&oracle)),
        ("a.bin.gz", gz(&oracle)),
    ] {
        let path = dir.path().join(name);
        let mut counts = Vec::new();
        for end in 10..packed.len() {
            fs::write(&path, &packed[..end]).unwrap();
            let (read, malformed, error) = requests(&path, true);
            assert!(error.is_none(), "{name} {end}: {error:?}");
            assert!(whole.starts_with(&read), "{name} {end}");
            if malformed == 0 {
                continue;
            }
            let Some(Error::CutOff { file, requests, .. }) = requests(&path, false).2 else {
                panic!("{name} {end}: no error");
            };
            assert_eq!((file, requests), (path.clone(), read.len() as u64), "{end}");
            counts.push(read.len());
        }
        assert!(counts.is_sorted() && counts[0] == 0 && *counts.last().unwrap() >= 119);
    }
}
