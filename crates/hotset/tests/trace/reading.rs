//! What `hotset` says of a trace that it reads or converts: options that do not fit, columns, losses.
use super::{fails, works};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn any(dir: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command.current_dir(dir).args(line.split_whitespace());
    command.output().unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("t.txt", "1\n2\n1\n"),
        ("names.txt", "user:3\nuser:4\nuser:3\n"),
        (
            "a.csv",
            "time,id,size,op\n0,1,512,r\n1.5,2,4096,w\n2,1,512,w\n",
        ),
        ("ids.csv", "id\n1\n2\n"),
        ("a.spc", "0,8,512,R,0\n0,16,512,W,1.5\n"),
        ("a.lackey", "I  1000,3\n S 5000,8\n"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    works(dir.path(), "convert t.txt t.oracleGeneral.bin");
    dir
}

#[test]
fn times_that_the_output_cannot_hold_are_refused_with_their_line() {
    let dir = folder();
    let dir = dir.path();
    let rows = "time,id\n5,1\n1700000000000000000,2\n";
    fs::write(dir.join("ns.csv"), rows).unwrap();
    fs::write(dir.join("ns.spc"), "0,8,512,R,4294967296\n").unwrap();
    let said = fails(dir, "convert ns.csv ns.bin", 3);
    for part in ["ns.csv, line 3", "time column is in seconds", "17000000"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(fails(dir, "convert ns.spc ns.bin", 3).contains("ns.spc, line 1"));
    assert!(!dir.join("ns.bin").exists());
    // Formats of text hold any time.
    works(dir, "convert ns.csv again.csv");
    assert_eq!(fs::read_to_string(dir.join("again.csv")).unwrap(), rows);
    let (_, said) = works(dir, "convert ns.csv ns.bin --skip-bad");
    assert!(said.contains("left out 1 malformed"), "{said}");
    assert_eq!(fs::read(dir.join("ns.bin")).unwrap().len(), 24);
}

#[test]
fn a_conversion_says_what_is_lost_and_how_many() {
    let dir = folder();
    let dir = dir.path();
    // Operations, kinds, times, sizes, names.
    for (args, lost, said) in [
        (
            "a.csv a.bin",
            [2, 0, 1, 0, 0],
            "a.bin: oracleGeneral has no operations: 2 writes",
        ),
        ("a.csv b.spc", [0, 0, 0, 2, 0], "pages of 4096 bytes: 2 "),
        ("a.csv b.txt", [2, 0, 2, 2, 0], "text has no times: 2 "),
        ("a.csv b.csv", [0, 0, 0, 0, 0], ""),
        ("a.spc c.txt", [1, 0, 1, 0, 0], "text has no operations: 1 "),
        ("a.lackey c.bin", [1, 2, 0, 0, 0], "kinds of pages: 2 "),
        ("a.lackey c.lackey", [0, 0, 0, 0, 0], ""),
        ("names.txt d.bin", [0, 0, 0, 0, 2], "2 names become numbers"),
        ("t.oracleGeneral.bin e.txt", [0, 0, 0, 0, 0], ""),
    ] {
        let (json, err) = works(dir, &format!("convert {args} --force --json"));
        let json: Value = serde_json::from_str(&json).unwrap();
        let fields = ["operations", "kinds", "times", "sizes", "names"];
        let found = fields.map(|field| json["lost"][field].as_u64().unwrap());
        assert_eq!(found, lost, "{args}");
        let lines = lost.iter().filter(|count| **count > 0).count();
        assert_eq!(err.lines().count(), lines, "{args}: {err}");
        assert!(err.contains(said), "{args}: {err}");
        let (_, err) = works(dir, &format!("convert {args} --force --json --quiet"));
        assert_eq!(err, "", "{args}");
    }
}

/// A command line, the option that does not fit, and what the message has besides.
const MISPLACED: &[(&str, &str, &str)] = &[
    (
        "trace info t.oracleGeneral.bin --drop-writes",
        "--drop-writes",
        "oracleGeneral",
    ),
    (
        "sim run t.oracleGeneral.bin -s 1 --drop-writes",
        "--drop-writes",
        "oracleGeneral",
    ),
    (
        "sim run t.oracleGeneral.bin -s 1 --id-column page",
        "--id-column",
        "oracleGeneral",
    ),
    ("sim curve t.txt --addresses", "--addresses", "text"),
    (
        "trace convert t.txt n.csv --delimiter ;",
        "--delimiter",
        "text",
    ),
    ("trace info t.txt --op-column 2", "--op-column", "text"),
    ("trace info t.txt --time-column 2", "--time-column", "text"),
    ("trace info t.txt --size-column 2", "--size-column", "text"),
    ("trace info t.txt --no-header", "--no-header", "text"),
    ("trace info a.csv --one-space", "--one-space", "csv"),
    ("trace info a.csv --no-split", "--no-split", "csv"),
    ("trace info a.csv --block-size 512", "--block-size", "csv"),
    ("trace info a.csv --page-size 4096", "--page-size", "csv"),
    (
        "trace convert t.txt n.csv --page-size 4096",
        "--page-size",
        "text",
    ),
    (
        "trace info a.csv --addresses --names strings",
        "--names",
        "csv",
    ),
    ("trace info a.spc --names numbers", "--names", "spc"),
    (
        "trace info a.lackey --drop-writes",
        "--drop-writes",
        "lackey",
    ),
    // The format has operations, and this file has none.
    (
        "trace info ids.csv --drop-writes",
        "--drop-writes",
        "--op-column",
    ),
];

#[test]
fn an_option_of_another_format_is_refused() {
    let dir = folder();
    let dir = dir.path();
    for &(line, option, format) in MISPLACED {
        let output = any(dir, line);
        let said = err(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(output.stdout.is_empty(), "{line}");
        assert!(
            said.starts_with(&format!("hotset: {option}: ")),
            "{line}: {said}"
        );
        assert!(said.contains(format), "{line}: {said}");
    }
    assert!(!dir.join("n.csv").exists());
    for args in [
        "info a.csv --drop-writes --delimiter ,",
        "info a.csv --addresses --page-size 8192 --id-column id",
        "info a.spc --one-space --no-split --block-size 1K --drop-writes",
        "info a.lackey --page-size 64K",
        "convert t.txt n.spc --page-size 8192 --names numbers",
    ] {
        works(dir, args);
    }
}

#[test]
fn verbose_names_the_file_its_packing_format_and_columns() {
    let dir = folder();
    let dir = dir.path();
    works(dir, "convert a.csv p.csv.gz");
    for (line, parts) in [
        ("-v trace info t.txt", "t.txt plain text name"),
        (
            "trace info t.txt --verbose --format text",
            "t.txt plain text --format",
        ),
        ("sim run t.txt -s 1 -v", "t.txt plain text"),
        (
            "trace info p.csv.gz -v",
            "p.csv.gz gzip csv object id time size op",
        ),
        (
            "trace convert ids.csv n.txt.zst --force -v",
            "ids.csv plain csv id",
        ),
    ] {
        let output = any(dir, line);
        let said = err(&output);
        assert_eq!(output.status.code(), Some(0), "{line}: {said}");
        for part in parts.split(' ') {
            assert!(said.contains(part), "{line}: {part}: {said}");
        }
        let line = line
            .replace(" --verbose", "")
            .replace(" -v", "")
            .replace("-v ", "");
        let said = err(&any(dir, &line));
        assert!(
            !said.contains("plain") && !said.contains("gzip"),
            "{line}: {said}"
        );
    }
    assert_eq!(err(&any(dir, "trace info t.txt")), "");
}

#[test]
fn a_first_line_that_looks_like_a_request_is_pointed_out() {
    let dir = folder();
    let dir = dir.path();
    fs::write(dir.join("bare.csv"), "7,read,4096\n8,read,4096\n").unwrap();
    for args in ["info bare.csv", "info bare.csv --id-column page"] {
        let said = fails(dir, args, 3);
        for part in ["bare.csv", "first line looks like a request", "--no-header"] {
            assert!(said.contains(part), "{args}: {said}");
        }
    }
    // With a number the first line may still be names, as a table of numbered columns has them.
    let (text, said) = works(dir, "info bare.csv --id-column 1");
    assert!(text.contains("requests               1\n"), "{text}");
    assert!(
        said.contains("looks like a request") && said.contains("--no-header"),
        "{said}"
    );
    let (text, said) = works(dir, "info bare.csv --no-header");
    assert!(text.contains("requests               2\n"), "{text}");
    assert!(
        said.contains("column 1") && said.contains("--id-column"),
        "{said}"
    );
    let (_, said) = works(dir, "info bare.csv --no-header --id-column 1");
    assert_eq!(said, "");
}
