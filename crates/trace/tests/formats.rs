//! Reads each format: its requests, and the errors of malformed lines.
use std::io::Cursor;
use std::path::Path;
use trace::{
    Batch, CsvOptions, Error, Flags, Format, Names, ReadOptions, Reader, Skipped, SpcOptions,
};

#[derive(Debug, Default, PartialEq)]
struct All {
    ids: Vec<u64>,
    flags: Vec<Flags>,
    times: Vec<f64>,
    sizes: Vec<u32>,
    skipped: Skipped,
}

fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<All, Error> {
    let input = Cursor::new(bytes.to_vec());
    let mut reader = Reader::new(Path::new(name), input, Some(bytes.len() as u64), options)?;
    let (mut all, mut batch) = (All::default(), Batch::default());
    while reader.fill(&mut batch)? {
        all.ids.extend_from_slice(&batch.ids);
        all.flags.extend_from_slice(&batch.flags);
        all.times.extend_from_slice(&batch.times);
        all.sizes.extend_from_slice(&batch.sizes);
    }
    all.skipped = reader.skipped().clone();
    Ok(all)
}

fn good(name: &str, bytes: &[u8]) -> All {
    read(name, bytes, &ReadOptions::default()).unwrap()
}

/// Returns the error. Asserts that with `skip_bad` only the ids `left` remain, and one error is counted.
fn bad(name: &str, bytes: &[u8], options: &ReadOptions, left: &[u64]) -> String {
    let message = read(name, bytes, options).unwrap_err().to_string();
    let lenient = ReadOptions {
        skip_bad: true,
        ..options.clone()
    };
    let rest = read(name, bytes, &lenient).unwrap();
    assert_eq!(rest.ids, left, "{message}");
    assert_eq!(rest.skipped.malformed, 1);
    assert_eq!(rest.skipped.first.as_deref(), Some(message.as_str()));
    message
}

fn record(time: u32, id: u64, size: u32, next: i64) -> Vec<u8> {
    let mut bytes = time.to_le_bytes().to_vec();
    bytes.extend_from_slice(&id.to_le_bytes());
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&next.to_le_bytes());
    bytes
}

#[test]
fn oracle_general() {
    let name = "x.oracleGeneral.bin";
    let bytes = [
        record(3, 7, 4096, 3),
        record(4, u64::MAX, 1, -1),
        record(5, 7, 4096, -2),
    ]
    .concat();
    let all = good(name, &bytes);
    assert_eq!(all.ids, [7, u64::MAX, 7]);
    assert_eq!(all.times, [3.0, 4.0, 5.0]);
    assert_eq!(all.sizes, [4096, 1, 4096]);
    assert!(all.flags.is_empty());
    let options = ReadOptions::default();
    let message = bad(name, &bytes[..71], &options, &[7, u64::MAX]);
    assert_eq!(
        message,
        "x.oracleGeneral.bin, record 3: expected 24 bytes, found 23 bytes; the file is cut off or in \
         another format"
    );
    let wrong = [
        record(3, 7, 4096, 3),
        record(4, 8, 1, -3),
        record(5, 7, 4096, -1),
    ]
    .concat();
    let message = bad(name, &wrong, &options, &[7, 7]);
    assert!(
        message.contains("record 2: expected a next access of -1"),
        "{message}"
    );
}

#[test]
fn an_oracle_general_trace_of_many_buffers() {
    let records = (0..20_000u32).flat_map(|n| record(n, u64::from(n % 77), 1, -1));
    let mut bytes: Vec<u8> = records.collect();
    bytes[24 * 15_000 + 23] = 0x80;
    let options = ReadOptions::default();
    let message = read("a.bin", &bytes, &options).unwrap_err().to_string();
    assert!(message.contains("record 15001:"), "{message}");
    bytes[24 * 15_000 + 23] = 0xff;
    let all = good("a.bin", &bytes);
    assert!(all.ids.iter().zip(0..).all(|(&id, n)| id == n % 77) && all.ids.len() == 20_000);
    let some = ReadOptions {
        limit: Some(10_001),
        ..options
    };
    assert_eq!(read("a.bin", &bytes, &some).unwrap().ids.len(), 10_001);
}

const SPC: &[u8] = b"0,16,8192,R,0.5\n1,16,512,w,1.5\r\n\n0, 23, 1024, R, 2, more\n2,8,0,W,3\n";

fn spc(options: SpcOptions) -> All {
    let options = ReadOptions {
        spc: options,
        ..ReadOptions::default()
    };
    read("Financial1.spc", SPC, &options).unwrap()
}

#[test]
fn spc_pages_units_and_writes() {
    let usual = SpcOptions::default();
    // Blocks 16 to 31 are pages 2 and 3; 23 and 24 lie on both sides of a page's end.
    let all = spc(usual);
    let unit = |n: u64| n << 48;
    assert_eq!(all.ids, [2, 3, unit(1) | 2, 2, 3, unit(2) | 1]);
    let (r, w) = (Flags::NONE, Flags::WRITE);
    assert_eq!(all.flags, [r, r, w, r, r, w]);
    assert_eq!(all.times, [0.5, 0.5, 1.5, 2.0, 2.0, 3.0]);
    assert_eq!(all.sizes, [4096; 6]);
    let reads = spc(SpcOptions {
        writes: false,
        ..usual
    });
    assert_eq!(reads.ids, [2, 3, 2, 3]);
    assert_eq!(reads.skipped.writes, 2);
    let one = spc(SpcOptions {
        unit_spaces: false,
        ..usual
    });
    assert_eq!(one.ids, [2, 3, 2, 2, 3, 1]);
    let unsplit = spc(SpcOptions {
        split: false,
        ..usual
    });
    assert_eq!(unsplit.ids, [2, unit(1) | 2, 2, unit(2) | 1]);
    assert_eq!(unsplit.sizes, [8192, 512, 1024, 0]);
    let options = ReadOptions {
        page_size: 8192,
        ..ReadOptions::default()
    };
    assert_eq!(
        read("a.spc", SPC, &options).unwrap().ids,
        [1, unit(1) | 1, 1, unit(2)]
    );
    let options = ReadOptions {
        page_size: 3000,
        ..ReadOptions::default()
    };
    let message = read("a.spc", SPC, &options).unwrap_err().to_string();
    assert!(
        message.starts_with("a.spc: ") && message.contains("3000"),
        "{message}"
    );
    for block_size in [0, (1 << 31) + 1] {
        let mut options = ReadOptions::default();
        options.spc.block_size = block_size;
        let message = read("a.spc", SPC, &options).unwrap_err().to_string();
        assert!(message.contains("a block size of"), "{message}");
    }
}

#[test]
fn malformed_spc() {
    let options = ReadOptions::default();
    for line in [
        "0,16,8192,R",
        "0,16,8192,X,1",
        "0,-16,8192,R,1",
        "0,16,8192,R,-1",
        "0,16,8192,R,nan",
        "0,16,,R,1",
        "what",
        "0,16,99999999999999999999,R,1",
        "65536,16,8192,R,1",
        "0,18446744073709551615,8192,R,1",
        "0,16,4294967295,R,1",
    ] {
        let bytes = format!("0,8,512,R,0\n{line}\n0,0,512,R,2\n");
        let message = bad("a.spc", bytes.as_bytes(), &options, &[1, 0]);
        assert!(message.starts_with("a.spc, line 2: expected "), "{message}");
        assert!(message.contains(&format!("found \"{line}\"")), "{message}");
    }
}

#[test]
fn csv_columns_by_usual_names() {
    let bytes = b"\xef\xbb\xbfTime,Obj_ID,size,op\n1,5,100,read\n2.5,\"6\",200,SET\n";
    let all = good("a.csv", bytes);
    assert_eq!(all.ids, [5, 6]);
    assert_eq!(all.times, [1.0, 2.5]);
    assert_eq!(all.sizes, [100, 200]);
    assert_eq!(all.flags, [Flags::NONE, Flags::WRITE]);
    let flags = good(
        "a.csv",
        b"kind,via,id\nanon,mapped,1\nfile,exec,2\nfile,fd,3\n",
    )
    .flags;
    let mapped = Flags::MAPPED;
    assert_eq!(
        flags,
        [mapped | Flags::ANON, mapped | Flags::EXEC, Flags::NONE]
    );
    // A request with an address may cover pages.
    let bytes = b"addr,length\n4095,2\n8192,0\n";
    let mut options = ReadOptions::default();
    assert_eq!(read("a.csv", bytes, &options).unwrap().ids, [4095, 8192]);
    options.csv.addresses = true;
    assert_eq!(read("a.csv", bytes, &options).unwrap().ids, [0, 1, 2]);
}

#[test]
fn csv_columns_as_they_are_named() {
    let named = |id: &str, header, delimiter| ReadOptions {
        csv: CsvOptions {
            id: Some(id.to_string()),
            header,
            delimiter: Some(delimiter),
            ..CsvOptions::default()
        },
        ..ReadOptions::default()
    };
    let bytes = b"who;\"a;b\";what\n1;2;x\n3;4;y\n";
    assert_eq!(
        read("a.csv", bytes, &named("who", true, b';')).unwrap().ids,
        [1, 3]
    );
    assert_eq!(
        read("a.csv", bytes, &named("A;B", true, b';')).unwrap().ids,
        [2, 4]
    );
    assert_eq!(
        read("a.csv", bytes, &named("2", true, b';')).unwrap().ids,
        [2, 4]
    );
    for bytes in [
        &b"a\tid\n\"1,2\"\t5\n"[..],
        b"a;b;id\n1,2;;5\n",
        b"id\n5\n",
        b"id,a;b\n5,1\n",
    ] {
        assert_eq!(good("a.csv", bytes).ids, [5]);
    }
    // Strings are numbered in order of first appearance.
    let bytes = b"x,1\ny,2\nx,3\n";
    assert_eq!(
        read("a.csv", bytes, &named("1", false, b',')).unwrap().ids,
        [0, 1, 0]
    );
    assert_eq!(
        read("a.csv", bytes, &named("2", false, b',')).unwrap().ids,
        [1, 2, 3]
    );
    // In the format of the MSR Cambridge traces.
    let bytes = b"128166372003061629,hm,1,Read,383496192,32768,413\n5,hm,1,Write,4095,2,1\n";
    let mut options = named("5", false, b',');
    options.csv.op = Some("4".into());
    options.csv.size = Some("6".into());
    options.csv.addresses = true;
    let all = read("hm_1.csv", bytes, &options).unwrap();
    assert_eq!(all.ids[..8], *(93627..93635).collect::<Vec<u64>>());
    assert_eq!(all.ids[8..], [0, 1]);
    assert_eq!(all.flags[7..9], [Flags::NONE, Flags::WRITE]);
    let fails = |bytes: &[u8], options| read("a.csv", bytes, &options).unwrap_err().to_string();
    let message = fails(b"a,b\n1,2\n", named("c", true, b','));
    assert_eq!(
        message,
        "a.csv: there is no column \"c\"; the columns are a, b"
    );
    let message = fails(b"a,b\n1,2\n", named("3", true, b','));
    assert!(message.contains("no column \"3\""), "{message}");
    let message = fails(b"1,2\n", named("a", false, b','));
    assert!(message.contains("given by number"), "{message}");
    let message = fails(b"a,b\n1,2\n", ReadOptions::default());
    assert!(
        message.contains("which column is the object? the columns are a, b"),
        "{message}"
    );
    let message = fails(b"1,2\n3,4\n", ReadOptions::default());
    assert!(message.contains("--no-header"), "{message}");
    assert!(fails(b"", ReadOptions::default()).contains("empty"));
}

#[test]
fn malformed_csv() {
    let options = ReadOptions::default();
    for (line, expected) in [
        ("1,x,4,read", "the number of an object"),
        ("1,,4,read", "an object in the id column"),
        ("1", "an object in the id column"),
        ("-1,5,4,read", "seconds in the time column"),
        ("1,5,big,read", "bytes in the size column"),
        ("1,5,4294967296,read", "less than 4 GiB"),
        ("1,5,4,erase", "read or write in the op column"),
        ("1,5,4", "read or write in the op column"),
    ] {
        let bytes = format!("time,id,size,op\n1,5,4,read\n{line}\n2,7,4,w\n");
        let message = bad("a.csv", bytes.as_bytes(), &options, &[5, 7]);
        assert!(message.starts_with("a.csv, line 3: expected "), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn text_numbers_and_strings() {
    let all = good(
        "a.txt",
        b"# objects\n12\n 012\r\n\n0x1F\n18446744073709551615",
    );
    assert_eq!(all.ids, [12, 12, 31, u64::MAX]);
    let all = good("a.txt", b"one\n12\none\n012\n12\n");
    assert_eq!(all.ids, [0, 1, 0, 2, 1]);
    let strings = ReadOptions {
        names: Names::Strings,
        ..ReadOptions::default()
    };
    assert_eq!(
        read("a.txt", b"12\n012\n12\n", &strings).unwrap().ids,
        [0, 1, 0]
    );
    let options = ReadOptions::default();
    for line in [
        "one",
        "-1",
        "1.5",
        "18446744073709551616",
        "0x",
        "0x10000000000000000",
        "1 2",
    ] {
        let message = bad(
            "a.txt",
            format!("1\n\n{line}\n2\n").as_bytes(),
            &options,
            &[1, 2],
        );
        assert!(
            message.starts_with("a.txt, line 3: expected the number of an object"),
            "{message}"
        );
    }
    let message = bad("a.txt", b"1\n\x1b[2Jx\n2\n", &options, &[1, 2]);
    assert!(message.ends_with("found \"\\x1b[2Jx\""), "{message}");
    let long = [b"1\n".to_vec(), vec![b'7'; 1 << 16], b"\n2\n".to_vec()].concat();
    let message = bad("a.txt", &long, &options, &[1, 2]);
    assert!(
        message.contains("line 2: expected a line of less than 64 KiB"),
        "{message}"
    );
}

#[test]
fn lackey() {
    let bytes =
        b"==7== Lackey, an example\nI  04016ffe,3\n S 1ffeffff38,8\n L 04222c48,8\n M 0,1\n";
    let all = good("a", bytes);
    assert_eq!(all.ids, [0x4016, 0x4017, 0x1ffefff, 0x4222, 0]);
    let m = Flags::MAPPED;
    let store = m | Flags::ANON | Flags::WRITE;
    let fetch = m | Flags::EXEC;
    assert_eq!(all.flags, [fetch, fetch, store, m | Flags::ANON, store]);
    let options = ReadOptions::default();
    for line in [
        "X 10,1",
        "L 10",
        "L xyz,1",
        "L10,1",
        "L ffffffffffffffff,2",
        "L 0,65537",
        "I",
    ] {
        let bytes = format!(" L 1000,1\n{line}\n L 2000,1\n");
        let message = bad("a.lackey", bytes.as_bytes(), &options, &[1, 2]);
        assert!(
            message.starts_with("a.lackey, line 2: expected I, L, S or M"),
            "{message}"
        );
    }
}

#[test]
fn formats_are_guessed() {
    for (name, contents, format) in [
        (
            "w.oracleGeneral.bin.zst",
            &b"1\n2\n"[..],
            Some(Format::OracleGeneral),
        ),
        ("w.CSV.gz", b"1\n2\n", Some(Format::Csv)),
        ("w.tsv", b"", Some(Format::Csv)),
        ("w.trace", b"\n# x\n1\n2\n", Some(Format::Text)),
        ("w", b"0,16,8192,R,0.5\n", Some(Format::Spc)),
        ("w", b"id,time\n", Some(Format::Csv)),
        ("w", b" L 04222c48,8\n", Some(Format::Lackey)),
        ("w", b"==12== Memcheck\n", Some(Format::Lackey)),
        ("w", b"1\0\n", None),
        ("w", b"\n\n", None),
    ] {
        let path = Path::new(name);
        let guessed = Format::of_name(path).or_else(|| trace::read::format_of(contents));
        assert_eq!(guessed, format, "{name} {contents:?}");
    }
    for format in Format::ALL {
        assert_eq!(format.name().to_uppercase().parse(), Ok(format));
    }
    assert!("tar".parse::<Format>().unwrap_err().contains("lackey"));
    let message = read("w", b"\0\x01\x02", &ReadOptions::default()).unwrap_err();
    assert!(message.to_string().contains("--format"), "{message}");
}
