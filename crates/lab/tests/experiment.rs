//! Experiment files: their reading, their presets, `--set`, and the orders of a guest.
use lab::experiment::{Broken, Changes, Devices, Experiment, Lru};
use protocol::size::Size;
use protocol::spec::Task;
use protocol::work::Work;
use std::path::Path;

/// A valid experiment, which tests break.
const GOOD: &str = include_str!("data/good.toml");

fn load(preset: Option<&str>, set: &[&str]) -> Result<Experiment, Broken> {
    let changes = Changes {
        preset: preset.map(Into::into),
        set: set.iter().map(|set| set.to_string()).collect(),
    };
    Experiment::parse(Path::new("good.toml"), GOOD, &changes)
}

fn devices(data: &str) -> Devices<'_> {
    Devices {
        data,
        scratch: "/dev/ubdb",
        root: "/dev/ubdc",
    }
}

#[test]
fn a_file_is_read_whole() {
    let experiment = load(None, &[]).unwrap();
    assert_eq!(experiment.name, "good");
    assert_eq!(experiment.presets, ["small", "large"]);
    assert_eq!((experiment.repetitions, experiment.seed), (3, 7));
    assert_eq!(experiment.machine.silent_s, 180, "a default");
    assert_eq!(
        experiment.arms[0].label, "classic",
        "the name stands in for a label"
    );
    assert_eq!(experiment.arms[1].lru, Some(Lru::Mglru));
    let knobs = Experiment::knobs(&experiment.arms[1]);
    let knobs: Vec<_> = knobs
        .iter()
        .map(|k| (k.path.as_str(), k.value.as_str()))
        .collect();
    assert_eq!(
        knobs,
        [
            ("/sys/kernel/mm/lru_gen/enabled", "7"),
            ("/proc/sys/vm/swappiness", "100"),
            ("/proc/sys/vm/overcommit_memory", "1"),
            ("/proc/sys/vm/panic_on_oom", "0"),
        ],
        "in the file's order"
    );
}

#[test]
fn shares_become_bytes_before_a_guest_sees_them() {
    let experiment = load(None, &[]).unwrap();
    let spec = experiment.spec(&experiment.arms[0], 11, &devices("/dev/ubda"));
    assert_eq!((spec.seed, spec.zram_mb, spec.sample_ms), (11, 64, 200));
    assert_eq!(spec.disk.read_bps, 100 << 20);
    let Task::Scenes { workload } = &spec.task else {
        panic!("{spec:?}")
    };
    let quarter = 50 << 20;
    match &workload.workers["hog"].does {
        Work::Hog(hog) => assert_eq!(hog.size, Size::Bytes(quarter)),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        workload.workers["probe"].memory_max,
        Size::Bytes(2 * quarter)
    );
    assert_eq!(experiment.file_sizes()["probe"], 20 << 20);
    assert_eq!(experiment.file_sizes()["huge"], 64 << 20);
    let json = serde_json::to_string(&spec).unwrap();
    assert!(!json.contains('%'), "{json}");
    assert_eq!(
        serde_json::from_str::<protocol::spec::GuestSpec>(&json).unwrap(),
        spec
    );
}

#[test]
fn presets_merge_into_the_file() {
    let small = load(Some("small"), &[]).unwrap();
    assert_eq!((small.repetitions, small.machine.memory_mb), (1, 128));
    assert_eq!(
        small.machine.zram_mb, 64,
        "a field that a preset does not name stays"
    );
    match &small.workers["hog"].does {
        Work::Hog(hog) => {
            assert_eq!(hog.size, Size::Bytes(64 << 20));
            assert_eq!(hog.fill, protocol::work::Fill::Mixed, "also deep down");
        }
        other => panic!("{other:?}"),
    }
    let large = load(Some("large"), &[]).unwrap();
    assert_eq!(large.files["probe"], Size::Percent(14.0));
    assert_eq!(large.files["huge"], Size::Bytes(64 << 20));
}

#[test]
fn an_unknown_preset_is_an_error_that_lists_the_known_ones() {
    let message = load(Some("huge"), &[]).unwrap_err().to_string();
    assert_eq!(
        message,
        "good.toml: presets: no preset is called \"huge\"; there are small, large"
    );
}

#[test]
fn the_command_line_comes_last() {
    let set = [
        "machine.memory_mb=96",
        "files.probe=20%",
        "title=Another",
        "machine.zram_mb = 0",
    ];
    let experiment = load(Some("small"), &set).unwrap();
    assert_eq!(
        (experiment.machine.memory_mb, experiment.machine.zram_mb),
        (96, 0)
    );
    assert_eq!(experiment.files["probe"], Size::Percent(20.0));
    assert_eq!(experiment.title, "Another");
}

#[test]
fn errors_of_the_command_line_name_set_and_its_line() {
    for (set, expected) in [
        (
            vec!["repetitions=2", "machine.memory_mb=many"],
            "--set:1: machine.memory_mb: \"many\": expected a whole number",
        ),
        (
            vec!["machine.memory_gb=1"],
            "--set:1: machine.memory_gb: unknown field `memory_gb`",
        ),
        (
            vec!["repetitions=0"],
            "--set:1: repetitions: expected 1 to 1000",
        ),
        (vec!["seed=1", "repetitions"], "--set:1:"),
    ] {
        let message = load(None, &set).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{set:?}: {message}");
        let last = set.last().unwrap().split('=').next().unwrap();
        assert!(
            message.contains(&format!("1 | {last}")),
            "quotes the line: {message}"
        );
    }
}

#[test]
fn fewer_arms_keep_only_the_promises_that_they_suffice_for() {
    let mut experiment = load(None, &[]).unwrap();
    experiment.only(&["mglru".into()]).unwrap();
    assert_eq!(experiment.arms.len(), 1);
    assert_eq!(experiment.arms[0].baseline, None);
    assert!(
        experiment.plan.promises.is_empty(),
        "its baseline does not run"
    );
    let message = experiment
        .only(&["classic".into()])
        .unwrap_err()
        .to_string();
    assert_eq!(message, "no arm is called \"classic\"; there are mglru");
}

const SWEEPS: &str = r#"
[[sweeps]]
name = "old"
kernel = "vanilla"
knob = "vm.swappiness"
values = [0, 60]

[[sweeps]]
name = "new"
label = "MGLRU"
kernel = "series"
lru = "mglru"
knob = "vm.swappiness"
values = [0, 60]
knobs = { "vm.overcommit_memory" = 1 }
baseline = "old"

[[curves]]
title = "Share"
scene = "pressure"
metric = "vmstat.a/(vmstat.a+vmstat.b)"
statistic = "delta"
x = "vm.swappiness"

[[promises]]
title = "as the old"
series = ["new"]
scene = "pressure"
metric = "vmstat.a"
statistic = "delta"
relative_to = { series = "old" }
at_most = 1.15

[presets.small]
"#;

fn with_sweeps(change: (&str, &str)) -> Result<Experiment, Broken> {
    let sweeps = SWEEPS.replace(change.0, change.1);
    assert!(change.0 == change.1 || sweeps != SWEEPS, "{change:?}");
    let text = GOOD.replace("\n[presets.small]\n", &sweeps);
    Experiment::parse(Path::new("good.toml"), &text, &Changes::default())
}

#[test]
fn a_sweep_is_an_arm_for_each_value() {
    let mut experiment = with_sweeps(("", "")).unwrap();
    let names: Vec<&str> = experiment.arms.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(
        names,
        ["classic", "mglru", "old-0", "old-60", "new-0", "new-60"]
    );
    let arm = &experiment.arms[5];
    assert_eq!(arm.label, "MGLRU, 60");
    assert_eq!(arm.baseline.as_deref(), Some("old-60"));
    let point = arm.point.as_ref().unwrap();
    assert_eq!((point.series.as_str(), point.x), ("new", 60.0));
    let knobs = Experiment::knobs(arm);
    let written: Vec<_> = knobs.iter().map(|k| (&*k.path, &*k.value)).collect();
    let expected = [
        ("/sys/kernel/mm/lru_gen/enabled", "7"),
        ("/proc/sys/vm/overcommit_memory", "1"),
        ("/proc/sys/vm/swappiness", "60"),
    ];
    assert_eq!(written, expected);

    // A series' name stands for its arms; half a series promises nothing.
    let mut half = experiment.clone();
    half.only(&["new".into(), "old-0".into()]).unwrap();
    let names: Vec<&str> = half.arms.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["old-0", "new-0", "new-60"]);
    assert!(half.plan.promises.is_empty(), "{:?}", half.plan.promises);
    experiment.only(&["new".into(), "old".into()]).unwrap();
    assert_eq!(experiment.plan.promises.len(), 1);
}

#[test]
fn a_machine_of_another_size_has_everything_in_proportion() {
    let swept = "knob = \"vm.swappiness\"\nvalues = [0, 60]";
    let sizes = "knob = \"machine.memory_mb\"\nvalues = [200, 800]";
    let mut experiment = with_sweeps((swept, sizes)).unwrap();
    experiment.machine.scratch_mb = 64;
    let named = |name: &str| experiment.arms.iter().find(|arm| arm.name == name).unwrap();
    let (small, large) = (named("old-200"), named("old-800"));
    assert_eq!(Experiment::knobs(large), []);
    let (small, grown) = (experiment.of(small), experiment.of(large));
    assert_eq!(grown.machine.zram_mb, 4 * small.machine.zram_mb);
    assert_eq!(grown.machine.scratch_mb, 256);
    assert_eq!(grown.file_sizes()["probe"], 4 * small.file_sizes()["probe"]);
    // A size in bytes stays what it is.
    assert_eq!(grown.file_sizes()["huge"], small.file_sizes()["huge"]);
    let spec = grown.spec(large, 1, &devices("/dev/ubda"));
    assert_eq!(spec.disk.read_bps, 400 << 20);
}

#[test]
fn errors_of_sweeps_and_series_name_their_fields() {
    for (replace, with, field, message) in [
        (
            "knob = \"vm.swappiness\"\nvalues = [0, 60]",
            "knob = \"machine.memory_mb\"\nvalues = [8]",
            "sweeps[0].values",
            "expected 32 to 65536",
        ),
        (
            "knob = \"vm.swappiness\"\nvalues = [0, 60]",
            "knob = \"machine.cpus\"\nvalues = [100]",
            "sweeps[0].values",
            "expected 1 to 64",
        ),
        (
            "series = [\"new\"]",
            "series = [\"knew\"]",
            "promises[1].series[0]",
            "no series is called \"knew\"; there are old, new",
        ),
        (
            "{ series = \"old\" }",
            "{ series = \"odd\" }",
            "promises[1].relative_to.series",
            "no series is called",
        ),
        (
            "baseline = \"old\"",
            "baseline = \"odd\"",
            "sweeps[1].baseline",
            "no arm is called \"odd-0\"",
        ),
        (
            "values = [0, 60]\n\n",
            "values = [0, 0]\n\n",
            "sweeps[0].name",
            "another arm is called \"old-0\"",
        ),
        (
            "a/(vmstat.a",
            "a//(vmstat.a",
            "curves[0].metric",
            "a ratio of two",
        ),
        (
            "at_most = 1.15",
            "at_most = 1.15\nwidth = 1",
            "promises[1]",
            "judge = \"interval\"",
        ),
        (
            "at_most = 1.15",
            "at_most = 1.15\njudge = \"interval\"",
            "promises[1]",
            "expected a width",
        ),
        (
            "at_most = 1.15",
            "monotonic = true",
            "promises[1].relative_to.series",
            "rises by itself",
        ),
    ] {
        let broken = with_sweeps((replace, with)).unwrap_err();
        assert_eq!(broken.field, field, "{broken}");
        assert!(broken.message.contains(message), "{broken}");
        assert!(broken.line > 0, "{broken}");
    }
}

/// The good file with a daemon for its first arm and a disk to write to.
fn with_daemon(work: &str, machine: &str, daemon: &str) -> Result<Experiment, Broken> {
    let text = format!(
        "title = \"t\"\n[machine]\n{machine}\n[workers.w]\ndoes.{work}\n[[scenes]]\nname = \"s\"\n\
         seconds = 1\nrun = [\"w\"]\n[[arms]]\nname = \"a\"\nkernel = \"vanilla\"\n{daemon}\n"
    );
    Experiment::parse(Path::new("x.toml"), &text, &Changes::default())
}

#[test]
fn an_arm_may_have_the_daemon_and_a_disk_to_write_to() {
    let churn = "churn = { size = \"10%\" }";
    let machine = "memory_mb = 100\nscratch_mb = 64\ndisk_write = \"50MB\"";
    let daemon = "daemon = { config = { aggressiveness = 3, free_pages = { enabled = false } } }";
    let experiment = with_daemon(churn, machine, daemon).unwrap();
    let arm = &experiment.arms[0];
    let text = arm.daemon.as_ref().unwrap().text();
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table["aggressiveness"].as_integer(), Some(3));
    assert_eq!(table["log"].as_str(), Some("stderr"));
    assert_eq!(table["status"]["socket"].as_str(), Some(""));
    assert_eq!(table["free_pages"]["enabled"].as_bool(), Some(false));
    let spec = experiment.spec(arm, 1, &devices(""));
    assert!(spec.daemon.unwrap().start);
    let scratch = spec.scratch.unwrap();
    assert_eq!(
        (scratch.device.as_str(), scratch.write_bps),
        ("/dev/ubdb", 50 << 20)
    );
    let protocol::spec::Task::Scenes { workload } = spec.task else {
        panic!("not the task of running scenes")
    };
    let protocol::work::Work::Churn(churned) = &workload.workers["w"].does else {
        panic!("not a churn")
    };
    assert_eq!(churned.size.bytes(), (100 << 20) / 10);
    let without = with_daemon(churn, machine, "").unwrap();
    assert_eq!(without.spec(&without.arms[0], 1, &devices("")).daemon, None);
}

#[test]
fn errors_of_daemons_and_of_disks_name_their_fields() {
    let kill = "kill-daemon = { times = 2, least_ms = 1, most_ms = 2, knobs = [] }";
    for (work, machine, daemon, field) in [
        (
            "churn = { size = \"1MiB\" }",
            "",
            "",
            "workers.w.does.churn",
        ),
        (
            "churn = { size = 0 }",
            "scratch_mb = 64",
            "",
            "workers.w.does.churn.size",
        ),
        ("names = {}", "scratch_mb = 3", "", "machine.scratch_mb"),
        (
            "names = {}",
            "disk_write = \"3%\"",
            "",
            "machine.disk_write",
        ),
        (kill, "", "", "workers.w.does.kill-daemon"),
    ] {
        let broken = with_daemon(work, machine, daemon).unwrap_err();
        assert_eq!(broken.field, field, "{broken}");
        assert!(broken.line > 0, "{broken}");
    }
    with_daemon(kill, "", "daemon = { start = false }").unwrap();
    let unknown = with_daemon(kill, "", "daemon = { begin = false }").unwrap_err();
    assert!(unknown.message.contains("begin"), "{unknown}");
}

#[test]
fn an_arm_of_another_size_has_the_same_work() {
    let text = GOOD.replace("lru = \"classic\"", "lru = \"classic\"\nmemory_mb = 180");
    let experiment = Experiment::parse(Path::new("good.toml"), &text, &Changes::default()).unwrap();
    assert_eq!(experiment.arms[0].memory_mb, Some(180));
    assert_eq!(experiment.file_sizes()["probe"], 20 << 20);
}
