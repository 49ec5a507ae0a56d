//! Pages accessed in a guest, by a recorded trace and by rule, and the simulator beside it, on
//! User-Mode Linux.
use crate::bench::{shown, Bench};
use crate::kernels::{kernel, programs};
use std::fmt::Write;
use std::process::Command;

const EXPERIMENT: &str = r#"
title = "A recorded trace, in memory that holds all of its pages and in half as much"
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

/// The simulator's rows beside the results of the bench's guests.
fn simulated(bench: &Bench, more: &[&str]) -> Vec<serde_json::Value> {
    let output = Command::new(programs().join("hotset"))
        .args(["sim", "validate", "--json"])
        .args(more)
        .arg(bench.path("out"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    document["cases"].as_array().unwrap().clone()
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_recorded_trace_is_accessed_unchanged_by_guest_and_simulator() {
    let bench = Bench::with(kernel(), EXPERIMENT);
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
    // In order, with less memory than pages: each page is evicted before its next access.
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
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn reclaim_keeps_mapped_pages_that_are_used_again() {
    let bench = Bench::with(kernel(), MAPPED);
    bench.runs();
    let mapped = simulated(&bench, &["--beside", "fifo", "--at-most", "10"]).remove(0);
    let of = |value: &serde_json::Value| value.as_f64().unwrap();
    let (kernel, fifo) = (of(&mapped["kernel"]), of(&mapped["models"]["fifo"]));
    // Without accessed bits, as with MADV_RANDOM, the kernel is within 1% of FIFO.
    assert!(kernel < 0.97 * fifo, "{mapped}");
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_trace_that_is_not_there_ends_the_run_before_any_guest() {
    let bench = Bench::with(kernel(), EXPERIMENT);
    let output = bench.run(&[], &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", shown(&output));
    assert!(
        shown(&output).contains("worker roomy"),
        "{}",
        shown(&output)
    );
    assert!(!bench.path("out/run.json").exists());
}

const SIZES: &str = r#"
title = "A skewed choice of pages, in two sizes of memory"
repetitions = 1
[machine]
memory_mb = 64
trace = ["page-cache"]
[files]
data = "96MiB"
[workers.work]
does.access = { rule = { zipf = { size = "96MiB", alpha = 0.8 } }, requests = 80000, by = { pread = { file = "data" } } }
[[scenes]]
name = "work"
run = ["work"]
until = "done"
seconds = 120
[[sweeps]]
name = "classic"
kernel = "vanilla"
lru = "classic"
knob = "machine.memory_mb"
values = [64, 80]
"#;

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_small_guest_foretells_what_a_larger_one_reads_again() {
    let bench = Bench::with(kernel(), SIZES);
    bench.runs();
    let output = Command::new(programs().join("hotset"))
        .args(["size", "--json", "--validate"])
        .arg(bench.path("out"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["informative"], 1, "{found}");
    let of = |name: &str| found["rows"][0][name].as_f64().unwrap();
    let (measured, foretold) = (of("measured"), of("share"));
    assert!(measured < 0.9, "the larger guest reads less: {found}");
    assert!((foretold / measured - 1.0).abs() < 0.2, "{found}");
}
