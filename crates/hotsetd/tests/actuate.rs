//! The journal of originals, the knobs and the worker, on a root of ordinary files.
use hotsetd::actuate::apply::Actuators;
use hotsetd::actuate::error::Error;
use hotsetd::actuate::journal::{Journal, Value};
use hotsetd::actuate::knob_report::Now;
use hotsetd::actuate::knobs::{GivenBack, KnobWriter, Outcome, WATERMARK_SCALE_FACTOR};
use hotsetd::actuate::reclaim_worker::{Job, Worker};
use hotsetd::telemetry::log::Log;
use hotsetd::telemetry::state::State;
use std::path::{Path, PathBuf};

struct Fixture {
    root: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let root = tempfile::tempdir().unwrap();
        let vm = root.path().join("proc/sys/vm");
        std::fs::create_dir_all(&vm).unwrap();
        std::fs::write(vm.join("watermark_scale_factor"), "10\n").unwrap();
        std::fs::write(vm.join("swappiness"), "60\n").unwrap();
        std::fs::write(vm.join("lowmem_reserve_ratio"), "256\t256\t32\t0\t0\n").unwrap();
        Fixture { root }
    }

    fn journal(&self) -> PathBuf {
        self.root.path().join("run/hotset/journal")
    }

    fn knobs(&self) -> KnobWriter {
        let journal = Journal::open(&self.journal(), "boot").unwrap();
        KnobWriter::new(self.root.path(), journal, false)
    }

    fn wsf(&self) -> PathBuf {
        self.root.path().join("proc/sys/vm/watermark_scale_factor")
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn value(text: &str) -> Value {
    Value::of(format_args!("{text}"))
}

#[test]
fn every_written_knob_is_given_back() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    let from = value("10");
    let written = knobs.set(WATERMARK_SCALE_FACTOR, Some("10"), "120");
    assert_eq!(written, Ok(Outcome::Written { from }));
    assert_eq!(read(&fixture.wsf()), "120\n");
    knobs
        .set(WATERMARK_SCALE_FACTOR, Some("120"), "70")
        .unwrap();
    assert_eq!(read(&fixture.wsf()), "70\n", "no rest of the longer value");
    knobs
        .set("vm.lowmem_reserve_ratio", None, "128 128 32 0 0")
        .unwrap();
    let mut outcomes = Vec::new();
    knobs.give_back(|what| outcomes.push(what));
    assert_eq!(outcomes.len(), 2);
    assert_eq!(read(&fixture.wsf()), "10\n");
    let reserve = fixture.root.path().join("proc/sys/vm/lowmem_reserve_ratio");
    assert_eq!(read(&reserve), "256 256 32 0 0\n");
    assert!(!fixture.journal().exists());
}

#[test]
fn a_knob_that_the_administrator_wrote_since_is_left() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "120").unwrap();
    std::fs::write(fixture.wsf(), "333\n").unwrap();
    // The administrator's value is not overwritten ...
    let found = value("333");
    let tried = knobs.set(WATERMARK_SCALE_FACTOR, Some("120"), "150");
    assert_eq!(tried, Ok(Outcome::Yielded { found }));
    // ... and stays at the end.
    knobs.give_back(|_| {});
    assert_eq!(read(&fixture.wsf()), "333\n");
}

#[test]
fn after_yielding_the_administrators_value_is_the_original() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "120").unwrap();
    std::fs::write(fixture.wsf(), "333\n").unwrap();
    let found = knobs.read(WATERMARK_SCALE_FACTOR).unwrap();
    assert_eq!(knobs.observe(WATERMARK_SCALE_FACTOR, &found), Ok(true));
    knobs
        .set(WATERMARK_SCALE_FACTOR, Some("333"), "400")
        .unwrap();
    drop(knobs);
    // The daemon is killed here; the next one gives the knob back.
    fixture.knobs().give_back(|_| {});
    assert_eq!(read(&fixture.wsf()), "333\n");
}

#[test]
fn a_killed_daemons_value_is_given_back_by_the_next() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "120").unwrap();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "300").unwrap();
    drop(knobs);
    let mut outcomes = Vec::new();
    fixture.knobs().give_back(|what| outcomes.push(what));
    assert!(
        matches!(outcomes[..], [GivenBack::Restored { .. }]),
        "{outcomes:?}"
    );
    assert_eq!(read(&fixture.wsf()), "10\n");
}

#[test]
fn a_superseded_value_of_the_daemons_counts_as_the_administrators() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "120").unwrap();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "300").unwrap();
    drop(knobs);
    std::fs::write(fixture.wsf(), "120\n").unwrap();
    fixture.knobs().give_back(|_| {});
    assert_eq!(read(&fixture.wsf()), "120\n");
}

#[test]
fn without_a_journal_nothing_is_written() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    // A file where the journal's folder would have to be.
    std::fs::write(fixture.root.path().join("run"), "").unwrap();
    let tried = knobs.set(WATERMARK_SCALE_FACTOR, None, "120");
    assert!(matches!(tried, Err(Error::Journal(_))), "{tried:?}");
    assert_eq!(read(&fixture.wsf()), "10\n");
}

#[test]
fn a_missing_or_empty_knob_is_an_error_and_is_not_journaled() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    assert_eq!(
        knobs.set("vm.no_such_thing", None, "1"),
        Err(Error::Missing)
    );
    std::fs::write(fixture.wsf(), "").unwrap();
    let tried = knobs.set(WATERMARK_SCALE_FACTOR, None, "1");
    assert!(matches!(tried, Err(Error::Read(_))), "{tried:?}");
    assert!(!fixture.journal().exists());
}

#[test]
fn a_dry_run_writes_neither_knob_nor_journal() {
    let fixture = Fixture::new();
    let journal = Journal::open(&fixture.journal(), "boot").unwrap();
    let mut knobs = KnobWriter::new(fixture.root.path(), journal, true);
    let from = value("10");
    assert_eq!(
        knobs.set(WATERMARK_SCALE_FACTOR, None, "120"),
        Ok(Outcome::Dry { from })
    );
    knobs.give_back(|_| panic!("a dry run has nothing to give back"));
    assert_eq!(read(&fixture.wsf()), "10\n");
    assert!(!fixture.journal().exists());
}

#[test]
fn a_knob_that_is_set_to_its_original_leaves_the_journal() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "120").unwrap();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "10").unwrap();
    assert!(knobs.journal().entries().is_empty());
}

#[test]
fn a_knobs_name_is_a_sysctl_or_a_path() {
    let fixture = Fixture::new();
    let knobs = fixture.knobs();
    let place = |name: &str| {
        let place = knobs.place(name);
        let root = fixture.root.path().to_str().unwrap();
        place.as_str().strip_prefix(root).unwrap().to_owned()
    };
    assert_eq!(place("vm.swappiness"), "/proc/sys/vm/swappiness");
    assert_eq!(
        place("fs.negative-dentry-limit"),
        "/proc/sys/fs/negative-dentry-limit"
    );
    assert_eq!(
        place("net.ipv4.conf.eth0/100.x"),
        "/proc/sys/net/ipv4/conf/eth0.100/x"
    );
    assert_eq!(place("/sys/kernel/mm/x"), "/sys/kernel/mm/x");
}

#[test]
fn the_chosen_one_of_several_values_is_given_back() {
    let fixture = Fixture::new();
    let name = "/sys/kernel/mm/transparent_hugepage/enabled";
    let path = fixture.root.path().join(&name[1..]);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "always [madvise] never\n").unwrap();
    let mut knobs = fixture.knobs();
    let from = value("madvise");
    assert_eq!(
        knobs.set(name, None, "never"),
        Ok(Outcome::Written { from })
    );
    // The value as the kernel shows it.
    std::fs::write(&path, "always madvise [never]\n").unwrap();
    knobs.give_back(|_| {});
    assert_eq!(read(&path), "madvise\n");
}

/// Sets a nice value where it is read: in the thread's line of /proc.
fn renice_in_a_file(root: &Path, pid: u32, nice: i32) -> Result<(), rustix::io::Errno> {
    std::fs::write(root.join(format!("proc/{pid}/stat")), kswapd(pid, nice)).unwrap();
    Ok(())
}

fn kswapd(pid: u32, nice: i32) -> String {
    let priority = 20 + nice;
    format!("{pid} (kswapd0) S 2 0 0 0 -1 2129984 0 0 0 0 0 1 0 0 {priority} {nice} 1 0 9\n")
}

#[test]
fn kswapds_nice_value_is_given_back_after_a_kill() {
    let fixture = Fixture::new();
    let thread = fixture.root.path().join("proc/27");
    std::fs::create_dir_all(&thread).unwrap();
    std::fs::write(thread.join("stat"), kswapd(27, 0)).unwrap();
    let knob = hotsetd::actuate::kswapd_nice::knob(0);
    let mut knobs = fixture.knobs().with_renice(renice_in_a_file);
    let written = knobs.set(knob.as_str(), None, "-10");
    let from = value("0");
    assert_eq!(written, Ok(Outcome::Written { from }));
    assert_eq!(read(&thread.join("stat")), kswapd(27, -10));
    // The daemon is killed here; the next one finds the journal.
    drop(knobs);
    let mut next = fixture.knobs().with_renice(renice_in_a_file);
    let mut outcomes = Vec::new();
    next.give_back(|what| outcomes.push(what));
    assert!(
        matches!(outcomes[..], [GivenBack::Restored { .. }]),
        "{outcomes:?}"
    );
    assert_eq!(read(&thread.join("stat")), kswapd(27, 0));
    // A nice value that the administrator gave meanwhile stays.
    let mut knobs = fixture.knobs().with_renice(renice_in_a_file);
    knobs.set(knob.as_str(), None, "-10").unwrap();
    std::fs::write(thread.join("stat"), kswapd(27, -15)).unwrap();
    knobs.give_back(|what| outcomes.push(what));
    assert!(
        matches!(outcomes[1], GivenBack::Left { .. }),
        "{outcomes:?}"
    );
    assert_eq!(read(&thread.join("stat")), kswapd(27, -15));
}

#[test]
fn the_new_kswapd_of_a_node_that_was_plugged_in_again_gets_its_nice_value() {
    let fixture = Fixture::new();
    let thread = fixture.root.path().join("proc/27");
    std::fs::create_dir_all(&thread).unwrap();
    let mut knobs = fixture.knobs().with_renice(renice_in_a_file);
    let (mut log, mut state) = (Log::to_memory(4), State::new(0.0, 0.0));
    for _ in 0..3 {
        std::fs::write(thread.join("stat"), kswapd(27, 0)).unwrap();
        let mut actuators = Actuators {
            knobs: &mut knobs,
            worker: None,
            log: &mut log,
            state: &mut state,
            tunables: &[],
            seen: policy::Knobs::default(),
            now: Now {
                monotonic_s: 1.0,
                unix_s: 1.0,
            },
        };
        let action = policy::Action::SetKswapdNice { node: 0, nice: -5 };
        actuators.apply(&action, "a test");
        assert_eq!(read(&thread.join("stat")), kswapd(27, -5));
    }
    knobs.give_back(|_| {});
    assert_eq!(read(&thread.join("stat")), kswapd(27, 0));
}

#[test]
fn the_ids_of_another_root_are_not_reniced() {
    let fixture = Fixture::new();
    // This process stands for a kswapd that must not be touched.
    let pid = std::process::id();
    let thread = fixture.root.path().join(format!("proc/{pid}"));
    std::fs::create_dir_all(&thread).unwrap();
    std::fs::write(thread.join("stat"), kswapd(pid, 0)).unwrap();
    let knob = hotsetd::actuate::kswapd_nice::knob(0);
    let written = fixture.knobs().set(knob.as_str(), None, "-10");
    let refused = rustix::io::Errno::ROFS;
    assert_eq!(written, Err(Error::Write(refused)));
}

#[test]
fn a_write_has_no_byte_past_the_values_end() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    for value in ["3000", "120", "7", "1000"] {
        knobs.set(WATERMARK_SCALE_FACTOR, None, value).unwrap();
        assert_eq!(read(&fixture.wsf()), format!("{value}\n"));
    }
}

#[test]
fn a_node_has_one_compaction_at_a_time() {
    let root = tempfile::tempdir().unwrap();
    let node = root.path().join("sys/devices/system/node/node0");
    std::fs::create_dir_all(&node).unwrap();
    let pipe = node.join("compact");
    // Opening a pipe for writing waits for a reader, as a compaction waits for the kernel.
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
    let mut worker = Worker::start(root.path()).unwrap();
    let job = Job::Compact { node: 0 };
    assert!(worker.ask(job));
    for _ in 0..50 {
        assert!(!worker.ask(job));
    }
    assert_eq!(std::fs::read(&pipe).unwrap(), b"1");
}
