//! The program as a worker runs it, on this machine's files.
use raw::wire::Line;
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

/// What was observed, without the worker's name.
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

/// What went wrong, as the lab is told.
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

/// Makes a database of 6000 records and looks half as many up, however that is done.
fn an_engine(engine: &str, ways: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(error(folder, &look_up(engine, "")).contains("no database yet"));
    let made = observed(folder, 1, &make(engine));
    assert_eq!(made["records"], 6000.0);
    // 5.7 MiB in pages that are half full at worst, and keys of 80 bytes likewise.
    assert!((5.7..11.5).contains(&made["records_mb"]), "{made:?}");
    assert!((0.45..6.0).contains(&made["index_mb"]), "{made:?}");
    for way in ways {
        let seen = observed(folder, 7, &look_up(engine, way));
        assert_eq!(seen["look_ups"], 3000.0);
        assert!(seen["done_ms"] > 0.0);
        // Just written, so in memory, unless this machine is in want of it.
        assert!(seen["index_resident"] > 0.5, "{way}: {seen:?}");
        assert!(seen["records_resident"] <= 1.0);
        assert!(!seen.contains_key("refaults"), "no cgroup was named");
        if way.contains("lock_index") {
            assert_eq!(seen["index_resident"], 1.0, "{seen:?}");
            assert_eq!(seen["locked_mb"], made["index_mb"]);
        }
    }
    assert!(error(folder, &make(engine)).contains("making"), "twice");
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
    assert!(mapped.contains("redb maps no files"), "{mapped}");
}

#[test]
fn a_record_that_is_not_what_was_put_in_is_told() {
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
        error.contains("is not what was put in") || error.contains("no record with this key"),
        "{error}"
    );
}

#[test]
fn what_is_index_lies_where_the_engine_reads_keys() {
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
    // By the file format's own word: the first byte of a b-tree page. 2 and 10 are an index's, 5 and
    // 13 a table's; 13 are its leaves, where the records are.
    let kind = |page: &usize| file[page * 4096];
    let (index, records) = (pages("index"), pages("records"));
    assert!(index.iter().all(|page| [2, 10, 5].contains(&kind(page))));
    let leaves = index.iter().filter(|page| kind(page) == 10).count();
    // A key of 80 bytes and what goes with it: at most 49 to a page, and at least half as many.
    assert!((6000 / 49..6000 / 24).contains(&leaves), "{leaves}");
    // The first page begins with the file's header; it is the schema's.
    assert_eq!(records[0], 0);
    assert!(records[1..].iter().all(|page| kind(page) == 13));
    assert_eq!(index.len() + records.len(), file.len() / 4096);
}
