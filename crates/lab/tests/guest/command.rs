//! `hotset lab run` with guests of User-Mode Linux: a whole run, full disks, Ctrl-C, a killed hotset.
use crate::bench::{end, guests_run, left, shown, trials, until, Bench};
use crate::kernels::{kernel, programs};
use protocol::record::{Outcome, Run};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

fn bench() -> Bench {
    Bench::new("uml", kernel())
}

fn max_map_count() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    text.trim().parse().unwrap()
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_run_writes_trials_and_a_report_and_keeps_its_data_disk() {
    let bench = bench();
    let output = bench
        .run(&[], &["--preset", "small", "--set", "files.huge=16MiB"])
        .output()
        .unwrap();
    // The promise is one that any kernel keeps.
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
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
    assert!(
        run.command.contains("HOTSET_KERNEL_VANILLA="),
        "{}",
        run.command
    );
    assert!(run.command.contains("--seed 7 --jobs "), "{}", run.command);
    for arm in &run.arms {
        let image = arm.image.as_ref().unwrap();
        let booted = kbuild::build::checksum(&kernel()).unwrap();
        assert_eq!(image.sha256, booted, "{}", arm.kernel);
    }
    trials_are_whole(&bench);
    assert_eq!(left(&bench), Vec::<String>::new());
    a_second_run_is_refused(&bench);
    let report = Command::new(programs().join("hotset"))
        .args(["lab", "report", "--json"])
        .arg(bench.path("out"))
        .output()
        .unwrap();
    assert_eq!(report.status.code(), Some(0), "{}", shown(&report));
    let json: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(json["promises"][0]["holds"], true, "{json}");
}

fn trials_are_whole(bench: &Bench) {
    let trials = bench.trials();
    assert_eq!(trials.len(), 2);
    assert_eq!(
        trials[0].seed, trials[1].seed,
        "arms of a repetition share a seed"
    );
    for trial in &trials {
        assert_eq!(trial.outcome, Outcome::Ok);
        let scenes = trial.scenes.iter().map(|scene| scene.name.as_str());
        assert_eq!(scenes.collect::<Vec<_>>(), ["calm", "pressure"]);
        let classic = trial.settings["/sys/kernel/mm/lru_gen/enabled"].ends_with("0");
        assert_eq!(classic, trial.arm == "classic", "{:?}", trial.settings);
        assert!(!trial.scenes[0].observations["probe.resident"].is_empty());
        assert!(trial.scenes[1].counters["vmstat.pgfault"] > 0.0);
        assert!(!trial.gauges.is_empty());
        let log = bench.path(&format!("out/console/{}-0.log", trial.arm));
        let log = std::fs::read_to_string(log).unwrap();
        assert!(log.contains("Linux version"));
    }
}

/// Whole images and unfinished ones of the cache, without its locks.
fn images(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with(".lock-")).collect()
}

/// Two runs never share a folder, and the data disk is not made again.
fn a_second_run_is_refused(bench: &Bench) {
    let disks = || images(&bench.path("cache/hotset/disk"));
    assert_eq!(disks().len(), 1, "{:?}", disks());
    let trials = bench.trials().len();
    let again = bench.run(&[], &["--preset", "small"]).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "{}", shown(&again));
    assert_eq!(trials, bench.trials().len());
    assert_eq!(disks().len(), 1, "{:?}", disks());
    // --force loses nothing: the first run's folder has another name.
    let again = bench.run(&[], &["--preset", "small", "--force", "--quiet", "--json"]);
    let again = { again }.output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", shown(&again));
    assert_eq!(again.stderr, b"", "{}", shown(&again));
    let json: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(json["schema"], "hotset.lab.run.1");
    assert_eq!(
        (&json["planned"], &json["ok"]),
        (&trials.into(), &trials.into())
    );
    let moved = std::fs::read_dir(bench.path("out.1/trials")).unwrap();
    assert_eq!((moved.count(), bench.trials().len()), (trials, trials));
}

/// A run of guests of `memory_mb`, whose scenes last ten minutes.
fn endless(bench: &Bench, memory_mb: u64) -> Child {
    let memory = format!("machine.memory_mb={memory_mb}");
    let scenes = "scenes=[{name='calm',run=['probe'],seconds=600},{name='pressure',seconds=1}]";
    let set = [
        "--set",
        &memory,
        "--set",
        "files.probe=16MiB",
        "--set",
        scenes,
    ];
    bench.run(&[], &set).spawn().unwrap()
}

/// Sends a signal to a run, which must end by itself and leave its results and nothing else.
fn interrupted(bench: &Bench, child: Child, signal: &str) {
    let pid = child.id().to_string();
    let kill = Command::new("kill")
        .args([&format!("-{signal}"), &pid])
        .status()
        .unwrap();
    assert!(kill.success());
    let output = end(child);
    assert_eq!(
        output.status.code(),
        Some(if signal == "INT" { 130 } else { 143 }),
        "SIG{signal}: {}",
        shown(&output)
    );
    assert_eq!(left(bench), Vec::<String>::new(), "after SIG{signal}");
    assert!(bench.path("out/run.json").is_file());
    let stray = std::fs::read_dir(bench.dir.path()).unwrap().flatten();
    let stray = stray.filter(|e| e.file_name().to_string_lossy().starts_with("hotset-"));
    assert_eq!(stray.count(), 0, "the guest's folder is removed");
    std::fs::remove_dir_all(bench.path("out")).unwrap();
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn ctrl_c_and_sigterm_end_the_guests() {
    let bench = bench();
    for signal in ["INT", "TERM"] {
        let child = endless(&bench, 128);
        until("a guest", || guests_run(&bench));
        interrupted(&bench, child, signal);
    }
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`; needs root"]
fn max_map_count_is_raised_while_guests_run_and_restored_after_ctrl_c() {
    let root = rustix::process::geteuid().is_root();
    assert!(root, "this test writes vm.max_map_count: run it as root");
    // The sysctl is the whole host's: no other test may run guests meanwhile.
    let bench = Bench::alone("uml", kernel());
    let before = max_map_count();
    let child = endless(&bench, before / 256 + 64);
    until("a guest", || guests_run(&bench));
    assert!(max_map_count() > before);
    interrupted(&bench, child, "INT");
    assert_eq!(max_map_count(), before);
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_killed_hotset_leaves_no_guest() {
    let bench = bench();
    let mut child = endless(&bench, 128);
    until("a guest", || guests_run(&bench));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    until("the guests to be gone", || left(&bench).is_empty());
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_full_disk_for_results_keeps_what_was_written() {
    let bench = bench();
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
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
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
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_full_disk_for_the_image_leaves_no_half_image() {
    let bench = bench();
    let output = bench.on_small_disk("cache", "8m", &[]);
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
    assert!(
        text.contains("MB are needed in") && text.contains("cache/hotset/disk"),
        "{text}"
    );
    let disks = images(&bench.path("full-copy/hotset/disk"));
    assert_eq!(disks, Vec::<String>::new(), "no half image is left");
    assert_eq!(left(&bench), Vec::<String>::new());
}
