//! Traces on disk: written, packed and read again, and the errors of damaged files.
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use trace::{open, Batch, Error, Flags, Format, Packing, ReadOptions, Reader, Writer};

fn write(path: &Path, format: Format, batches: &[Batch]) {
    let mut writer = Writer::create(
        path,
        format,
        Packing::of_name(path),
        4096,
        outfile::Rules::REPLACE,
    )
    .unwrap();
    for batch in batches {
        writer.put(batch).unwrap();
    }
    let written = writer.finish().unwrap();
    let requests: usize = batches.iter().map(|b| b.ids.len()).sum();
    assert_eq!(written.requests, requests as u64);
}

fn read(path: &Path) -> Batch {
    let mut reader = Reader::open(path, &ReadOptions::default()).unwrap();
    let (mut all, mut batch) = (Batch::default(), Batch::default());
    while reader.fill(&mut batch).unwrap() {
        all.ids.extend_from_slice(&batch.ids);
        all.flags.extend_from_slice(&batch.flags);
        all.times.extend_from_slice(&batch.times);
        all.sizes.extend_from_slice(&batch.sizes);
    }
    all
}

fn batch(ids: Vec<u64>) -> Batch {
    let n = ids.len() as u32;
    let kinds = [
        Flags::NONE,
        Flags::WRITE,
        Flags::MAPPED | Flags::ANON,
        Flags::MAPPED | Flags::EXEC,
        Flags::WRITE | Flags::ANON | Flags::MAPPED,
    ];
    Batch {
        flags: (0..ids.len()).map(|at| kinds[at % kinds.len()]).collect(),
        times: (0..n).map(f64::from).collect(),
        sizes: (0..n).map(|at| at * 512).collect(),
        ids,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn written_requests_are_read_again(
        ids in proptest::collection::vec(prop_oneof![any::<u64>(), 0u64..9], 1..300),
        split in 0usize..300,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let whole = batch(ids.clone());
        let parts = [batch(ids[..split.min(ids.len())].to_vec()), batch(ids[split.min(ids.len())..].to_vec())];
        for packing in ["", ".gz", ".zst"] {
            let path = dir.path().join(format!("a.csv{packing}"));
            write(&path, Format::Csv, std::slice::from_ref(&whole));
            prop_assert_eq!(&read(&path), &whole);
            let path = dir.path().join(format!("a.txt{packing}"));
            write(&path, Format::Text, &parts);
            prop_assert_eq!(&read(&path).ids, &ids);
            let path = dir.path().join(format!("a.oracleGeneral.bin{packing}"));
            write(&path, Format::OracleGeneral, std::slice::from_ref(&whole));
            let again = read(&path);
            prop_assert_eq!(&again.ids, &ids);
            prop_assert_eq!(&again.times, &whole.times);
            prop_assert_eq!(&again.sizes, &whole.sizes);
        }
        let bytes = fs::read(dir.path().join("a.oracleGeneral.bin")).unwrap();
        for (at, record) in bytes.chunks(24).enumerate() {
            let next = i64::from_le_bytes(record[16..].try_into().unwrap());
            let later = ids[at + 1..].iter().position(|&id| id == ids[at]);
            prop_assert_eq!(next, later.map_or(-1, |gap| (at + gap + 2) as i64));
        }
        let leftover = fs::read_dir(dir.path()).unwrap().count();
        prop_assert_eq!(leftover, 9);
    }
}

#[test]
fn columns_that_the_requests_lack_are_filled_in() {
    let dir = tempfile::tempdir().unwrap();
    let only_ids = Batch {
        ids: vec![5, 6, 5],
        ..Batch::default()
    };
    let path = dir.path().join("a.bin");
    write(
        &path,
        Format::OracleGeneral,
        std::slice::from_ref(&only_ids),
    );
    let again = read(&path);
    assert_eq!((again.times, again.sizes), (vec![0.0; 3], vec![4096; 3]));
    let path = dir.path().join("a.csv");
    write(&path, Format::Csv, &[only_ids]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "id\n5\n6\n5\n");
}

#[test]
fn a_time_that_oraclegeneral_cannot_hold_is_refused_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.bin");
    let rules = outfile::Rules::REPLACE;
    let mut writer =
        Writer::create(&path, Format::OracleGeneral, Packing::Plain, 4096, rules).unwrap();
    let at = |time| Batch {
        ids: vec![1, 2],
        times: vec![0.0, time],
        ..Batch::default()
    };
    writer.put(&at(4_294_967_295.9)).unwrap();
    let message = writer.put(&at(4_294_967_296.0)).unwrap_err().to_string();
    assert!(message.contains("a.bin: request 4: "), "{message}");
}

#[test]
fn large_packed_traces_are_many_frames() {
    let dir = tempfile::tempdir().unwrap();
    let ids: Vec<u64> = (0..400_000u64).map(|n| n * n % 65_537).collect();
    let batches: Vec<Batch> = ids
        .chunks(10_000)
        .map(|c| Batch {
            ids: c.to_vec(),
            ..Batch::default()
        })
        .collect();
    for name in ["a.txt.zst", "a.txt.gz"] {
        let path = dir.path().join(name);
        write(&path, Format::Text, &batches);
        let packed = fs::read(&path).unwrap();
        assert!(packed.len() < 1_500_000, "{name}: {}", packed.len());
        let trace = open(&path, &ReadOptions::default()).unwrap();
        assert_eq!((trace.len(), trace.name.as_str()), (400_000, name));
        // A cut-off file is an error that names the file, never a shorter trace.
        for cut in [packed.len() - 1, packed.len() / 2, 12] {
            fs::write(&path, &packed[..cut]).unwrap();
            let message = open(&path, &ReadOptions::default())
                .unwrap_err()
                .to_string();
            assert!(
                message.starts_with(&path.display().to_string()),
                "{message}"
            );
        }
    }
}

#[test]
fn objects_are_renumbered_in_order_of_first_appearance() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("web.lackey");
    fs::write(&path, "I  9000,1\n S 1000,1\n L 9000,1\nbad\n L 5000,1\n").unwrap();
    let options = ReadOptions {
        skip_bad: true,
        flags: true,
        ..ReadOptions::default()
    };
    let trace = open(&path, &options).unwrap();
    assert_eq!((trace.ids, trace.objects), (vec![0, 1, 0, 2], 3));
    let flags = trace.flags.unwrap();
    assert_eq!(flags.len(), 4);
    assert!(flags[0].has(Flags::EXEC) && flags[1].has(Flags::WRITE));
    assert_eq!(trace.skipped.malformed, 1);
    assert!(trace.skipped.first.unwrap().contains("line 4"));
    let limited = ReadOptions {
        limit: Some(2),
        ..ReadOptions::default()
    };
    let trace = open(&path, &limited).unwrap();
    assert_eq!((trace.len(), trace.flags), (2, None));
}

#[test]
fn sizes_are_kept_where_they_are_asked_for_and_the_format_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let sized = ReadOptions {
        sizes: true,
        ..ReadOptions::default()
    };
    let csv = dir.path().join("t.csv");
    fs::write(&csv, "key,size\na,1000\nb,3\na,1001\n").unwrap();
    let trace = open(&csv, &sized).unwrap();
    assert_eq!(trace.ids, [0, 1, 0]);
    assert_eq!(trace.sizes, Some(vec![1000, 3, 1001]));
    assert_eq!(open(&csv, &ReadOptions::default()).unwrap().sizes, None);
    let text = dir.path().join("t.txt");
    fs::write(&text, "1\n2\n").unwrap();
    assert_eq!(open(&text, &sized).unwrap().sizes, None);
}

fn fails(path: &Path, options: &ReadOptions) -> String {
    let message = open(path, options).unwrap_err().to_string();
    assert!(
        message.starts_with(&path.display().to_string()),
        "{message}"
    );
    message
}

#[test]
fn errors_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let usual = ReadOptions::default();
    let make = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    assert!(fails(&dir.path().join("none.csv"), &usual).contains("No such file"));
    assert!(fails(dir.path(), &usual).contains("a folder"));
    assert!(fails(&make("x", b""), &usual).contains("empty"));
    for name in ["x.bin", "x.txt", "x.spc", "x.lackey"] {
        assert!(
            fails(&make(name, b""), &usual).contains("no request"),
            "{name}"
        );
    }
    assert!(fails(&make("x.csv", b"id\n"), &usual).contains("no request in the file, read as csv"));
    assert!(fails(&make("x.zst", &[0x28, 0xb5, 0x2f, 0xfd, 9]), &usual).contains("truncated"));
    let dropped = ReadOptions {
        spc: trace::SpcOptions {
            writes: false,
            ..Default::default()
        },
        ..usual
    };
    let message = fails(&make("w.spc", b"0,1,1,W,1\n"), &dropped);
    assert!(message.contains("all 1 were left out"), "{message}");
}

#[test]
fn a_trace_that_is_not_finished_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "1\n").unwrap();
    let mut writer = Writer::create(
        &path,
        Format::Text,
        Packing::Plain,
        1,
        outfile::Rules::REPLACE,
    )
    .unwrap();
    writer.put(&batch(vec![7])).unwrap();
    drop(writer);
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let missing = dir.path().join("no/a.txt");
    let made = Writer::create(
        &missing,
        Format::Text,
        Packing::Plain,
        1,
        outfile::Rules::REPLACE,
    );
    let message = made.err().map(|e| e.to_string()).unwrap();
    assert!(message.contains("no/a.txt"), "{message}");
    let made = Writer::create(
        &path,
        Format::Spc,
        Packing::Plain,
        1,
        outfile::Rules::REPLACE,
    );
    let message = made.err().map(|e| e.to_string()).unwrap();
    assert!(
        message.contains("a.txt: ") && message.contains("512"),
        "{message}"
    );
}

#[test]
fn spc_and_lackey_are_read_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    // Units 0, 3 and the last one, and pages up to the last.
    let ids = vec![0, 7, 3 << 48 | 9, 0xffff << 48 | ((1 << 36) - 1), 7];
    let path = dir.path().join("a.spc.gz");
    let mut whole = batch(ids.clone());
    write(&path, Format::Spc, std::slice::from_ref(&whole));
    let again = read(&path);
    assert_eq!((&again.ids, &again.times), (&ids, &whole.times));
    for (ours, theirs) in whole.flags.iter().zip(&again.flags) {
        assert_eq!(ours.has(Flags::WRITE), theirs.has(Flags::WRITE));
    }
    whole.ids = vec![0, 7, 9, (1 << 52) - 1, 7];
    let path = dir.path().join("a.lackey.zst");
    write(&path, Format::Lackey, std::slice::from_ref(&whole));
    let again = read(&path);
    assert_eq!(again.ids, whole.ids);
    for (ours, theirs) in whole.flags.iter().zip(&again.flags) {
        assert_eq!(ours.has(Flags::EXEC), theirs.has(Flags::EXEC));
    }
    let mut writer = Writer::create(
        &path,
        Format::Lackey,
        Packing::Plain,
        4096,
        outfile::Rules::REPLACE,
    )
    .unwrap();
    let far = batch(vec![1 << 52]);
    let message = writer.put(&far).err().map(|e| e.to_string()).unwrap();
    assert!(message.contains("page 4503599627370496"), "{message}");
}

#[test]
fn a_cut_off_packed_file_is_an_error_or_read_as_far_as_it_goes() {
    let dir = tempfile::tempdir().unwrap();
    // So many requests that the first ones are read before the missing end is noticed.
    let ids: Vec<u64> = (0..200_000).map(|n: u64| n.wrapping_mul(n) >> 3).collect();
    for (name, place) in [
        ("a.txt.zst", "line "),
        ("a.txt.gz", "line "),
        ("a.bin.zst", "record "),
        ("a.bin.gz", "record "),
    ] {
        let path = dir.path().join(name);
        let format = Format::of_name(&path).unwrap();
        write(&path, format, &[batch(ids.clone())]);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() * 3 / 4]).unwrap();
        let skip_bad = ReadOptions {
            skip_bad: true,
            ..ReadOptions::default()
        };
        let trace = open(&path, &skip_bad).unwrap();
        assert!(trace.len() > 100_000 && trace.len() < 200_000, "{name}");
        assert!(trace.skipped.cut_off && trace.skipped.malformed == 1);
        let first = trace.skipped.first.unwrap();
        let place = format!("{place}{}", trace.ids.len());
        assert!(first.contains(name) && first.contains(&place), "{first}");
        let error = open(&path, &ReadOptions::default()).unwrap_err();
        let message = error.to_string();
        let requests = trace.ids.len().to_string();
        for word in [name, &requests, "--skip-bad"] {
            assert!(message.contains(word), "{message}");
        }
        // A printed chain of causes must not repeat the message.
        assert!(std::error::Error::source(&error).is_none());
        // One changed bit, which may unpack to other numbers.
        let mut damaged = whole.clone();
        damaged[whole.len() / 2] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        for options in [ReadOptions::default(), skip_bad] {
            let error = open(&path, &options).unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn bytes_that_are_not_text_are_no_object_names() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, b"one\ntwo\nth\x00ree\n\x1b[31mfour\nfi\tve\n").unwrap();
    let message = open(&path, &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("line 3") && message.contains(r"th\x00ree"),
        "{message}"
    );
    let options = ReadOptions {
        skip_bad: true,
        ..ReadOptions::default()
    };
    let trace = open(&path, &options).unwrap();
    assert_eq!((trace.len(), trace.skipped.malformed), (3, 2));
    // The error must not pass control characters of a binary file to a terminal.
    let path = dir.path().join("a.csv");
    fs::write(&path, b"\x1b[31mred,\x07bell\n1,2\n").unwrap();
    let message = open(&path, &ReadOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("--id-column") && !message.contains(|c: char| c.is_control()),
        "{message}"
    );
}
