//! `hotset sim` as a user runs it.
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn sim(dir: &Path, words: &str, input: &str) -> (String, String, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .arg("sim")
        .args(words.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // What does not want it closes it unread.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (said(&out.stdout), said(&out.stderr), out.status.code())
}

/// Skewed, so that policies differ.
fn trace() -> String {
    (0..20_000u64)
        .map(|n| format!("{}\n", (n * n * 31 + n % 7) % (n % 900 + 40)))
        .collect()
}

#[test]
fn a_sweep_reads_its_trace_once_and_parts_are_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let sweep = "--policy lru,opt,mglru --size 1%..50%:8 --json";
    // A pipe can be read once only.
    let (whole, _, code) = sim(dir, &format!("sweep - --format text {sweep}"), &trace());
    assert_eq!(code, Some(0));
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["rows"].as_array().unwrap().len(), 24);
    for part in 1..=3 {
        let words = format!("sweep - --format text {sweep} --shard {part}/3");
        let (json, _, _) = sim(dir, &words, &trace());
        fs::write(dir.join(format!("{part}.json")), json).unwrap();
    }
    let (merged, _, code) = sim(dir, "merge 3.json 1.json 2.json --json --plot m.svg", "");
    assert_eq!(code, Some(0));
    assert_eq!(serde_json::from_str::<Value>(&merged).unwrap(), whole);
    assert!(fs::read_to_string(dir.join("m.svg"))
        .unwrap()
        .contains("<polyline"));
    let (_, said, code) = sim(dir, "merge 1.json 3.json", "");
    assert_ne!(code, Some(0));
    assert!(said.contains("8 of 24 jobs are missing"), "{said}");
}

#[test]
fn what_does_not_fit_is_estimated_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let words = "sweep - --format text --policy lru --size 10% --threads 1";
    let (csv, said, _) = sim(dir, &format!("{words} --csv"), &trace());
    assert!(
        csv.starts_with("trace,policy,size,requests,misses,miss_ratio\n"),
        "{csv}"
    );
    assert!(!said.contains("ESTIMATES"), "{said}");
    let (csv, said, code) = sim(dir, &format!("{words} --csv --memory 64Ki"), &trace());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ESTIMATES"), "{said}");
    assert!(
        csv.lines().next().unwrap().ends_with(",misses_error_95"),
        "{csv}"
    );
    let (_, said, code) = sim(dir, "curve - --policy arc --sample 1%", "");
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn curves_of_others_are_their_sweeps() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (curve, said, _) = sim(
        dir,
        "curve - --format text --policy sieve --size 5,50 --csv",
        &trace(),
    );
    let (sweep, _, _) = sim(
        dir,
        "sweep - --format text --policy sieve --size 5,50 --csv",
        &trace(),
    );
    assert_eq!(curve, sweep, "{said}");
    assert_eq!(curve.lines().count(), 3);
}
