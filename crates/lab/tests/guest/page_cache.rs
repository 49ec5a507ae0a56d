//! A guest's page-cache events as traces, on User-Mode Linux.
use crate::bench::{shown, Bench};
use crate::kernels::{kernel, programs};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use trace::{Batch, ReadOptions, Reader};

const EXPERIMENT: &str = r#"
title = "A file read twice, dropped in between"
repetitions = 1
[machine]
memory_mb = 128
trace = ["page-cache"]
[files]
a = "8MiB"
[workers.read]
does.read-once = { file = "a" }
[[scenes]]
name = "first"
run = ["read"]
until = "done"
seconds = 60
[[scenes]]
name = "again"
run = ["read"]
until = "done"
seconds = 60
drop_caches = true
[[arms]]
name = "classic"
kernel = "vanilla"
lru = "classic"
"#;

/// The requests for the pages of a file, counted by page.
fn pages(trace: &Path, file: u64) -> BTreeMap<u64, u32> {
    let mut reader = Reader::open(trace, &ReadOptions::default()).unwrap();
    let (mut batch, mut found) = (Batch::default(), BTreeMap::new());
    while reader.fill(&mut batch).unwrap() {
        assert!(batch.times.windows(2).all(|pair| pair[0] <= pair[1]));
        for id in batch.ids.iter().filter(|id| **id >> 32 == file) {
            *found.entry(id & 0xffff_ffff).or_default() += 1;
        }
    }
    found
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_file_that_is_dropped_and_read_again_is_inserted_twice() {
    let bench = Bench::with(kernel(), EXPERIMENT);
    bench.runs();
    let at = |rest: &str| bench.path(&format!("out/traces/classic-0.{rest}"));
    let names = std::fs::read_to_string(at("files.json")).unwrap();
    let names: Vec<String> = serde_json::from_str(&names).unwrap();
    let file = names.iter().position(|name| name == "/data/a").unwrap() as u64;
    let times = |n: u32| (0..2048).map(move |page| (page, n)).collect();
    assert_eq!(pages(&at("inserted.csv.zst"), file), times(2));
    assert_eq!(pages(&at("evicted.csv.zst"), file), times(1));

    let trials = bench.trials();
    let sum = |name: &str| -> f64 {
        let scenes = trials[0].scenes.iter();
        scenes.map(|scene| scene.observations[name][0].1).sum()
    };
    assert_eq!(sum("page_cache.lost"), 0.0);
    assert_eq!(sum("page_cache.unread"), 0.0);
    assert!(sum("page_cache.inserted") >= 4096.0);
    let info = Command::new(programs().join("hotset"))
        .args(["trace", "info", "--json"])
        .arg(at("inserted.csv.zst"))
        .output()
        .unwrap();
    assert_eq!(info.status.code(), Some(0), "{}", shown(&info));
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    let requests = info["requests"].as_f64().unwrap();
    assert!(requests >= sum("page_cache.inserted"), "{info}");
}
