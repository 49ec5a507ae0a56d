//! `hotset sim bytes`: the table, JSON and CSV, and what is refused.
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Standard output, standard error and the status. Words are separated by blanks.
fn bytes(dir: &Path, args: &str) -> (String, String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .args(["sim", "bytes"])
        .args(args.split(' '))
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let status = output.status.code().unwrap();
    (text(output.stdout), text(output.stderr), status)
}

/// Objects a of 1000 bytes, b of 3000 and c of 500, and the same without sizes.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let sized = "key,size\na,1000\nb,3000\na,1000\nc,500\nb,3000\na,1000\n";
    fs::write(dir.path().join("t.csv"), sized).unwrap();
    fs::write(dir.path().join("t.txt"), "a\nb\na\nc\nb\na\n").unwrap();
    dir
}

#[test]
fn requests_and_bytes_that_miss_are_counted() {
    let dir = folder();
    // 4096 bytes hold a and b alone: c takes the place of b for LRU, of a for FIFO.
    let line = "t.csv --policy lru,fifo --size 4K --json";
    let (out, err, status) = bytes(dir.path(), line);
    assert_eq!(status, 0, "{err}");
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["schema"], "hotset.sim.bytes.1");
    assert_eq!(json["footprint_bytes"], 4500);
    let counts = |row: usize| {
        let row = &json["rows"][row];
        let number = |name: &str| row[name].as_u64().unwrap();
        assert_eq!((number("requests"), number("bytes")), (6, 9500));
        assert_eq!(number("size_bytes"), 4096);
        (number("misses"), number("bytes_missed"))
    };
    // a b - c b a: b brings 3000 bytes, for which a and then nothing else goes.
    assert_eq!(counts(0), (5, 8500));
    // a b - c - a: FIFO drops a for c, and b for a.
    assert_eq!(counts(1), (4, 5500));
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/output.md");
    let guide = fs::read_to_string(guide).unwrap();
    let section = guide.split("## hotset sim bytes").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = json["rows"][0].as_object().unwrap();
    for field in rows.keys().chain([&"footprint_bytes".to_string()]) {
        assert!(section.contains(&format!("`{field}`")), "{field}");
    }
    let (csv, _, _) = bytes(dir.path(), "t.csv --policy lru --size 4K --csv");
    let mut lines = csv.lines();
    for column in lines.next().unwrap().split(',') {
        assert!(section.contains(&format!("`{column}`")), "{column}");
    }
    let row = "t.csv,lru,4096,6,5,0.833333,9500,8500,0.894737";
    assert_eq!(lines.collect::<Vec<_>>(), [row]);
}

#[test]
fn the_table_has_a_line_for_each_policy_and_size() {
    let dir = folder();
    let (out, err, status) = bytes(dir.path(), "t.csv --size 50%,100%");
    assert_eq!(status, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("3 objects of 4500 bytes"), "{out}");
    assert_eq!(lines.len(), 2 + 4 * 2, "{out}");
    for (name, room) in [("fifo", "2250"), ("s4-fifo", "4500"), ("lhd", "2250")] {
        let has = |line: &&str| line.starts_with(name) && line.contains(room);
        assert_eq!(lines.iter().filter(|line| has(line)).count(), 1, "{out}");
    }
    let full = lines
        .iter()
        .find(|line| line.starts_with("lru") && line.contains("4500"));
    assert!(full.unwrap().contains("0.500000"), "{out}");
}

#[test]
fn what_is_refused_says_what_to_write() {
    let dir = folder();
    for (args, named) in [
        ("t.txt --size 1M", "has no sizes"),
        ("t.csv --size 5", "64M"),
        ("t.csv --size 1M --policy arc", "fifo, lru, s4-fifo, lhd"),
        ("t.csv --size 1M --policy s4-fifo:skip=2", "0 to 1"),
        ("t.csv --size 1M --policy lhd:ages=1", "2 to 65536"),
    ] {
        let (out, err, status) = bytes(dir.path(), args);
        assert_eq!((out.as_str(), status), ("", 2), "{args}: {err}");
        assert!(err.contains(named), "{args}: {err}");
    }
}
