//! `hotset sim validate` on the results of a run that was made up.
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn validate(dir: &Path, more: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .args(["sim", "validate"])
        .arg(dir)
        .args(more.split_whitespace())
        .output()
        .unwrap()
}

/// A trial of two workers: one whose accesses all miss, and one of a skewed kind with 2000 misses.
fn results() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(tree("crates/report/tests/fixtures/run.json")).unwrap();
    let mut run: Value = serde_json::from_str(&text).unwrap();
    run["source"] = fs::read_to_string(tree("experiments/series/three-workers.toml"))
        .unwrap()
        .into();
    fs::write(dir.path().join("run.json"), run.to_string()).unwrap();
    let orders = |worker: &str, rule: Value, requests: u64| {
        let by = json!({ "pread": { "file": "f" } });
        let orders = json!({ "rule": rule, "requests": requests, "by": by });
        json!({ "t_ms": 1.0, "name": "access", "detail": format!("{worker} {orders}") })
    };
    let trial = json!({
        "schema": 1, "arm": "classic-off", "repetition": 0, "seed": 7,
        "outcome": { "kind": "ok" }, "release": "7.3.4-hotset", "mem_total_kb": 243912,
        "boot_s": 0.5, "wall_s": 30.0,
        "settings": { "/sys/kernel/mm/lru_gen/enabled": "0x0000" },
        "events": [
            orders("round", json!({ "loop": { "size": 409_600 } }), 1000),
            orders("skewed", json!({ "zipf": { "size": 819_200, "alpha": 1.0 } }), 5000),
        ],
        "gauges": {},
        "scenes": [{
            "name": "all", "begin_ms": 0.0, "end_ms": 1.0, "counters": {},
            "observations": {
                "round.requests": [[1.0, 1000.0]], "round.misses": [[1.0, 1000.0]],
                "round.resident_max": [[1.0, 50.0]],
                "skewed.requests": [[1.0, 5000.0]], "skewed.misses": [[1.0, 2000.0]],
                "skewed.resident_max": [[1.0, 60.0]],
            },
        }],
    });
    fs::create_dir(dir.path().join("trials")).unwrap();
    let file = dir.path().join("trials/classic-off-0.json");
    fs::write(file, trial.to_string()).unwrap();
    dir
}

fn names(value: &Value) -> BTreeSet<&str> {
    let fields = value.as_object().unwrap().keys();
    fields.map(String::as_str).collect()
}

#[test]
fn json_has_the_fields_of_the_guide_and_they_add_up() {
    let dir = results();
    let output = validate(dir.path(), "--beside lru,opt --json");
    let err = String::from_utf8_lossy(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(0), "{err}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["schema"], "hotset.sim.validate.1");
    let cases = json["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2);
    let (round, skewed) = (&cases[0], &cases[1]);
    assert_eq!(
        (&round["worker"], &skewed["worker"]),
        (&"round".into(), &"skewed".into())
    );
    assert_eq!(skewed["model"], "linux-two-list");
    assert_eq!(
        (&skewed["size"], &skewed["kernel"]),
        (&60.into(), &2000.into())
    );
    // Each access of a loop that does not fit misses, in any model but OPT.
    assert_eq!(round["models"]["lru"], 1000);
    assert_eq!(
        (&round["informative"], &skewed["informative"]),
        (&false.into(), &true.into())
    );
    let misses = |policy: &str| skewed["models"][policy].as_f64().unwrap();
    assert!(misses("opt") < misses("lru"), "{skewed}");
    let error = (misses("linux-two-list") - 2000.0) / 2000.0;
    assert!((skewed["error"].as_f64().unwrap() - error).abs() < 1e-9);
    let arm = &json["arms"]["classic-off"];
    assert_eq!((&arm["cases"], &arm["informative"]), (&2.into(), &1.into()));
    for field in ["median_error_percent", "worst_error_percent"] {
        let percent = arm[field].as_f64().unwrap();
        assert!((percent - 100.0 * error.abs()).abs() < 1e-6, "{arm}");
    }
    let guide = fs::read_to_string(tree("docs/guide/output.md")).unwrap();
    let (_, section) = guide.split_once("## hotset sim validate").unwrap();
    let section = section.split("\n## ").next().unwrap();
    for name in names(round).into_iter().chain(names(arm)) {
        assert!(section.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn an_error_above_the_bound_is_answered_with_1() {
    let dir = results();
    assert_eq!(validate(dir.path(), "--at-most 0").status.code(), Some(1));
    assert_eq!(
        validate(dir.path(), "--at-most 1000").status.code(),
        Some(0)
    );
}
