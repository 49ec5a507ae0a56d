//! Damaged texts in place of the kernel's files, of other users' names, of the journal and of the configuration: the
//! daemon never panics, and never writes a knob that it does not own. PROPTEST_CASES sets the number of machines.
use crate::common::FakeMachine;
use crate::fake_process::FakeProcess;
use crate::fixture::{config, Fixture};
use crate::memory::Memory;
use hotsetd::config::file::{self, Place};
use proptest::prelude::*;
use proptest::sample::Index;

/// Where a text is cut and what it has instead: bytes that matter to parsers, and any others.
type Damage = (Index, u8, Vec<u8>);

fn damage() -> impl Strategy<Value = Damage> {
    let tokens: Vec<&[u8]> = vec![
        b"\n",
        b"\t",
        b" ",
        b"\0",
        b") S",
        b"-1",
        b"18446744073709551616",
        b"VmSwap:\t1 kB\n",
        b"[",
        b"\"",
        b"= ",
        b"99999999999999999999999",
        b"\xff\xfe",
        b"0::/../..",
    ];
    let known = proptest::sample::select(tokens).prop_map(<[u8]>::to_vec);
    let other = proptest::collection::vec(any::<u8>(), 0..40);
    (any::<Index>(), 0..3u8, prop_oneof![known, other])
}

/// Cuts the text, writes over it, or puts something in between.
fn damaged(text: &[u8], (at, how, with): &Damage) -> Vec<u8> {
    let at = at.index(text.len() + 1);
    let behind = match how {
        0 => text.len(),
        1 => (at + with.len()).min(text.len()),
        _ => at,
    };
    [&text[..at], with, &text[behind..]].concat()
}

fn harm(machine: &FakeMachine, path: &str, damages: &[Damage]) {
    let path = machine.path(path);
    let mut text = std::fs::read(&path).unwrap();
    for one in damages {
        text = damaged(&text, one);
    }
    std::fs::write(path, text).unwrap();
}

/// A daemon on a machine whose memory a hog has exhausted.
fn exhausted() -> Fixture {
    let machine = FakeMachine::new();
    FakeProcess::new(5000, "hog")
        .memory(400_000_000)
        .write(&machine);
    let memory = Memory::exhausted(&machine);
    Fixture::new(machine, memory, config())
}

const CONFIGURATION: &str = "aggressiveness = 3\ndry_run = false\nverbosity = 4\n[protect]\n\
    workingset_protection = true\nclean_min_ratio = \"2G\"\nlock_mb = 64\n[protect.kill]\n\
    when = \"auto\"\nprotect = [\"sshd\", \"unit:x.service\"]\n[protect.cgroups]\n\
    \"user.slice\" = \"low\"\n";

/// A quarter of the usual number of cases, since each is a daemon of its own.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig {
        failure_persistence: None,
        cases: usual.cases / 4,
        ..usual
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn processes_that_lie_about_themselves_are_read_without_a_panic(
        files in proptest::collection::vec(
            (
                proptest::sample::select(vec!["status", "stat", "cgroup", "oom_score_adj"]),
                damage(),
            ),
            1..8,
        ),
    ) {
        let machine = FakeMachine::new();
        for pid in 5000..5012 {
            FakeProcess::new(pid, "one").memory(u64::from(pid) << 14).write(&machine);
        }
        for (number, (file, one)) in files.iter().enumerate() {
            harm(&machine, &format!("proc/{}/{file}", 5000 + number), std::slice::from_ref(one));
        }
        let memory = Memory::exhausted(&machine);
        let mut fixture = Fixture::new(machine, memory, config());
        // A victim is named within 4 s: some processes are as they were. One that seems to be dying is waited for.
        let named = (0..400).any(|_| {
            fixture.take(1);
            fixture.kills() > 0
        });
        prop_assert!(named);
    }

    #[test]
    fn memory_that_makes_no_sense_moves_no_foreign_knob(
        files in proptest::collection::vec(
            (
                proptest::sample::select(vec!["vmstat", "zoneinfo", "meminfo", "buddyinfo"]),
                damage(),
            ),
            1..6,
        ),
    ) {
        let mut fixture = exhausted();
        let foreign = "proc/sys/vm/dirty_ratio";
        fixture.machine.put(foreign, "20\n");
        fixture.take(20);
        for (file, one) in &files {
            harm(&fixture.machine, &format!("proc/{file}"), std::slice::from_ref(one));
            fixture.steps(5);
            fixture.daemon.step();
        }
        fixture.daemon.stop();
        prop_assert_eq!(fixture.machine.read(foreign), "20\n");
        prop_assert_eq!(fixture.swappiness(), "60");
    }

    #[test]
    fn a_damaged_journal_is_no_obstacle(damages in proptest::collection::vec(damage(), 1..4)) {
        let mut fixture = exhausted();
        fixture.take(60);
        // As after a SIGKILL.
        harm(&fixture.machine, "run/hotset/journal", &damages);
        fixture.restart(config());
        fixture.take(20);
        fixture.daemon.stop();
        // Whatever the journal said, the knob has a number that somebody wrote.
        let found = fixture.swappiness();
        prop_assert!(["0", "60", "200"].contains(&found.as_str()), "{}", found);
    }

    #[test]
    fn a_damaged_configuration_is_read_or_refused(
        damages in proptest::collection::vec(damage(), 0..6),
    ) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("hotsetd.conf");
        let mut text = CONFIGURATION.as_bytes().to_vec();
        for one in &damages {
            text = damaged(&text, one);
        }
        std::fs::write(&path, &text).unwrap();
        let found = file::load(&Place::named(&path));
        let (_, problems) = file::load_valid(&Place::named(&path));
        prop_assert_eq!(problems.is_empty(), found.is_ok());
        // Every error says where.
        for problem in found.as_ref().err().into_iter().flatten() {
            prop_assert!(problem.to_string().contains("hotsetd.conf"), "{}", problem);
        }
        prop_assert!(!damages.is_empty() || found.is_ok(), "{:?}", found.err());
    }
}
