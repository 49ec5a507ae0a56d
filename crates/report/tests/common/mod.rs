//! A small seeded run: six arms of three repetitions, one panic, and an arm whose probe finishes no
//! read in two of its trials.
//!
//! This generator writes the files under `fixtures/`, as `the_fixtures_are_those_of_the_generator` checks.
//! `UPDATE=1 cargo test -p report -- --test-threads=1` writes the fixtures and the snapshots anew.
#![allow(dead_code)]
use protocol::plan::Plan;
use protocol::record::{Arm, Bed, Event, Image, Outcome, Run, SceneRecord, Trial, SCHEMA};
use random::SplitMix64;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub const REPETITIONS: u32 = 3;

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub fn updating() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Compares with a committed file, or writes it when updating.
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(name);
    if updating() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; make it with UPDATE=1", path.display()));
    for (line, (a, b)) in known.lines().zip(text.lines()).enumerate() {
        assert_eq!(
            a,
            b,
            "{}, line {}; UPDATE=1 accepts",
            path.display(),
            line + 1
        );
    }
    assert_eq!(known, text, "{}; UPDATE=1 accepts", path.display());
}

/// Writes a run as the lab does.
pub fn put(dir: &Path, run: &Run, trials: &[Trial]) {
    std::fs::create_dir_all(dir.join("trials")).unwrap();
    let text = serde_json::to_string_pretty(run).unwrap() + "\n";
    std::fs::write(dir.join("run.json"), text).unwrap();
    for trial in trials {
        let name = format!("trials/{}-{}.json", trial.arm, trial.repetition);
        let text = serde_json::to_string(trial).unwrap() + "\n";
        std::fs::write(dir.join(name), text).unwrap();
    }
}

/// Numbers that are the same on every machine.
struct Random(SplitMix64);

impl Random {
    fn around(&mut self, centre: f64, share: f64) -> f64 {
        round(centre * (1.0 + share * (2.0 * self.0.next_f64() - 1.0)))
    }
}

fn round(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

struct Shape {
    name: &'static str,
    label: &'static str,
    kernel: &'static str,
    lru_gen: &'static str,
    on: Option<&'static str>,
    resident: f64,
    read_ms: f64,
    scans: f64,
    kill_ms: f64,
}

const SHAPES: [Shape; 6] = [
    Shape {
        name: "classic-vanilla",
        label: "Classic, vanilla",
        kernel: "7.3.4 vanilla",
        lru_gen: "n",
        on: None,
        resident: 0.62,
        read_ms: 270.0,
        scans: 1_700_000.0,
        kill_ms: 4200.0,
    },
    Shape {
        name: "classic-off",
        label: "Classic, protection off",
        kernel: "7.3.4 hotset",
        lru_gen: "n",
        on: Some("0"),
        resident: 0.61,
        read_ms: 275.0,
        scans: 1_690_000.0,
        kill_ms: 4100.0,
    },
    Shape {
        name: "classic-on",
        label: "Classic, protection on",
        kernel: "7.3.4 hotset",
        lru_gen: "n",
        on: Some("1"),
        resident: 0.985,
        read_ms: 21.0,
        scans: 1_100_000.0,
        kill_ms: 310.0,
    },
    Shape {
        name: "mglru-vanilla",
        label: "MGLRU, vanilla",
        kernel: "7.3.4 vanilla",
        lru_gen: "y",
        on: None,
        resident: 0.49,
        read_ms: 630.0,
        scans: 1_200_000.0,
        kill_ms: 3900.0,
    },
    Shape {
        name: "mglru-off",
        label: "MGLRU, protection off",
        kernel: "7.3.4 hotset",
        lru_gen: "y",
        on: Some("0"),
        resident: 0.5,
        read_ms: 620.0,
        scans: 1_210_000.0,
        kill_ms: 4000.0,
    },
    Shape {
        name: "mglru-on",
        label: "MGLRU, protection on",
        kernel: "7.3.4 hotset",
        lru_gen: "y",
        on: Some("1"),
        resident: 0.96,
        read_ms: 27.0,
        scans: 650_000.0,
        kill_ms: 350.0,
    },
];

pub const PLAN: &str = include_str!("plan.json");

pub fn run() -> Run {
    let plan: Plan = serde_json::from_str(PLAN).unwrap();
    let arms = SHAPES.iter().map(|s| Arm {
        name: s.name.into(),
        label: s.label.into(),
        kernel: s.kernel.into(),
        image: Some(Image {
            sha256: "0123456789abcdef".repeat(4),
            flavour: "foreign".into(),
            patches: vec!["0001-le9uo.patch".into()],
            patches_digest: "feedbeefcafe".into(),
            ..Image::default()
        }),
        baseline: Some(format!("{}-vanilla", s.name.split('-').next().unwrap())),
        settings: settings(s),
        point: None,
    });
    Run {
        schema: SCHEMA,
        experiment: "three-workers".into(),
        title: "Three workers: does the probe's file stay in memory?".into(),
        about: "Three workers press on memory at once:\n\n\
                1. **hogs** take anonymous memory without end, as `tail /dev/zero` does;\n\
                2. a *stream* reads a huge file for ever;\n\
                3. the *probe* reads a moderately large file every second, and is timed.\n\n\
                Before each read the share of the probe's file that is still resident is taken.\n"
            .into(),
        command: "hotset lab run experiments/three-workers.toml --repetitions 3".into(),
        hotset_version: "0.1.0".into(),
        started: 1_795_228_200,
        bed: Bed {
            name: "User-Mode Linux".into(),
            memory_mb: 256,
            cpus: 1,
            zram_mb: 128,
            disk_read_bps: 100_000_000,
            command_line: String::new(),
            jobs: 2,
            host_cpu: "Example CPU at 2.5 GHz".into(),
            host_cpus: 2,
            host_kernel: "6.12.48".into(),
        },
        arms: arms.collect(),
        repetitions: REPETITIONS,
        seed: 7,
        plan,
        source: "title = \"Three workers\"\n# ...\n".into(),
        packages: Vec::new(),
    }
}

fn settings(s: &Shape) -> BTreeMap<String, String> {
    let mut out = BTreeMap::from([(
        "/sys/kernel/mm/lru_gen/enabled".to_string(),
        s.lru_gen.to_string(),
    )]);
    if let Some(on) = s.on {
        out.insert("/proc/sys/vm/workingset_protection".into(), on.into());
        out.insert("/proc/sys/vm/clean_min_ratio".into(), "15".into());
    }
    out
}

pub fn trials() -> Vec<Trial> {
    let mut out = Vec::new();
    for (place, shape) in SHAPES.iter().enumerate() {
        for repetition in 0..REPETITIONS {
            let seed = 7 + u64::from(repetition);
            let random = Random(SplitMix64::new(seed * 1000 + place as u64));
            out.push(trial(shape, repetition, seed, random));
        }
    }
    out
}

fn trial(shape: &Shape, repetition: u32, seed: u64, mut random: Random) -> Trial {
    let calm = calm(&mut random);
    let storm = storm(shape, repetition, &mut random);
    let near = near_oom(shape, &mut random);
    let after = after_oom(shape, &mut random);
    let free = (0..60).map(|i| (400.0 + 500.0 * f64::from(i), random.around(9000.0, 0.6)));
    let gauges = BTreeMap::from([("meminfo.MemFree".to_string(), free.collect())]);
    let kill = Event {
        t_ms: near.end_ms - 5.0,
        name: "oom-kill".into(),
        detail: "hog".into(),
    };
    let mut back = settings(shape);
    let generations = if shape.lru_gen == "y" {
        "0x0007\n"
    } else {
        "0x0000\n"
    };
    back.insert("/sys/kernel/mm/lru_gen/enabled".into(), generations.into());
    let mut out = Trial {
        schema: SCHEMA,
        arm: shape.name.into(),
        repetition,
        seed,
        outcome: Outcome::Ok,
        release: format!("7.3.4-{}", shape.kernel.split(' ').next_back().unwrap()),
        mem_total_kb: 243_912,
        boot_s: random.around(0.5, 0.1),
        wall_s: random.around(34.0, 0.05),
        settings: back,
        scenes: vec![calm, storm, near, after],
        events: vec![kill],
        gauges,
        console_tail: vec![],
    };
    if shape.name == "mglru-off" && repetition == 1 {
        let message = "Kernel panic - not syncing: System is deadlocked on memory";
        out.outcome = Outcome::Panic {
            message: message.into(),
        };
        out.scenes.truncate(2);
        out.events.clear();
        out.console_tail = vec![
            "\u{1b}[31moom-kill:constraint=CONSTRAINT_NONE,nodemask=(null)\u{1b}[0m".into(),
            "Out of memory and no killable processes... <init> & \"hog\"".into(),
            message.into(),
        ];
    }
    out
}

fn scene(name: &str, begin_ms: f64, end_ms: f64) -> SceneRecord {
    SceneRecord {
        name: name.into(),
        begin_ms,
        end_ms,
        ..SceneRecord::default()
    }
}

fn count(scene: &mut SceneRecord, name: &str, value: f64) {
    scene.counters.insert(name.into(), value.round());
}

fn observe(scene: &mut SceneRecord, name: &str, t_ms: f64, value: f64) {
    let series = scene.observations.entry(name.into()).or_default();
    series.push((round(t_ms), value));
}

fn calm(random: &mut Random) -> SceneRecord {
    let mut out = scene("calm", 500.0, 5500.0);
    for second in 0..5 {
        let t = 600.0 + 1000.0 * f64::from(second);
        observe(&mut out, "probe.resident", t, 1.0);
        observe(&mut out, "probe.read_ms", t, random.around(18.0, 0.1));
    }
    count(&mut out, "vmstat.allocstall_normal", 0.0);
    count(&mut out, "vmstat.allocstall_movable", 0.0);
    count(&mut out, "vmstat.pgscan_direct", 0.0);
    out
}

fn storm(shape: &Shape, repetition: u32, random: &mut Random) -> SceneRecord {
    let mut out = scene("exhaustion", 5500.0, 25_500.0);
    for second in 0..20 {
        let t = 5600.0 + 1000.0 * f64::from(second);
        let settled = if second < 3 { 1.0 } else { shape.resident };
        let resident = random.around(settled, 0.04).min(1.0);
        observe(&mut out, "probe.resident", t, resident);
        let spike = if second % 9 == 7 { 4.0 } else { 1.0 };
        observe(
            &mut out,
            "probe.read_ms",
            t,
            random.around(shape.read_ms * spike, 0.3),
        );
    }
    // The second reader finishes only one read on vanilla.
    if shape.name != "classic-off" || repetition == 0 {
        observe(
            &mut out,
            "late.read_ms",
            20_000.0,
            random.around(shape.read_ms * 9.0, 0.2),
        );
    }
    let scans = random.around(shape.scans, 0.15);
    count(&mut out, "vmstat.pgscan_direct", scans);
    count(&mut out, "vmstat.allocstall_normal", scans / 400.0);
    count(&mut out, "vmstat.allocstall_movable", scans / 900.0);
    if shape.on.is_some() {
        let held = if shape.on == Some("1") {
            scans / 7.0
        } else {
            0.0
        };
        count(&mut out, "vmstat.workingset_protected_clean", held);
    }
    out
}

fn near_oom(shape: &Shape, random: &mut Random) -> SceneRecord {
    let kill = random.around(shape.kill_ms, 0.2);
    let mut out = scene("near-oom", 25_500.0, 25_600.0 + kill);
    observe(&mut out, "oom.kill_ms", 25_590.0 + kill, kill);
    observe(
        &mut out,
        "probe.read_ms",
        25_595.0 + kill,
        round(kill * 0.8),
    );
    count(&mut out, "vmstat.oom_kill", 1.0);
    out
}

fn after_oom(shape: &Shape, random: &mut Random) -> SceneRecord {
    let mut out = scene("after-oom", 30_000.0, 33_000.0);
    let cold = if shape.on == Some("1") { 1.3 } else { 9.0 };
    for second in 0..3 {
        let slow = if second == 0 { cold } else { 1.0 };
        let t = 30_100.0 + 1000.0 * f64::from(second);
        observe(
            &mut out,
            "probe.read_ms",
            t,
            random.around(18.0 * slow, 0.1),
        );
    }
    out
}
