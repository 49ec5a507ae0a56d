//! The series on a real kernel: the ranges of its sysctls, and its floors.
//!
//! Needs the series' kernel: `HOTSET_KERNEL_SERIES`, else that of the cache, else it is built.
use crate::kernels::{beside_others, programs};
use protocol::record::{Outcome, Trial};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

pub struct Ran {
    trials: BTreeMap<String, Trial>,
    consoles: BTreeMap<String, String>,
}

/// Runs an experiment of `tests/data` with the real command, and reads its results.
pub fn run(experiment: &str) -> Ran {
    let _turn = beside_others();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let out = dir.path().join("out");
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(experiment);
    let ended = Command::new(programs().join("hotset"))
        .args(["lab", "run", "--keep-going", "--output"])
        .arg(&out)
        .arg(&file)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&ended.stderr).into_owned();
    let mut ran = Ran {
        trials: BTreeMap::new(),
        consoles: BTreeMap::new(),
    };
    let trials = std::fs::read_dir(out.join("trials"));
    for entry in
        trials.unwrap_or_else(|error| panic!("{error}: no trials; output of hotset:\n{message}"))
    {
        let path = entry.unwrap().path();
        let trial: Trial = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let console = std::fs::read(out.join(format!("console/{name}.log"))).unwrap();
        let console = String::from_utf8_lossy(&console).into_owned();
        ran.consoles.insert(trial.arm.clone(), console);
        ran.trials.insert(trial.arm.clone(), trial);
    }
    ran
}

impl Ran {
    pub fn ok(&self, arm: &str) -> &Trial {
        let trial = &self.trials[arm];
        assert_eq!(
            trial.outcome,
            Outcome::Ok,
            "{arm}: {:?}",
            trial.console_tail
        );
        trial
    }

    /// The message of a guest that could not make its settings.
    fn refused(&self, arm: &str) -> &str {
        match &self.trials[arm].outcome {
            Outcome::Failed { message } => message,
            other => panic!("{arm}: expected a refusal, not {other:?}"),
        }
    }
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3 with the series; build it with `hotset kernel build 7.3`"]
fn sysctls_have_their_defaults_and_ranges() {
    let ran = run("series-sysctls.toml");
    let get = |arm: &str, name: &str| ran.ok(arm).settings[&format!("/proc/sys/vm/{name}")].clone();
    let defaults = [
        ("workingset_protection", "0"),
        ("anon_min_ratio", "15"),
        ("clean_min_ratio", "15"),
        ("clean_low_ratio", "0"),
    ];
    for (name, value) in defaults {
        assert_eq!(get("defaults", name), value, "default of vm.{name}");
    }
    let taken = [
        ("workingset_protection", "1"),
        ("anon_min_ratio", "30"),
        ("clean_min_ratio", "60"),
        ("clean_low_ratio", "100"),
    ];
    for (name, value) in taken {
        assert_eq!(get("taken", name), value, "vm.{name} as written");
    }
    for arm in [
        "on-is-2",
        "on-is-negative",
        "anon-min-is-101",
        "floors-of-91",
    ] {
        let message = ran.refused(arm);
        assert!(
            message.contains("os error 22"),
            "{arm}: not EINVAL: {message}"
        );
    }
    let log = &ran.consoles["floors-of-91"];
    let line = log
        .lines()
        .find(|line| line.contains("workingset_protection:"));
    let line = line.unwrap_or_else(|| panic!("nothing in the kernel's log:\n{log}"));
    assert!(line.contains("clean_min_ratio=60 refused"), "{line}");
}

/// The times of a guest's gauges, and the clean page cache in KiB.
fn clean(trial: &Trial) -> Vec<(f64, f64)> {
    let gauge = |name: &str| &trial.gauges[&format!("meminfo.{name}")];
    gauge("Active(file)")
        .iter()
        .zip(gauge("Inactive(file)"))
        .zip(gauge("Dirty"))
        .map(|((active, inactive), dirty)| (active.0, active.1 + inactive.1 - dirty.1))
        .collect()
}

/// For each sample, whether pages have been coming from the disk for half a second. Pages that were used once go
/// where nothing else is left, and the stream brings others. While a disk stands still, as one does for seconds beside
/// other guests, nobody brings any.
fn stream_goes_on(clean: &[(f64, f64)]) -> Vec<bool> {
    const STILL_MS: f64 = 200.0;
    const BEGUN_MS: f64 = 500.0;
    let (mut begun, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut before = f64::INFINITY;
    let samples = clean.iter().map(|&(t, kb)| {
        if kb > before {
            if t - last > STILL_MS {
                begun = t;
            }
            last = t;
        }
        before = kb;
        t - last <= STILL_MS && t - begun >= BEGUN_MS
    });
    samples.collect()
}

#[test]
fn a_stream_that_stands_still_is_told() {
    let at = |t: f64, kb: f64| (t, kb);
    let mut samples: Vec<_> = (0..50)
        .map(|i| at(f64::from(i) * 20.0, f64::from(i)))
        .collect();
    samples.extend((50..100).map(|i| at(f64::from(i) * 20.0, 49.0)));
    samples.extend((100..150).map(|i| at(f64::from(i) * 20.0, f64::from(i))));
    let goes_on = stream_goes_on(&samples);
    // Half a second after the first page; a fifth of a second after the last; half a second after they come again.
    let changes: Vec<usize> = (1..150).filter(|&i| goes_on[i] != goes_on[i - 1]).collect();
    assert_eq!(changes, [26, 60, 125]);
}

/// For each sample, the memory in KiB that the floors are shares of; but for compressed swap, which is not sampled.
fn to_give_away(trial: &Trial) -> Vec<f64> {
    let gauge = |name: &str| trial.gauges[&format!("meminfo.{name}")].iter();
    let lists = [
        "Active(file)",
        "Inactive(file)",
        "Active(anon)",
        "Inactive(anon)",
    ];
    let mut sum: Vec<f64> = gauge("MemFree").map(|(_, kb)| *kb).collect();
    for list in lists {
        for (sum, (_, kb)) in sum.iter_mut().zip(gauge(list)) {
            *sum += kb;
        }
    }
    sum
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3 with the series; build it with `hotset kernel build 7.3`"]
fn floors_hold_on_a_small_machine() {
    let ran = run("series-floor.toml");
    let lowest = |arm: &str| {
        let trial = ran.ok(arm);
        let begin = trial
            .scenes
            .iter()
            .find(|scene| scene.name == "pressure")
            .unwrap();
        let kills = begin.counters["vmstat.oom_kill"];
        assert!(kills >= 1.0, "{arm}: no pressure: nothing was killed");
        let clean = clean(trial);
        let shares: Vec<f64> = stream_goes_on(&clean)
            .into_iter()
            .zip(clean)
            .zip(to_give_away(trial))
            .filter(|((goes_on, (t, _)), _)| *goes_on && *t >= begin.begin_ms)
            .map(|((_, (_, kb)), memory)| kb / (memory * 0.25))
            .collect();
        // Samples are 20 ms apart: a second's.
        assert!(shares.len() >= 50, "{arm}: the disk gave no pages");
        shares.into_iter().fold(f64::INFINITY, f64::min)
    };
    for arm in ["classic-on", "mglru-on"] {
        let share = lowest(arm);
        // Where nothing else is left, the floor is lowered by what kswapd frees at a time: 512 KiB of a floor of
        // 11 MB. Isolated pages are on no list: two batches of 64 pages of 4 KiB.
        assert!(
            share >= 0.95 * (1.0 - 512.0 / 11_000.0),
            "{arm}: clean pages fell to {share:.3} of the floor"
        );
    }
    // The same pressure without protection must push clean pages below the floor, or the check above
    // proves nothing.
    let share = lowest("mglru-off");
    assert!(
        share < 0.8,
        "without protection clean pages stayed at {share:.3} of the floor"
    );
    // MemAvailable leaves out the floor: 25% of what can be given away.
    for arm in ["classic-on", "mglru-on"] {
        let trial = ran.ok(arm);
        let gauge = |name: &str| {
            trial.gauges[&format!("meminfo.{name}")]
                .iter()
                .map(|(_, kb)| *kb)
        };
        let cached = gauge("Active(file)").zip(gauge("Inactive(file)"));
        let samples = gauge("MemAvailable").zip(gauge("MemFree")).zip(cached);
        for (((available, free), cache), memory) in samples.zip(to_give_away(trial)) {
            let most = free + (cache.0 + cache.1 - memory * 0.25 * 15.0 / 16.0).max(0.0) + 4096.0;
            assert!(
                available <= most,
                "{arm}: MemAvailable {available} KiB with {free} free, {cache:?} of cache"
            );
        }
    }
}
