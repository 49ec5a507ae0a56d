//! Campaigns that stop, change or lack something.
use crate::bed::{campaign, folder, json, text, FILE};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

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
fn a_merge_says_what_to_do_about_a_damaged_result() {
    let dir = folder();
    let dir = dir.path();
    json(dir, "run c.toml -o out", 0);
    let damaged = dir.join("out/tasks/000002.parquet");
    let whole = fs::read(&damaged).unwrap();
    let rows = [::campaign::table::Row::schema().remove(0)].to_vec();
    let lacking = ::campaign::table::bytes(rows, &about(&damaged)).unwrap();
    for contents in [&whole[..whole.len() / 2], &lacking] {
        fs::write(&damaged, contents).unwrap();
        let merged = campaign(dir, "merge out");
        let said = text(&merged.stderr);
        assert_eq!(merged.status.code(), Some(3), "{said}");
        assert!(said.contains("000002.parquet: "), "{said}");
        assert!(said.contains("; remove the file and go on"), "{said}");
    }
    assert_eq!(json(dir, "run c.toml -o out", 0)["done"], 1);
}

/// The keys of a task's file.
fn about(path: &Path) -> Vec<(&'static str, String)> {
    let table = ::campaign::table::read(path).unwrap();
    let keys = ["hotset.plan", "hotset.task"];
    let value = |key| (key, table.about(key).unwrap().to_string());
    keys.map(value).to_vec()
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
    within_a_minute(&|| finished(dir).len() >= 3);
    run.kill().unwrap();
    run.wait().unwrap();
    gone_within_seconds(dir);
    let kept = finished(dir);
    assert!((3..63).contains(&kept.len()), "{} done", kept.len());
    let again = json(dir, "run c.toml -o out", 0);
    assert_eq!(again["done_before"], kept.len());
    assert_eq!(again["done"], 63 - kept.len());
    let now = finished(dir);
    assert!(kept.iter().all(|(task, time)| now[task] == *time));
    assert!(bytes(dir, "whole") == bytes(dir, "out"));
}

fn within_a_minute(met: &dyn Fn() -> bool) {
    let begun = Instant::now();
    while !met() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The tasks with a result, and when each was written. Unfinished files do not count.
fn finished(dir: &Path) -> BTreeMap<OsString, SystemTime> {
    let files = fs::read_dir(dir.join("out/tasks")).into_iter().flatten();
    let files = files.map(|file| file.unwrap());
    files
        .filter(|file| file.path().extension() == Some("parquet".as_ref()))
        .map(|file| {
            (
                file.file_name(),
                file.metadata().unwrap().modified().unwrap(),
            )
        })
        .collect()
}

/// Whether a process has been told to work in `out`.
fn works(dir: &Path) -> bool {
    let out = dir.join("out").into_os_string().into_encoded_bytes();
    let all = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = all.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|word| word == out))
}

fn gone_within_seconds(dir: &Path) {
    let begun = Instant::now();
    while works(dir) {
        assert!(begun.elapsed() < Duration::from_secs(5), "a task goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_folder_has_one_run_at_a_time_whose_tasks_end_with_it() {
    let dir = folder();
    let dir = dir.path();
    // Many seconds of one task.
    let text = "policies = [\"lru\"]\nsizes = [\"1%..100%:90\"]\n[[traces]]\n\
        generate = \"zipf,objects=1e5\"\ncount = 20e6\n";
    fs::write(dir.join("c.toml"), text).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .args(["sim", "campaign", "run", "c.toml", "-o", "out", "-q"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    within_a_minute(&|| works(dir));
    let second = campaign(dir, "run c.toml -o out");
    let said = crate::bed::text(&second.stderr);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("another run works in this folder"), "{said}");
    gone_within_seconds(dir);
}
