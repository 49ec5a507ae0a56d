//! The journal of originals and the actuators, on a root of ordinary files.
use hotsetd::journal::{Journal, Value};
use hotsetd::knobs::{Fault, GivenBack, Knobs, Outcome, WATERMARK_SCALE_FACTOR};
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

    fn knobs(&self) -> Knobs {
        let journal = Journal::open(&self.journal(), "boot").unwrap();
        Knobs::new(self.root.path(), journal, false)
    }

    fn wsf(&self) -> PathBuf {
        self.root.path().join("proc/sys/vm/watermark_scale_factor")
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn value(words: &str) -> Value {
    Value::of(format_args!("{words}"))
}

#[test]
fn a_write_is_undone_at_exit() {
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
    let mut told = Vec::new();
    knobs.give_back(|what| told.push(what));
    assert_eq!(told.len(), 2);
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
    // Neither overwritten ...
    let found = value("333");
    let tried = knobs.set(WATERMARK_SCALE_FACTOR, Some("120"), "150");
    assert_eq!(tried, Ok(Outcome::Yielded { found }));
    // ... nor given another value at the end.
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
    assert_eq!(knobs.look(WATERMARK_SCALE_FACTOR, &found), Ok(true));
    knobs
        .set(WATERMARK_SCALE_FACTOR, Some("333"), "400")
        .unwrap();
    drop(knobs);
    // Killed here; the next one gives back.
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
    let mut told = Vec::new();
    fixture.knobs().give_back(|what| told.push(what));
    assert!(matches!(told[..], [GivenBack::Restored { .. }]), "{told:?}");
    assert_eq!(read(&fixture.wsf()), "10\n");
}

#[test]
fn a_value_of_ours_that_was_superseded_is_the_administrators_now() {
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
    assert!(matches!(tried, Err(Fault::Journal(_))), "{tried:?}");
    assert_eq!(read(&fixture.wsf()), "10\n");
}

#[test]
fn a_knob_that_is_not_there_or_empty_is_told_of() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    assert_eq!(
        knobs.set("vm.no_such_thing", None, "1"),
        Err(Fault::Missing)
    );
    std::fs::write(fixture.wsf(), "").unwrap();
    let tried = knobs.set(WATERMARK_SCALE_FACTOR, None, "1");
    assert!(matches!(tried, Err(Fault::Read(_))), "{tried:?}");
    assert!(!fixture.journal().exists());
}

#[test]
fn a_dry_run_writes_neither_knob_nor_journal() {
    let fixture = Fixture::new();
    let journal = Journal::open(&fixture.journal(), "boot").unwrap();
    let mut knobs = Knobs::new(fixture.root.path(), journal, true);
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
fn back_at_its_original_a_knob_is_nobodys() {
    let fixture = Fixture::new();
    let mut knobs = fixture.knobs();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "120").unwrap();
    knobs.set(WATERMARK_SCALE_FACTOR, None, "10").unwrap();
    assert!(knobs.journal().entries().is_empty());
}

#[test]
fn names_are_those_of_sysctl_or_paths() {
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
fn of_a_choice_what_was_chosen_is_given_back() {
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
    // As the kernel shows it.
    std::fs::write(&path, "always madvise [never]\n").unwrap();
    knobs.give_back(|_| {});
    assert_eq!(read(&path), "madvise\n");
}

/// A nice value that is set where it is read: in the thread's line of /proc.
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
    let knob = hotsetd::kswapd::knob(0);
    let mut knobs = fixture.knobs().with_renice(renice_in_a_file);
    let written = knobs.set(knob.as_str(), None, "-10");
    let from = value("0");
    assert_eq!(written, Ok(Outcome::Written { from }));
    assert_eq!(read(&thread.join("stat")), kswapd(27, -10));
    // Killed here; the next one finds the journal.
    drop(knobs);
    let mut next = fixture.knobs().with_renice(renice_in_a_file);
    let mut told = Vec::new();
    next.give_back(|what| told.push(what));
    assert!(matches!(told[..], [GivenBack::Restored { .. }]), "{told:?}");
    assert_eq!(read(&thread.join("stat")), kswapd(27, 0));
    // What the administrator gave it meanwhile stays.
    let mut knobs = fixture.knobs().with_renice(renice_in_a_file);
    knobs.set(knob.as_str(), None, "-10").unwrap();
    std::fs::write(thread.join("stat"), kswapd(27, -15)).unwrap();
    knobs.give_back(|what| told.push(what));
    assert!(matches!(told[1], GivenBack::Left { .. }), "{told:?}");
    assert_eq!(read(&thread.join("stat")), kswapd(27, -15));
}

#[test]
fn the_ids_of_another_root_are_not_reniced() {
    let fixture = Fixture::new();
    // This very process: a kswapd that must not be touched.
    let pid = std::process::id();
    let thread = fixture.root.path().join(format!("proc/{pid}"));
    std::fs::create_dir_all(&thread).unwrap();
    std::fs::write(thread.join("stat"), kswapd(pid, 0)).unwrap();
    let knob = hotsetd::kswapd::knob(0);
    let written = fixture.knobs().set(knob.as_str(), None, "-10");
    let refused = rustix::io::Errno::ROFS;
    assert_eq!(written, Err(Fault::Write(refused)));
}
