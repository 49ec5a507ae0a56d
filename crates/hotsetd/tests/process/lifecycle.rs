//! Start, signals, the lock and the end of the daemon.
use crate::common::FakeMachine;
use crate::process::{Process, PATIENCE};
use crate::started::{burst, started, status, QUICK};
use std::time::{Duration, Instant};

#[test]
fn sigterm_gives_the_knob_back_and_leaves_no_file() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let mut process = started(&machine, &[]);
    burst(&mut machine, &mut process);
    // A document is served again for a quarter of a second.
    let begun = Instant::now();
    let status = loop {
        let status = status(&machine).unwrap();
        if status.counts.watermark_writes >= 1 {
            break status;
        }
        assert!(begun.elapsed() < PATIENCE, "{status:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.pid, Some(process.id()));
    assert!(!status.actions[0].reason.is_empty());
    process.signal(libc::SIGTERM);
    assert!(process.wait().success(), "{}", process.log());
    assert_eq!(machine.wsf(), 10);
    for left in ["journal", "status.sock", "hotsetd.lock"] {
        assert!(!machine.path("run/hotset").join(left).exists(), "{left}");
    }
}

#[test]
fn a_second_daemon_is_refused_and_a_stale_lock_is_not_in_the_way() {
    let machine = FakeMachine::new();
    let mut first = started(&machine, &[]);
    let mut second = Process::start(machine.root(), &[]);
    assert_eq!(second.wait().code(), Some(3));
    assert!(second.log().contains("hotsetd.lock"), "{}", second.log());
    first.kill();
    assert!(machine.path("run/hotset/hotsetd.lock").exists());
    assert!(machine.path("run/hotset/status.sock").exists());
    started(&machine, &[]);
}

#[test]
fn restore_gives_back_the_knobs_of_a_killed_daemon() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let mut process = started(&machine, &[]);
    burst(&mut machine, &mut process);
    let mut refused = Process::start(machine.root(), &["--restore"]);
    assert_eq!(refused.wait().code(), Some(3), "a daemon is running");
    process.kill();
    assert!(machine.wsf() > 10);
    let mut restore = Process::start(machine.root(), &["--restore"]);
    assert!(restore.wait().success());
    assert_eq!(machine.wsf(), 10);
}

#[test]
fn a_dry_restore_says_what_it_would_give_back_and_writes_nothing() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let mut bare = Process::start(machine.root(), &["--restore", "--dry-run"]);
    assert!(bare.wait().success());
    assert!(!machine.path("run").exists(), "a dry run makes no folder");
    let mut process = started(&machine, &[]);
    burst(&mut machine, &mut process);
    process.kill();
    let raised = machine.wsf();
    let lock = std::fs::read(machine.path("run/hotset/hotsetd.lock")).unwrap();
    let journal = std::fs::read(machine.path("run/hotset/journal")).unwrap();
    let mut dry = Process::start(machine.root(), &["--dry-run", "--restore"]);
    assert!(dry.wait().success(), "{}", dry.log());
    let text = "vm.watermark_scale_factor = 10 would be given back";
    assert!(dry.log().contains(text), "{}", dry.log());
    assert_eq!(machine.wsf(), raised);
    assert_eq!(
        std::fs::read(machine.path("run/hotset/journal")).unwrap(),
        journal
    );
    assert_eq!(
        std::fs::read(machine.path("run/hotset/hotsetd.lock")).unwrap(),
        lock
    );
}

#[test]
fn a_journal_that_is_all_garbage_is_a_failure_and_stays() {
    let machine = FakeMachine::new();
    machine.put("run/hotset/journal", "garbage\n\u{1}\u{2}\n");
    for arguments in [&["--restore"][..], &["--restore", "--dry-run"]] {
        let mut restore = Process::start(machine.root(), arguments);
        assert_eq!(restore.wait().code(), Some(3), "{}", restore.log());
        let log = restore.log();
        assert!(log.contains("run/hotset/journal"), "{log}");
    }
    assert!(machine.path("run/hotset/journal").exists());
    // A daemon starts all the same.
    started(&machine, &[]);
}

#[test]
fn sighup_reads_the_configuration_again() {
    let machine = FakeMachine::new();
    let mut process = started(&machine, &[]);
    machine.put("etc/hotset/hotsetd.conf", "aggressiveness = 3\n");
    process.signal(libc::SIGHUP);
    process.until("the verbosity is 3", |_| {
        status(&machine).is_some_and(|status| status.aggressiveness == 3)
    });
    machine.put(
        "etc/hotset/hotsetd.conf",
        "aggressiveness = 1\nagressiveness = 2\n",
    );
    process.signal(libc::SIGHUP);
    process.until_logged("hotsetd.conf:2: ");
    assert_eq!(status(&machine).unwrap().aggressiveness, 3);
}

#[test]
fn a_wrong_option_or_configuration_is_exit_status_2() {
    let machine = FakeMachine::new();
    let mut process = Process::start(machine.root(), &["--agressiveness", "2"]);
    assert_eq!(process.wait().code(), Some(2));
    machine.put("etc/hotset/hotsetd.conf", "verbosity = 3\n");
    machine.put(
        "etc/hotset/hotsetd.conf.d/10-mine.conf",
        "\n[free_pages]\nenable = true\n",
    );
    for arguments in [&[][..], &["--check-config"]] {
        let mut process = Process::start(machine.root(), arguments);
        assert_eq!(process.wait().code(), Some(2));
        assert!(process.log().contains("10-mine.conf:3: "));
    }
    assert!(!machine.path("run").exists());
}

#[test]
fn the_next_start_gives_knobs_back_after_a_kill_under_load() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let mut changed = 0;
    for round in 0..20u64 {
        machine.free = 300_000;
        machine.write();
        let mut process = started(&machine, &["-a", "3"]);
        let begun = Instant::now();
        // The kill comes at another moment each time, before or after the first write.
        let until = Duration::from_millis(100 + round * 97 % 1500);
        while begun.elapsed() < until {
            machine.allocate(15_000, 3_000);
            std::thread::sleep(Duration::from_millis(10));
        }
        process.kill();
        changed += u32::from(machine.wsf() != 10);
        let mut next = started(&machine, &[]);
        next.signal(libc::SIGTERM);
        assert!(next.wait().success(), "{}", next.log());
        assert_eq!(machine.wsf(), 10, "round {round}");
        assert_eq!(machine.read("proc/sys/vm/compaction_proactiveness"), "20\n");
        assert_eq!(machine.read("proc/sys/vm/vfs_cache_pressure"), "100\n");
    }
    assert!(
        changed > 3,
        "only {changed} of 20 kills found the knob changed"
    );
}

#[test]
fn the_background_daemon_is_a_process_of_its_own() {
    let machine = FakeMachine::new();
    let mut parent = Process::start(machine.root(), &["--background", "--log", "stderr"]);
    assert!(parent.wait().success());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = status(&machine) {
            break status;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", parent.log());
        std::thread::sleep(Duration::from_millis(10));
    };
    let pid = status.pid.unwrap() as i32;
    assert_ne!(pid as u32, parent.id());
    // SAFETY: kill only sends; the pid is that of the daemon which has just answered.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    while machine.path("run/hotset/hotsetd.lock").exists() {
        assert!(begun.elapsed() < PATIENCE, "the daemon does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}
