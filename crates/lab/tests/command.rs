//! `hotset lab run` with real guests: a whole run, full disks, Ctrl-C, a killed hotset.
mod common;

use common::bench::{end, guests_run, left, said, trials, until, Bench};
use common::{kernel, programs};
use raw::record::{Outcome, Run};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// With User-Mode Linux guests.
fn bench(test: &str) -> Option<Bench> {
    Some(Bench::new("uml", kernel(test)?))
}

fn max_map_count() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    text.trim().parse().unwrap()
}

#[test]
fn a_run_from_file_to_report() {
    let Some(bench) = bench("a whole run") else {
        return;
    };
    let output = bench
        .run(&[], &["--preset", "small", "--set", "files.huge=16MiB"])
        .output()
        .unwrap();
    // The promise is one that any kernel keeps.
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let stdout = String::from_utf8_lossy(&output.stdout);
    let html = bench.path("out/report.html");
    assert!(
        stdout.trim_end().ends_with(&html.display().to_string()),
        "{stdout}"
    );
    assert!(html.is_file() && bench.path("out/report.md").is_file());
    let run = std::fs::read_to_string(bench.path("out/run.json")).unwrap();
    let run: Run = serde_json::from_str(&run).unwrap();
    assert_eq!((run.bed.memory_mb, run.repetitions, run.seed), (128, 1, 7));
    assert!(run.command.contains("--preset small"), "{}", run.command);
    let trials = bench.trials();
    assert_eq!(trials.len(), 2);
    assert_eq!(
        trials[0].seed, trials[1].seed,
        "arms of a repetition share a seed"
    );
    for trial in &trials {
        assert_eq!(trial.outcome, Outcome::Ok);
        let scenes: Vec<&str> = trial
            .scenes
            .iter()
            .map(|scene| scene.name.as_str())
            .collect();
        assert_eq!(scenes, ["calm", "pressure"]);
        let classic = trial.settings["/sys/kernel/mm/lru_gen/enabled"].ends_with("0");
        assert_eq!(classic, trial.arm == "classic", "{:?}", trial.settings);
        assert!(!trial.scenes[0].observations["probe.resident"].is_empty());
        assert!(trial.scenes[1].counters["vmstat.pgfault"] > 0.0);
        assert!(!trial.gauges.is_empty());
        let log = bench.path(&format!("out/console/{}-0.log", trial.arm));
        assert!(std::fs::read_to_string(log)
            .unwrap()
            .contains("Linux version"));
    }
    assert_eq!(left(&bench), Vec::<String>::new());
    // What was made for the first run serves the second.
    let disks = || {
        std::fs::read_dir(bench.path("cache/hotset/disk"))
            .unwrap()
            .count()
    };
    assert_eq!(disks(), 1);
    let again = bench.run(&[], &["--preset", "small"]).output().unwrap();
    assert_eq!(
        again.status.code(),
        Some(2),
        "the folder is not empty: {}",
        said(&again)
    );
    assert_eq!(trials.len(), bench.trials().len());
    assert_eq!(disks(), 1);
    let report = Command::new(programs().join("hotset"))
        .args(["lab", "report", "--json"])
        .arg(bench.path("out"))
        .output()
        .unwrap();
    assert_eq!(report.status.code(), Some(0), "{}", said(&report));
    let json: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(json["promises"][0]["holds"], true, "{json}");
}

#[test]
fn ctrl_c_ends_the_guests_and_puts_the_sysctl_back() {
    let Some(bench) = bench("Ctrl-C during a run") else {
        return;
    };
    let before = max_map_count();
    // A guest that needs more mappings than the host allows now, where the test may raise that.
    let root = rustix::process::geteuid().is_root();
    let memory_mb = if root { before / 256 + 64 } else { 128 };
    if !root {
        common::left_out("vm.max_map_count raised and put back, which needs root");
    }
    let memory = format!("machine.memory_mb={memory_mb}");
    let set = ["scenes=[{name='calm',run=['probe'],seconds=600},{name='pressure',seconds=1}]"];
    let set = [
        "--set",
        &memory,
        "--set",
        "files.probe=16MiB",
        "--set",
        set[0],
    ];
    for signal in ["INT", "TERM"] {
        let child = bench.run(&[], &set).spawn().unwrap();
        until("a guest", || guests_run(&bench));
        if root {
            assert!(max_map_count() > before, "raised while guests run");
        }
        let pid = child.id().to_string();
        assert!(Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status()
            .unwrap()
            .success());
        let output = end(child);
        assert_eq!(
            output.status.code(),
            Some(130),
            "SIG{signal}: {}",
            said(&output)
        );
        assert_eq!(left(&bench), Vec::<String>::new(), "after SIG{signal}");
        assert_eq!(max_map_count(), before, "after SIG{signal}");
        assert!(
            bench.path("out/run.json").is_file(),
            "what there was is kept"
        );
        let stray = std::fs::read_dir(bench.dir.path()).unwrap().flatten();
        let stray = stray.filter(|e| e.file_name().to_string_lossy().starts_with("hotset-"));
        assert_eq!(stray.count(), 0, "the guest's folder is removed");
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    }
}

#[test]
fn a_killed_hotset_leaves_no_guest() {
    let Some(bench) = bench("SIGKILL during a run") else {
        return;
    };
    let scenes = "scenes=[{name='calm',run=['probe'],seconds=600},{name='pressure',seconds=1}]";
    let mut child = bench.run(&[], &["--set", scenes]).spawn().unwrap();
    until("a guest", || guests_run(&bench));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    until("the guests to be gone", || left(&bench).is_empty());
}

#[test]
fn a_full_disk_for_results_keeps_what_was_written() {
    let Some(bench) = bench("no room for results") else {
        return;
    };
    let scenes = "scenes=[{name='calm',run=['probe'],seconds=0.3},{name='pressure',seconds=0.1}]";
    let small = [
        "--repetitions",
        "200",
        "--set",
        scenes,
        "--set",
        "files.huge=1MiB",
    ];
    let output = bench.on_small_disk("out", "192k", &small);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
    assert!(text.contains("make room on that disk"), "{text}");
    let copy = bench.path("full-copy");
    assert!(
        text.contains(&bench.path("out").display().to_string()),
        "names the place: {text}"
    );
    let trials = trials(&copy);
    assert!(!trials.is_empty(), "some fitted: {text}");
    assert!(trials.iter().all(|trial| trial.outcome == Outcome::Ok));
    assert!(copy.join("run.json").is_file());
    assert_eq!(left(&bench), Vec::<String>::new());
}

#[test]
fn a_full_disk_for_the_image_leaves_no_half_image() {
    let Some(bench) = bench("no room for the data disk") else {
        return;
    };
    let output = bench.on_small_disk("cache", "8m", &[]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
    assert!(
        text.contains("MB are needed in") && text.contains("cache/hotset/disk"),
        "{text}"
    );
    let disk = std::fs::read_dir(bench.path("full-copy/hotset/disk")).unwrap();
    assert_eq!(disk.count(), 0, "no half image is left");
    assert_eq!(left(&bench), Vec::<String>::new());
}
