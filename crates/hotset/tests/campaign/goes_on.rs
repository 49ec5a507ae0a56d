//! Campaigns that stop, change or lack something.
use crate::bed::{campaign, folder, json, text, FILE};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn bytes(dir: &Path, name: &str) -> Vec<u8> {
    fs::read(dir.join(name).join("results.parquet")).unwrap()
}

#[test]
fn a_campaign_goes_on_where_it_was() {
    let dir = folder();
    let dir = dir.path();
    json(dir, "run c.toml -o whole", 0);
    json(dir, "run c.toml -o out", 0);
    for task in ["000001", "000004"] {
        fs::remove_file(dir.join(format!("out/tasks/{task}.parquet"))).unwrap();
    }
    // One that a disk has damaged, one of another campaign, and what a killed writer left.
    let damaged = dir.join("out/tasks/000002.parquet");
    let half = fs::read(&damaged).unwrap();
    fs::write(&damaged, &half[..half.len() / 2]).unwrap();
    fs::copy(
        dir.join("whole/tasks/000003.parquet"),
        dir.join("out/tasks/000003.parquet"),
    )
    .unwrap();
    fs::write(dir.join("out/tasks/000001.parquet.host.7.7.partial"), "x").unwrap();
    let status = json(dir, "status out", 0);
    assert_eq!(status["done"], 5);
    let again = json(dir, "run c.toml -o out", 0);
    assert_eq!(
        (&again["done_before"], &again["done"]),
        (&3.into(), &4.into())
    );
    assert!(bytes(dir, "whole") == bytes(dir, "out"));
    let left = fs::read_dir(dir.join("out/tasks")).unwrap();
    assert_eq!(left.count(), 7);
    // A task whose rows are there is left alone.
    let time = |name: &str| fs::metadata(dir.join(name)).unwrap().modified().unwrap();
    let before = time("out/tasks/000000.parquet");
    assert!(campaign(dir, "task out 0").status.success());
    assert_eq!(before, time("out/tasks/000000.parquet"));
}

#[test]
fn another_campaign_is_refused() {
    let dir = folder();
    let dir = dir.path();
    json(dir, "run c.toml -o out", 0);
    let refused = |args: &str, named: &str| {
        let done = campaign(dir, args);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args}: {said}");
        assert!(said.contains(named), "{args}: {said}");
    };
    fs::write(dir.join("c.toml"), format!("# a comment\n{FILE}")).unwrap();
    json(dir, "run c.toml -o out", 0);
    fs::write(dir.join("c.toml"), FILE.replace("\"64K\"", "\"5%\"")).unwrap();
    refused("run c.toml -o out", "sizes has changed since the campaign");
    fs::write(dir.join("c.toml"), FILE.replace("*.txt", "*.text")).unwrap();
    refused("run c.toml -o out", "traces has changed since the campaign");
    refused("run c.toml -o other", "\"traces/*.text\" matches no file");
    refused("run c.toml -o traces", "the folder has other files");
    refused("status traces", "holds no campaign");
    refused("task out 7", "expected 0 to 6");
    refused("report out --report out/results.parquet", "page");
    let plan = fs::read_to_string(dir.join("out/plan.json")).unwrap();
    fs::write(dir.join("out/plan.json"), plan.replace("\"1%\"", "\"2%\"")).unwrap();
    refused("task out 0", "the plan was changed");
}

#[test]
fn a_trace_that_changed_fails_by_its_name_and_the_others_are_merged() {
    let dir = folder();
    let dir = dir.path();
    json(dir, "run c.toml -o whole", 0);
    json(dir, "run c.toml -o out", 0);
    let trace = fs::read(dir.join("traces/a.txt")).unwrap();
    fs::write(dir.join("traces/a.txt"), &trace[..trace.len() - 20]).unwrap();
    fs::remove_file(dir.join("out/tasks/000005.parquet")).unwrap();
    let found = json(dir, "run c.toml -o out", 1);
    assert_eq!(found["failed"][0]["name"], "traces/a.txt");
    assert_eq!(found["traces_missing"][0], "traces/a.txt");
    assert_eq!(
        (&found["traces"], &found["tried_again"]),
        (&6.into(), &0.into())
    );
    let reason = found["failed"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("when the campaign was planned"), "{reason}");
    let report = text(&campaign(dir, "report out").stdout);
    assert!(report.contains("1 traces are missing"), "{report}");
    fs::write(dir.join("traces/a.txt"), trace).unwrap();
    json(dir, "run c.toml -o out", 0);
    assert!(bytes(dir, "whole") == bytes(dir, "out"));
}

/// 80 MB of requests in too little memory, then in four times as much: once enough, once not.
#[test]
fn a_task_without_memory_is_tried_once_more_with_more() {
    let dir = folder();
    let dir = dir.path();
    let file = |memory: &str| {
        format!(
            "policies = [\"fifo\"]\nsizes = [\"1%\"]\n[[traces]]\ngenerate = \"uniform,objects=1e3\"\n\
            count = 20e6\n[tasks]\nmemory = \"{memory}\"\n"
        )
    };
    fs::write(dir.join("enough.toml"), file("8M")).unwrap();
    let found = json(dir, "run enough.toml -o enough", 0);
    assert_eq!(
        (&found["done"], &found["tried_again"]),
        (&1.into(), &1.into())
    );
    fs::write(dir.join("little.toml"), file("1M")).unwrap();
    let found = json(dir, "run little.toml -o little", 1);
    assert_eq!(
        (&found["done"], &found["tried_again"]),
        (&0.into(), &1.into())
    );
    let reason = found["failed"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("was ended twice"), "{reason}");
    assert!(reason.contains("8.0 MiB"), "{reason}");
}

#[test]
fn a_killed_run_loses_nothing() {
    let dir = folder();
    let dir = dir.path();
    let text = FILE.replace("\"1..4\"", "\"1..60\"").replace("5e3", "50e3");
    fs::write(dir.join("c.toml"), text).unwrap();
    json(dir, "run c.toml -o whole", 0);
    let mut run = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .args(["sim", "campaign", "run", "c.toml", "-o", "out", "-q"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let done = || fs::read_dir(dir.join("out/tasks")).map_or(0, Iterator::count);
    let begun = Instant::now();
    while done() < 3 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!((3..63).contains(&done()), "{} done", done());
    let again = json(dir, "run c.toml -o out", 0);
    assert!(again["done"].as_u64().unwrap() > 0, "{again}");
    assert!(bytes(dir, "whole") == bytes(dir, "out"));
}
