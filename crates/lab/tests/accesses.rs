//! Pages accessed in a guest, by a recorded trace and by rule, and the simulator beside it, on
//! User-Mode Linux.
mod common;

use common::bench::{said, Bench};
use common::{kernel, programs};
use std::fmt::Write;
use std::process::Command;

const EXPERIMENT: &str = r#"
title = "What was recorded, in memory that holds all of it and in half as much"
repetitions = 1
[machine]
memory_mb = 128
[files]
pages = "4MiB"
[workers.roomy]
memory_max = "16MiB"
does.access = { rule = { recorded = { trace = "some.txt", pages = 1024 } }, requests = 3000, by = { pread = { file = "pages" } } }
[workers.tight]
memory_max = "3MiB"
does.access = { rule = { recorded = { trace = "some.txt", pages = 1024 } }, requests = 3000, by = { pread = { file = "pages" } } }
[[scenes]]
name = "roomy"
run = ["roomy"]
until = "done"
seconds = 60
drop_caches = true
[[scenes]]
name = "tight"
run = ["tight"]
until = "done"
seconds = 60
drop_caches = true
[[arms]]
name = "classic"
kernel = "vanilla"
lru = "classic"
"#;

/// The simulator's rows beside what the bench's guests did.
fn simulated(bench: &Bench, more: &[&str]) -> Vec<serde_json::Value> {
    let output = Command::new(programs().join("hotset"))
        .args(["sim", "kernel", "--json"])
        .args(more)
        .arg(bench.path("out"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_recorded_trace_is_accessed_as_it_is_and_the_simulator_is_given_the_same() {
    let Some(kernel) = kernel("a recorded trace") else {
        return;
    };
    let bench = Bench::with(kernel, EXPERIMENT);
    // A thousand pages, three times, under names that are no page numbers.
    let mut trace = String::new();
    for request in 0..3500u64 {
        writeln!(trace, "{}", 7_000_000 + request % 1000 * 77).unwrap();
    }
    std::fs::write(bench.path("some.txt"), &trace).unwrap();
    bench.runs();
    let kept = std::fs::read_to_string(bench.path("out/recorded/some.txt")).unwrap();
    assert_eq!(kept, trace);

    let rows = simulated(&bench, &[]);
    let row = |worker: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row["worker"] == worker).unwrap().clone()
    };
    let (roomy, tight) = (row("roomy"), row("tight"));
    assert_eq!(
        (&roomy["kernel"], &roomy["error"]),
        (&1000.into(), &0.0.into())
    );
    // In order, and less than all of them: each is gone when it is wanted again.
    assert_eq!(
        (&tight["kernel"], &tight["error"]),
        (&3000.into(), &0.0.into())
    );
    assert!(tight["size"].as_u64().unwrap() < 1000, "{tight}");
}

const MAPPED: &str = r#"
title = "Some pages more often than others, mapped"
repetitions = 1
[machine]
memory_mb = 128
[files]
pages = "8MiB"
[workers.mapped]
memory_max = "5MiB"
does.access = { rule = { zipf = { size = "8MiB", alpha = 1.1 } }, requests = 20000, fresh_statistics = true, by = { mapped = { file = "pages" } } }
[[scenes]]
name = "mapped"
run = ["mapped"]
until = "done"
seconds = 120
drop_caches = true
[[arms]]
name = "classic"
kernel = "vanilla"
lru = "classic"
knobs = { "/sys/kernel/debug/fault_around_bytes" = 4096 }
"#;

#[test]
fn that_a_mapped_page_is_used_again_is_seen_by_reclaim() {
    let Some(kernel) = kernel("mapped pages that are used again") else {
        return;
    };
    let bench = Bench::with(kernel, MAPPED);
    bench.runs();
    let mapped = simulated(&bench, &["--beside", "fifo", "--at-most", "10"]).remove(0);
    let of = |what: &serde_json::Value| what.as_f64().unwrap();
    let (kernel, fifo) = (of(&mapped["kernel"]), of(&mapped["models"]["fifo"]));
    // Where nobody looks at accessed bits, as with MADV_RANDOM, it is within 1% of it.
    assert!(kernel < 0.97 * fifo, "{mapped}");
}

#[test]
fn a_trace_that_is_not_there_ends_the_run_before_any_guest() {
    let Some(kernel) = kernel("a recorded trace") else {
        return;
    };
    let bench = Bench::with(kernel, EXPERIMENT);
    let output = bench.run(&[], &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("worker roomy"), "{}", said(&output));
    assert!(!bench.path("out/run.json").exists());
}
