//! Rounds of the daemon on a machine of files: its writes, its restores and its reports.
mod common;
#[path = "common/running.rs"]
mod running;

use common::FakeMachine;
use hotsetd::telemetry::log::Log;
use running::Running;
use std::os::unix::fs::PermissionsExt;

const WATERMARK_SCALE_FACTOR: &str = "vm.watermark_scale_factor";

#[test]
fn a_burst_raises_the_knob_and_the_end_gives_it_back() {
    let mut running = Running::new(FakeMachine::new());
    running.burst();
    let raised = running.machine.wsf() as i64;
    let knob = running.knob(WATERMARK_SCALE_FACTOR);
    assert_eq!(knob.original.as_deref(), Some("10"));
    assert!(knob.set_by_hotsetd);
    let status = running.status();
    assert!(status.counts.watermark_writes >= 1);
    assert!(status.rates.demand_pages_per_s > 0.0);
    let action = format!("{WATERMARK_SCALE_FACTOR} = {raised}");
    let past = status.actions.iter().find(|past| past.action == action);
    assert!(past.is_some_and(|past| !past.reason.is_empty()));
    assert!(running.machine.path("run/hotset/journal").exists());
    assert!(running.daemon.stop());
    assert_eq!(running.machine.wsf(), 10);
    assert!(!running.machine.path("run/hotset/journal").exists());
}

#[test]
fn a_value_that_a_killed_daemon_left_is_given_back_before_anything_is_learned() {
    let mut first = Running::new(FakeMachine::new());
    first.burst();
    assert!(first.machine.wsf() > 10);
    // The machine stays as a SIGKILL leaves it.
    let Running { machine, .. } = first;
    let mut second = Running::new(machine);
    assert_eq!(second.machine.wsf(), 10);
    assert_eq!(second.status().watermarks.floor, 0);
    second.step_after(0.1);
    assert_eq!(second.status().watermarks.floor, 10);
}

#[test]
fn a_value_that_the_administrator_writes_stays() {
    let mut running = Running::new(FakeMachine::new());
    running.burst();
    let path = "proc/sys/vm/watermark_scale_factor";
    running.machine.put(path, "333\n");
    for _ in 0..3 {
        running.step_after(0.01);
    }
    assert_eq!(running.status().counts.yields, 1);
    // The policy may raise the knob, and never sets less than the administrator.
    assert!(running.machine.wsf() >= 333);
    running.daemon.stop();
    assert_eq!(running.machine.wsf(), 333);
}

#[test]
fn the_original_written_again_is_no_yield_and_is_given_back() {
    let mut running = Running::new(FakeMachine::new());
    running.burst();
    assert!(running.machine.wsf() > 10);
    running
        .machine
        .put("proc/sys/vm/watermark_scale_factor", "10\n");
    for _ in 0..80 {
        running.step_after(1.0);
    }
    assert_eq!(running.status().counts.yields, 0);
    assert!(running.machine.wsf() > 10);
    running.daemon.stop();
    assert_eq!(running.machine.wsf(), 10);
}

#[test]
fn the_knob_never_falls_below_the_administrators_value() {
    let machine = FakeMachine::new();
    machine.put("proc/sys/vm/watermark_scale_factor", "200\n");
    let mut running = Running::new(machine);
    let mut lowest = u64::MAX;
    for round in 0..300 {
        match round {
            0..150 => running.machine.allocate(15_000, 3_000),
            _ => running.machine.free = 300_000,
        }
        running.machine.write();
        running.step_after(0.005);
        lowest = lowest.min(running.machine.wsf());
    }
    assert_eq!(running.status().watermarks.floor, 200);
    running.daemon.stop();
    assert_eq!((lowest, running.machine.wsf()), (200, 200));
}

#[test]
fn the_knob_never_exceeds_the_configured_cap() {
    let mut running = Running::with(FakeMachine::new(), Log::to_memory(3), |config| {
        config.policy.watermark_scale_factor_max = Some(35);
    });
    let mut highest = 0;
    for _ in 0..300 {
        running.burst_step();
        highest = highest.max(running.machine.wsf());
    }
    assert!((11..=35).contains(&highest), "{highest}");
}

#[test]
fn the_cap_is_the_kernels_ceiling() {
    let cap = |release: &str| {
        let mut machine = FakeMachine::new();
        machine.put("proc/sys/kernel/osrelease", release);
        // The cap follows the reclaimable pages too, so there are many of them.
        machine.file = 900_000;
        machine.write();
        let mut running = Running::with(machine, Log::to_memory(3), |config| {
            config.policy.watermark_scale_factor_max = Some(3000);
        });
        running.step_after(0.1);
        running.step_after(0.1);
        running.status().watermarks.cap
    };
    assert!(cap("5.15.58\n") > 1000);
    assert_eq!(cap("5.15.57\n"), 1000);
}

#[test]
fn the_daemon_sleeps_however_short_the_configured_interval_is() {
    let mut running = Running::with(FakeMachine::new(), Log::to_memory(3), |config| {
        config.policy.sample_near_s = 0.0;
        config.policy.sample_far_s = 0.0;
    });
    assert!(running.step_after(0.1) >= 0.05);
}

#[test]
fn a_file_that_vanishes_or_holds_garbage_gives_one_line_and_no_knob_is_written() {
    for path in [
        "vmstat",
        "zoneinfo",
        "buddyinfo",
        "meminfo",
        "sys/fs/dentry-state",
    ] {
        for damage in ["gone", "empty", "garbage", "cut"] {
            let mut running = Running::new(FakeMachine::new());
            running.step_after(0.01);
            let place = format!("proc/{path}");
            let good = running.machine.read(&place);
            match damage {
                "gone" => std::fs::remove_file(running.machine.path(&place)).unwrap(),
                "empty" => running.machine.put(&place, ""),
                "garbage" => {
                    let garbage = "\u{1}\u{2} not a number\n\n-7\n: : :\n";
                    running.machine.put(&place, garbage);
                }
                // The first ninth of the file is left.
                _ => running.machine.put(&place, &good[..good.len() / 9]),
            }
            for _ in 0..30 {
                running.step_after(0.01);
            }
            let reported = running.lines_with(path);
            // A table that was cut between two lines may still be whole enough.
            let least = usize::from(damage != "cut");
            assert!((least..=1).contains(&reported), "{path} {damage}");
            assert_eq!(running.daemon.log().has_warnings(), reported == 1);
            running.machine.put(&place, &good);
            for _ in 0..70 {
                running.step_after(0.01);
            }
            assert!(!running.daemon.log().has_warnings(), "{path} {damage}");
            // No damaged figure passes for a burst.
            assert_eq!(running.machine.wsf(), 10, "{path} {damage}");
        }
    }
}

#[test]
fn a_burst_raises_the_knob_while_other_files_are_missing() {
    let machine = FakeMachine::new();
    for path in ["proc/sys/fs/dentry-state", "proc/sys/fs/inode-nr"] {
        std::fs::remove_file(machine.path(path)).unwrap();
    }
    let mut running = Running::new(machine);
    for _ in 0..400 {
        running.machine.allocate(15_000, 3_000);
        std::fs::remove_file(running.machine.path("proc/meminfo")).unwrap();
        running.step_after(0.01);
        if running.machine.wsf() > 10 {
            return;
        }
    }
    panic!("{:#?}", running.daemon.log().lines());
}

#[test]
fn a_knob_whose_original_cannot_be_journaled_is_not_written_and_reported_once() {
    let mut running = Running::new(FakeMachine::new());
    // A file stands in the place of the journal's folder. A mode would not keep root from writing.
    let place = running.machine.path("run/hotset");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "").unwrap();
    for _ in 0..60 {
        running.burst_step();
    }
    assert_eq!(running.lines_with(WATERMARK_SCALE_FACTOR), 1);
    assert!(running.status().counts.failures > 1);
    assert_eq!(running.status().counts.watermark_writes, 0);
    assert_eq!(running.machine.wsf(), 10);
}

/// Runs `work` with the file permissions of nobody, because root may read every file.
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
fn a_file_that_may_not_be_read_gives_one_line_and_sampling_goes_on() {
    for path in ["proc/meminfo", "proc/buddyinfo", "proc/sys/fs/dentry-state"] {
        let machine = FakeMachine::new();
        std::fs::set_permissions(machine.root(), PermissionsExt::from_mode(0o755)).unwrap();
        let mut running = Running::new(machine);
        running.step_after(0.1);
        let samples = running.status().counts.samples;
        let good = running.machine.read(path);
        // Another file takes its place, because the open one would still be readable.
        running.machine.put(path, &good);
        let forbidden = PermissionsExt::from_mode(0o000);
        std::fs::set_permissions(running.machine.path(path), forbidden).unwrap();
        as_nobody(|| {
            for _ in 0..30 {
                running.step_after(0.1);
            }
        });
        assert_eq!(running.lines_with(path), 1, "{path}");
        let counts = running.status().counts;
        assert_eq!(counts.samples, samples + 30);
        assert!(counts.unreadable_files >= 30, "{path}");
    }
}

#[test]
fn a_knob_that_may_not_be_written_is_reported_once_and_leaves_no_journal() {
    let machine = FakeMachine::new();
    std::fs::set_permissions(machine.root(), PermissionsExt::from_mode(0o755)).unwrap();
    let place = machine.path("run/hotset");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::set_permissions(&place, PermissionsExt::from_mode(0o777)).unwrap();
    let mut running = Running::new(machine);
    let samples = running.status().counts.samples;
    let knob = running.machine.path("proc/sys/vm/watermark_scale_factor");
    std::fs::set_permissions(knob, PermissionsExt::from_mode(0o444)).unwrap();
    for _ in 0..60 {
        running.machine.allocate(15_000, 3_000);
        as_nobody(|| running.step_after(0.01));
    }
    let counts = running.status().counts;
    assert_eq!(counts.samples, samples + 60);
    assert!(counts.failures > 1);
    assert_eq!(running.lines_with(WATERMARK_SCALE_FACTOR), 1);
    assert_eq!(running.machine.wsf(), 10);
    running.daemon.stop();
    assert!(!running.machine.path("run/hotset/journal").exists());
}
