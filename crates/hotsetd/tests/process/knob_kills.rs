//! A kill at any moment, 200 times: afterwards every knob has its original value, or the one that
//! the administrator gave it since.
use hotsetd::actuate::journal::Journal;
use hotsetd::actuate::knobs::KnobWriter;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const NAMES: [&str; 3] = [
    "vm.watermark_scale_factor",
    "vm.vfs_cache_pressure",
    "vm.swappiness",
];
const ORIGINALS: [&str; 3] = ["10", "100", "60"];
const TIMES: usize = 200;

/// xorshift (Marsaglia 2003): the same rounds in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn knobs(root: &Path) -> KnobWriter {
    let journal = Journal::open(&root.join("run/hotset/journal"), "boot").unwrap();
    KnobWriter::new(root, journal, false)
}

/// The process that is killed. Like the daemon it gives back the knobs of an earlier one, and then writes
/// knobs as fast as it can.
#[test]
#[ignore = "helper: the child of the test below"]
fn churn() {
    let root = std::env::var("HOTSETD_CHURN_ROOT").expect("set by the test below");
    let root = Path::new(&root);
    let mut knobs = knobs(root);
    knobs.give_back(|_| {});
    let mut random = Random(u64::from(std::process::id()) | 1);
    loop {
        let which = random.below(3) as usize;
        // Values differ in length, so that a write that is cut short shows.
        let to = 11 + random.below(2000);
        let _ = knobs.set(NAMES[which], None, &to.to_string());
        if random.below(20) == 0 {
            knobs.give_back(|_| {});
        }
    }
}

fn start(root: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "knob_kills::churn", "--ignored", "--nocapture"])
        .env("HOTSETD_CHURN_ROOT", root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn file(root: &Path, name: &str) -> std::path::PathBuf {
    root.join("proc/sys").join(name.replace('.', "/"))
}

#[test]
fn a_kill_at_any_moment_leaves_every_knob_restorable() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    std::fs::create_dir_all(root.join("proc/sys/vm")).unwrap();
    for (name, original) in NAMES.iter().zip(ORIGINALS) {
        std::fs::write(file(root, name), format!("{original}\n")).unwrap();
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut changed = 0;
    for round in 0..TIMES {
        let mut child = start(root);
        std::thread::sleep(Duration::from_micros(500 + random.below(20_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = |name: &str| knobs(root).read(name).map(|value| value.to_string());
        let before: Vec<_> = NAMES.iter().map(|name| now(name).unwrap()).collect();
        changed += usize::from(before != ORIGINALS);
        // One time in four the administrator writes a knob before the next start.
        let theirs = (random.below(4) == 0).then(|| random.below(3) as usize);
        if let Some(which) = theirs {
            // A value that the child never writes.
            std::fs::write(file(root, NAMES[which]), "7777\n").unwrap();
        }
        knobs(root).give_back(|_| {});
        for (which, name) in NAMES.iter().enumerate() {
            let found = std::fs::read_to_string(file(root, name)).unwrap();
            let wanted = match theirs {
                Some(other) if other == which => "7777\n".to_owned(),
                _ => format!("{}\n", ORIGINALS[which]),
            };
            // The first line: a kill may come before a disk's file is cut to its new length.
            let found = found.lines().next().map(|line| format!("{line}\n"));
            assert_eq!(
                found,
                Some(wanted),
                "round {round}, {name}, was {before:?} after the kill"
            );
            std::fs::write(file(root, name), format!("{}\n", ORIGINALS[which])).unwrap();
        }
        assert!(!root.join("run/hotset/journal").exists(), "round {round}");
    }
    // The test proves nothing unless some kills come while a knob is set.
    assert!(
        changed > TIMES / 4,
        "only {changed} of {TIMES} kills found a knob changed"
    );
}
