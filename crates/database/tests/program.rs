//! The program as a worker runs it, on this machine's files.
use protocol::wire::Line;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, seed: u64, work: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset-database"))
        .args(["w", &seed.to_string()])
        .arg(folder)
        .arg(work)
        .output()
        .unwrap()
}

/// The observations, without the worker's name.
fn observed(folder: &Path, seed: u64, work: &str) -> BTreeMap<String, f64> {
    let output = run(folder, seed, work);
    assert!(output.status.success(), "{work}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let values = text.lines().map(|line| match serde_json::from_str(line) {
        Ok(Line::Observe { name, value, .. }) => (name.replace("w.", ""), value),
        other => panic!("{line}: {other:?}"),
    });
    values.collect()
}

/// The error that the program reports to the lab.
fn error(folder: &Path, work: &str) -> String {
    let output = run(folder, 1, work);
    assert_eq!(output.status.code(), Some(1), "{work}");
    let text = String::from_utf8(output.stdout).unwrap();
    match serde_json::from_str(&text) {
        Ok(Line::Event { name, detail, .. }) if name == "worker-error" => detail,
        other => panic!("{text}: {other:?}"),
    }
}

fn make(engine: &str) -> String {
    format!(r#"{{"make-database":{{"engine":"{engine}","size":6000000}}}}"#)
}

fn look_up(engine: &str, more: &str) -> String {
    format!(r#"{{"look-up":{{"engine":"{engine}","look_ups":3000{more}}}}}"#)
}

/// Makes a database of 6000 records and looks 3000 up, in each of the given ways.
fn an_engine(engine: &str, ways: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(error(folder, &look_up(engine, "")).contains("no database yet"));
    let made = observed(folder, 1, &make(engine));
    assert_eq!(made["records"], 6000.0);
    // 5.7 MiB of records and keys of 80 bytes, in pages that are half full at worst.
    assert!((5.7..11.5).contains(&made["records_mb"]), "{made:?}");
    assert!((0.45..6.0).contains(&made["index_mb"]), "{made:?}");
    for way in ways {
        let seen = observed(folder, 7, &look_up(engine, way));
        assert_eq!(seen["look_ups"], 3000.0);
        assert!(seen["done_ms"] > 0.0);
        // Just written, so in memory, unless this machine is short of memory.
        assert!(seen["index_resident"] > 0.5, "{way}: {seen:?}");
        assert!(seen["records_resident"] <= 1.0);
        assert!(!seen.contains_key("refaults"), "no cgroup was named");
        if way.contains("lock_index") {
            assert_eq!(seen["index_resident"], 1.0, "{seen:?}");
            assert_eq!(seen["locked_mb"], made["index_mb"]);
        }
    }
    assert!(
        error(folder, &make(engine)).contains("making"),
        "a second database in the same folder"
    );
}

#[test]
fn sqlite_finds_every_record_by_pread_and_mapped_with_its_index_locked_or_not() {
    let ways = [
        "",
        r#","mapped":true"#,
        r#","lock_index":true"#,
        r#","mapped":true,"lock_index":true,"settle":100"#,
    ];
    an_engine("sqlite", &ways);
}

#[test]
fn redb_finds_every_record_with_its_index_locked_or_not() {
    an_engine("redb", &["", r#","lock_index":true,"cache":0"#]);
    let folder = tempfile::tempdir().unwrap();
    observed(folder.path(), 1, &make("redb"));
    let mapped = error(folder.path(), &look_up("redb", r#","mapped":true"#));
    assert!(
        mapped.contains("`mapped`") && mapped.contains("redb"),
        "{mapped}"
    );
}

#[test]
fn a_changed_record_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    observed(folder.path(), 1, &make("sqlite"));
    let path = folder.path().join("sqlite/records.sqlite");
    let mut file = std::fs::read(&path).unwrap();
    // The last byte of a page is the last of its first record's body.
    for page in file.chunks_mut(4096).skip(10) {
        page[4095] ^= 1;
    }
    std::fs::write(&path, file).unwrap();
    let error = error(folder.path(), &look_up("sqlite", ""));
    assert!(
        error.contains("differs from the stored one") || error.contains("no record with this key"),
        "{error}"
    );
}

#[test]
fn index_pages_are_those_with_keys_in_sqlites_file_format() {
    let folder = tempfile::tempdir().unwrap();
    observed(folder.path(), 1, &make("sqlite"));
    let made = std::fs::read_to_string(folder.path().join("sqlite/made.json")).unwrap();
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let file = std::fs::read(folder.path().join("sqlite/records.sqlite")).unwrap();
    let pages = |part: &str| -> Vec<usize> {
        let stretches = made["files"][0][part].as_array().unwrap().iter();
        let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
        let stretches = stretches.map(|one| (number(&one[0]), number(&one[1])));
        stretches
            .flat_map(|(first, count)| first..first + count)
            .collect()
    };
    // The first byte of a b-tree page has its kind: 2 and 10 for an index, 5 and 13 for a table. 13
    // are the leaves with the records.
    let kind = |page: &usize| file[page * 4096];
    let (index, records) = (pages("index"), pages("records"));
    assert!(index.iter().all(|page| [2, 10, 5].contains(&kind(page))));
    let leaves = index.iter().filter(|page| kind(page) == 10).count();
    // A page has at most 49 keys of 80 bytes, and at least half as many.
    assert!((6000 / 49..6000 / 24).contains(&leaves), "{leaves}");
    // The first page has the file's header and the schema.
    assert_eq!(records[0], 0);
    assert!(records[1..].iter().all(|page| kind(page) == 13));
    assert_eq!(index.len() + records.len(), file.len() / 4096);
}
