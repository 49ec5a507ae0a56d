//! The loop's body on a machine of files: what it allocates, what it says, what it writes.
mod common;
#[path = "common/counting.rs"]
mod counting;

use common::FakeMachine;
use counting::allocations;
use hotsetd::config::Config;
use hotsetd::daemon::Daemon;
use hotsetd::log::Log;
use std::os::unix::fs::PermissionsExt;

fn daemon(machine: &FakeMachine, log: Log) -> Daemon {
    let mut config = Config::default();
    config.policy.sample_near_s = 0.1;
    Daemon::new(machine.root(), config, log).unwrap()
}

/// A burst that takes the free pages down until the daemon has written the knob.
fn burst(machine: &mut FakeMachine, daemon: &mut Daemon) {
    for _ in 0..400 {
        machine.allocate(15_000, 3_000);
        std::thread::sleep(std::time::Duration::from_millis(10));
        daemon.step();
        if machine.wsf() > 10 {
            return;
        }
    }
    panic!(
        "400 samples of a burst and no knob was written:\n{:#?}",
        daemon.log().lines()
    );
}

#[test]
fn the_counter_counts() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1, 2, 3]))) > 0);
}

#[test]
fn no_allocation_per_sample() {
    let machine = FakeMachine::new();
    let mut daemon = daemon(&machine, Log::to_nowhere(4));
    for _ in 0..20 {
        daemon.step();
    }
    for round in 0..200 {
        let count = allocations(|| {
            daemon.step();
        });
        assert_eq!(count, 0, "round {round}");
    }
}

#[test]
fn no_allocation_per_sample_of_this_machine() {
    let config = Config {
        dry_run: true,
        ..Config::default()
    };
    let mut daemon = Daemon::new("/".as_ref(), config, Log::to_nowhere(4)).unwrap();
    for _ in 0..20 {
        daemon.step();
    }
    let total = allocations(|| {
        for _ in 0..200 {
            daemon.step();
        }
    });
    assert_eq!(total, 0);
}

#[test]
fn no_allocation_while_a_file_is_missing() {
    let machine = FakeMachine::new();
    let mut daemon = daemon(&machine, Log::to_nowhere(4));
    std::fs::remove_file(machine.path("proc/buddyinfo")).unwrap();
    for _ in 0..200 {
        daemon.step();
    }
    let total = allocations(|| {
        for _ in 0..200 {
            daemon.step();
        }
    });
    assert_eq!(total, 0);
}

#[test]
fn a_burst_raises_the_knob_and_the_end_gives_it_back() {
    let mut machine = FakeMachine::new();
    let mut daemon = daemon(&machine, Log::to_memory(5));
    burst(&mut machine, &mut daemon);
    let raised = machine.wsf();
    let lines = daemon.log().lines().join("\n");
    let said = format!("vm.watermark_scale_factor = {raised} (was 10): ");
    assert!(lines.contains(&said), "{lines}");
    assert!(lines.contains("rates: demand "), "{lines}");
    assert!(machine.path("run/hotset/journal").exists());
    let status: serde_json::Value = serde_json::from_slice(&daemon.status()).unwrap();
    let knobs = status["knobs"].as_array().unwrap();
    let knob = knobs
        .iter()
        .find(|knob| knob["name"] == "vm.watermark_scale_factor")
        .unwrap();
    assert_eq!(knob["original"], "10");
    assert!(daemon.stop());
    assert_eq!(machine.wsf(), 10);
    assert!(!machine.path("run/hotset/journal").exists());
}

#[test]
fn what_a_killed_daemon_left_is_given_back_before_anything_is_learned() {
    let mut machine = FakeMachine::new();
    let mut first = daemon(&machine, Log::to_memory(3));
    burst(&mut machine, &mut first);
    // As a SIGKILL leaves it.
    drop(first);
    assert!(machine.wsf() > 10);
    let mut second = daemon(&machine, Log::to_memory(3));
    assert_eq!(machine.wsf(), 10);
    let status: serde_json::Value = serde_json::from_slice(&second.status()).unwrap();
    assert_eq!(status["watermarks"]["floor"].as_u64().unwrap_or(0), 0);
    second.step();
    assert_eq!(second.state().summary.free_pages.floor, 10);
}

#[test]
fn the_administrators_write_stays() {
    let mut machine = FakeMachine::new();
    let mut daemon = daemon(&machine, Log::to_memory(3));
    burst(&mut machine, &mut daemon);
    machine.put("proc/sys/vm/watermark_scale_factor", "333\n");
    for _ in 0..3 {
        daemon.step();
    }
    let lines = daemon.log().lines().join("\n");
    assert!(
        lines.contains("watermark_scale_factor = 333 is the administrator's"),
        "{lines}"
    );
    // Below that it never goes; whether above is the policy's to say.
    assert!(machine.wsf() >= 333);
    daemon.stop();
    assert_eq!(machine.wsf(), 333);
}

#[test]
fn files_that_vanish_or_hold_garbage_give_one_line_and_the_rest_goes_on() {
    for path in [
        "vmstat",
        "zoneinfo",
        "buddyinfo",
        "meminfo",
        "sys/fs/dentry-state",
    ] {
        for fault in ["gone", "empty", "garbage", "cut"] {
            let machine = FakeMachine::new();
            let mut daemon = daemon(&machine, Log::to_memory(3));
            daemon.step();
            let place = format!("proc/{path}");
            let good = machine.read(&place);
            match fault {
                "gone" => std::fs::remove_file(machine.path(&place)).unwrap(),
                "empty" => machine.put(&place, ""),
                "garbage" => machine.put(&place, "\u{1}\u{2} not a number\n\n-7\n: : :\n"),
                // A digit of its first number is all that is left.
                _ => machine.put(&place, &good[..good.len() / 9]),
            }
            for _ in 0..30 {
                daemon.step();
            }
            let about = |lines: &[String]| {
                let of_it = |line: &&String| line.contains(path) && !line.contains("again");
                lines.iter().filter(of_it).count()
            };
            let lines = daemon.log().lines().to_vec();
            // A table that was cut between two lines may still be whole enough.
            let least = usize::from(fault != "cut");
            assert!(
                (least..=1).contains(&about(&lines)),
                "{path} {fault}: {lines:#?}"
            );
            machine.put(&place, &good);
            for _ in 0..70 {
                daemon.step();
            }
            let lines = daemon.log().lines().to_vec();
            if about(&lines) == 1 {
                let back = lines.iter().any(|line| line.contains("can be read again"));
                assert!(back, "{path} {fault}: {lines:#?}");
            }
            // Nothing of it looked like a burst.
            assert_eq!(machine.wsf(), 10, "{path} {fault}: {lines:#?}");
        }
    }
}

#[test]
fn a_burst_is_met_while_other_files_are_missing() {
    let mut machine = FakeMachine::new();
    for path in [
        "proc/meminfo",
        "proc/sys/fs/dentry-state",
        "proc/sys/fs/inode-nr",
    ] {
        std::fs::remove_file(machine.path(path)).unwrap();
    }
    let mut daemon = daemon(&machine, Log::to_memory(3));
    for _ in 0..400 {
        machine.allocate(15_000, 3_000);
        std::fs::remove_file(machine.path("proc/meminfo")).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
        daemon.step();
        if machine.wsf() > 10 {
            return;
        }
    }
    panic!("{:#?}", daemon.log().lines());
}

#[test]
fn a_knob_that_cannot_be_written_is_said_once() {
    let mut machine = FakeMachine::new();
    let mut daemon = daemon(&machine, Log::to_memory(3));
    // Root may write what its mode forbids; a folder nobody can write as a file.
    let place = machine.path("run/hotset");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "").unwrap();
    std::fs::set_permissions(&place, PermissionsExt::from_mode(0o400)).unwrap();
    for _ in 0..60 {
        machine.allocate(15_000, 3_000);
        std::thread::sleep(std::time::Duration::from_millis(10));
        daemon.step();
    }
    let lines = daemon.log().lines();
    let about = lines
        .iter()
        .filter(|line| line.contains("cannot be journaled"))
        .count();
    assert_eq!(about, 1, "{lines:#?}");
    assert_eq!(machine.wsf(), 10);
}

/// Root may read what its mode forbids: the thread becomes nobody for its files' sake.
fn as_nobody<T>(work: impl FnOnce() -> T) -> T {
    const NOBODY: libc::c_long = 65534;
    // SAFETY: setfsuid takes a number and changes this thread only; libc's wrapper is the same call.
    let before = unsafe { libc::syscall(libc::SYS_setfsuid, NOBODY) };
    let done = work();
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_setfsuid, before) };
    done
}

#[test]
fn a_file_that_may_not_be_read_gives_one_line_and_the_rest_goes_on() {
    for path in ["proc/meminfo", "proc/buddyinfo", "proc/sys/fs/dentry-state"] {
        let machine = FakeMachine::new();
        std::fs::set_permissions(machine.root(), PermissionsExt::from_mode(0o755)).unwrap();
        let mut daemon = daemon(&machine, Log::to_memory(3));
        daemon.step();
        let good = machine.read(path);
        // Another file in its place: the open one would still be readable.
        machine.put(path, &good);
        std::fs::set_permissions(machine.path(path), PermissionsExt::from_mode(0o000)).unwrap();
        as_nobody(|| {
            for _ in 0..30 {
                daemon.step();
            }
        });
        let lines = daemon.log().lines().to_vec();
        let about = lines
            .iter()
            .filter(|line| line.contains("may not be read"))
            .count();
        assert_eq!(about, 1, "{path}: {lines:#?}");
        assert!(
            lines.iter().any(|line| line.contains(path)),
            "{path}: {lines:#?}"
        );
    }
}

#[test]
fn a_knob_that_may_not_be_written_is_said_once_and_the_rest_goes_on() {
    let mut machine = FakeMachine::new();
    std::fs::set_permissions(machine.root(), PermissionsExt::from_mode(0o755)).unwrap();
    let place = machine.path("run/hotset");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::set_permissions(&place, PermissionsExt::from_mode(0o777)).unwrap();
    let mut daemon = daemon(&machine, Log::to_memory(3));
    let samples = daemon.state().counts.samples;
    for _ in 0..60 {
        machine.allocate(15_000, 3_000);
        std::thread::sleep(std::time::Duration::from_millis(10));
        // The knob's mode is 0644, and it is root's.
        as_nobody(|| daemon.step());
    }
    assert_eq!(daemon.state().counts.samples, samples + 60);
    let lines = daemon.log().lines().to_vec();
    let about = lines
        .iter()
        .filter(|line| line.contains("cannot be written"))
        .count();
    assert_eq!(about, 1, "{lines:#?}");
    assert_eq!(machine.wsf(), 10);
    // What was not written is not in the journal, so nothing is given back.
    daemon.stop();
    assert!(!machine.path("run/hotset/journal").exists());
}

#[test]
fn no_allocation_while_it_acts() {
    let mut machine = FakeMachine::new();
    std::fs::create_dir_all(machine.path("run/hotset")).unwrap();
    let mut daemon = daemon(&machine, Log::to_nowhere(4));
    for _ in 0..20 {
        daemon.step();
    }
    let mut writes = 0;
    for round in 0..400 {
        machine.allocate(15_000, 3_000);
        std::thread::sleep(std::time::Duration::from_millis(5));
        let before = machine.wsf();
        let count = allocations(|| {
            daemon.step();
        });
        assert_eq!(count, 0, "round {round}, {before} to {}", machine.wsf());
        writes += u32::from(machine.wsf() != before);
    }
    assert!(writes > 0, "nothing was done");
}
