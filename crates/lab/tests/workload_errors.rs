//! Errors in the workers of experiment files: app cycles, page accesses and databases.
use lab::experiment::{Changes, Devices, Experiment};
use protocol::spec::Task;
use protocol::work::Work;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/replacement");
    folder.join(format!("{name}.toml"))
}

fn load(name: &str, set: &[&str]) -> Result<Experiment, String> {
    let changes = Changes {
        preset: None,
        set: set.iter().map(|set| set.to_string()).collect(),
    };
    Experiment::load(&file(name), &changes).map_err(|broken| broken.to_string())
}

#[test]
fn errors_of_an_app_cycle_name_their_fields() {
    let apps = "workers.apps.does.app-cycle";
    for (set, wanted) in [
        (format!("{apps}.apps=1"), "2 to 200"),
        (format!("{apps}.iterations=0"), "iterations"),
        (format!("{apps}.warm_share=1.5"), "a share, 0 to 1"),
        (format!("{apps}.memory=\"0%\""), "above 0"),
        (format!("{apps}.media=\"none\""), "[files] has no"),
        ("files.apps=\"1MiB\"".into(), "expected at least"),
        (
            format!("{apps}.killer={{ psi_partial_stall_ms = 2000 }}"),
            "the window is a second",
        ),
    ] {
        let error = load("app-cycle", &[&set]).expect_err(&set);
        assert!(error.contains(wanted), "{set}: {error}");
    }
}

#[test]
fn errors_of_accesses_name_their_fields() {
    let scan = "workers.file-once.does.access";
    for (set, wanted) in [
        (format!("{scan}.requests=0"), "1 to 67108864"),
        (
            format!("{scan}.rule={{ hot-and-scan = {{ hot = \"16MiB\", scan = \"1GiB\", share = 0.5 }} }}"),
            "expected at least",
        ),
        (
            format!("{scan}.rule={{ hot-and-scan = {{ hot = \"16MiB\", scan = \"64MiB\", share = 1.0 }} }}"),
            "below 1",
        ),
        (
            format!("{scan}.by={{ mapped = {{ file = \"none\" }} }}"),
            "[files] has no",
        ),
    ] {
        let error = load("scan", &[&set]).expect_err(&set);
        assert!(error.contains(wanted), "{set}: {error}");
    }
    let recorded = "workers.recorded-pread-25.does.access.rule.recorded";
    for (set, wanted) in [
        (
            format!("{recorded}.trace=\"../a.csv\""),
            "lies beside the experiment's",
        ),
        (format!("{recorded}.pages=0"), "1 to 67108864 pages"),
        (format!("{recorded}.pages=9999"), "expected at least"),
    ] {
        let error = load("model-held", &[&set]).expect_err(&set);
        assert!(error.contains(wanted), "{set}: {error}");
    }
}

#[test]
fn errors_of_a_database_name_their_fields() {
    let worker = "workers.sqlite";
    for (set, wanted) in [
        (format!("{worker}.does.look-up.look_ups=0"), "1 to 67108864"),
        (format!("{worker}.cgroup=\"a b\""), "a cgroup's name"),
        (
            format!("{worker}.memory_max=\"16MiB\""),
            "another memory_max",
        ),
        (
            "workers.redb.does.look-up.mapped=true".into(),
            "redb maps no files",
        ),
        (
            "workers.make-redb.does.make-database.engine=\"sqlite\"".into(),
            "an engine has one database",
        ),
        (
            "workers.make-redb.does.make-database.engine=\"lmdb\"".into(),
            "lmdb",
        ),
        (
            "workers.make-redb.does.make-database.size=\"4GiB\"".into(),
            "machine.scratch_mb",
        ),
        ("machine.scratch_mb=0".into(), "no disk for them"),
        ("workers.copy.count=2".into(), "a worker has one copy"),
    ] {
        let error = load("indexed-db", &[&set]).expect_err(&set);
        assert!(error.contains(wanted), "{set}: {error}");
    }
}

#[test]
fn errors_of_database_workers_name_the_missing_part() {
    let text = include_str!("data/database.toml");
    let changes = Changes {
        preset: None,
        set: Vec::new(),
    };
    let parse = |text: &str| Experiment::parse(Path::new("database.toml"), text, &changes);
    parse(text).unwrap();
    for (from, to, wanted) in [
        (
            "does.make-database = { engine = \"redb\", size = \"12MiB\" }",
            "does.names = {}",
            "no worker makes a database of this engine",
        ),
        (
            "does.tree = { files = 100, size = \"20KiB\" }",
            "does.names = {}",
            "no worker writes a tree",
        ),
        (
            "[workers.redb]\ncgroup = \"db\"\nmemory_max = \"6MiB\"",
            "[workers.redb]",
            "its counters are its cgroup's",
        ),
        (
            "[workers.redb]\ncgroup",
            "[workers.redb]\nown_cgroup = true\ncgroup",
            "cannot share another",
        ),
        ("size = \"12MiB\"", "size = \"1kB\"", "at least 1 MiB"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = parse(&text.replace(from, to))
            .expect_err(wanted)
            .to_string();
        assert!(error.contains(wanted), "{from}: {error}");
    }
}

#[test]
fn only_experiments_with_a_database_need_the_engines() {
    assert!(load("indexed-db", &[]).unwrap().has_database());
    assert!(!load("scan", &[]).unwrap().has_database());
}

#[test]
fn an_arm_may_have_swap_of_its_own_and_the_work_stays_the_same() {
    let experiment = load("app-cycle", &[]).unwrap();
    let devices = Devices {
        data: "/dev/ubda",
        scratch: "/dev/ubdb",
        root: "/dev/ubdc",
    };
    let spec = |name: &str| {
        let arm = experiment.arms.iter().find(|arm| arm.name == name).unwrap();
        experiment.spec(arm, 1, &devices)
    };
    let (usual, twice, none) = (spec("classic"), spec("classic-twice"), spec("classic-none"));
    assert_eq!((usual.zram_mb, twice.zram_mb, none.zram_mb), (64, 128, 0));
    assert_eq!(usual.task, none.task);
    let Task::Scenes { workload } = usual.task else {
        panic!("no workload")
    };
    let Work::AppCycle(cycle) = &workload.workers["apps"].does else {
        panic!("no app cycle")
    };
    // 1.6 to 2 times as much as the machine has.
    let all = cycle.memories().iter().sum::<u64>() + cycle.file_bytes() + cycle.system.bytes();
    let times = all as f64 / f64::from(256 << 20);
    assert!((1.6..2.0).contains(&times), "{times}");
}

#[test]
fn a_comparison_goes_with_its_arms() {
    let mut experiment = load("app-cycle", &[]).unwrap();
    let all = experiment.plan.comparisons.len();
    let names = ["classic", "mglru"].map(String::from);
    experiment.only(&names).unwrap();
    let left = &experiment.plan.comparisons;
    assert!(!left.is_empty() && left.len() < all);
    assert!(left.iter().all(|comparison| comparison.to == ["mglru"]));
    let error = load("app-cycle", &["comparisons=[{ title = \"t\", source = \"s\", scene = \"cycle\", from = \"none\", to = [\"mglru\"], rows = [] }]"]);
    assert!(error.unwrap_err().contains("no arm is called \"none\""));
}
