//! A round of the daemon allocates nothing.
mod common;
#[path = "common/counting.rs"]
mod counting;
#[path = "common/running.rs"]
mod running;

use common::FakeMachine;
use counting::allocations;
use hotsetd::config::settings::Config;
use hotsetd::runtime::daemon::Daemon;
use hotsetd::telemetry::log::Log;
use running::Running;

fn started(machine: FakeMachine) -> Running {
    let mut running = Running::with(machine, Log::to_nowhere(4), |_| {});
    for _ in 0..20 {
        running.step_after(0.1);
    }
    running
}

#[test]
fn an_allocation_is_counted() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1, 2, 3]))) > 0);
}

#[test]
fn a_sample_allocates_nothing() {
    let mut running = started(FakeMachine::new());
    for round in 0..200 {
        let count = allocations(|| {
            running.step_after(0.1);
        });
        assert_eq!(count, 0, "round {round}");
    }
}

#[test]
fn a_sample_of_this_machine_allocates_nothing() {
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
fn a_sample_without_a_file_allocates_nothing() {
    let mut running = started(FakeMachine::new());
    std::fs::remove_file(running.machine.path("proc/buddyinfo")).unwrap();
    for _ in 0..200 {
        running.step_after(0.1);
    }
    let total = allocations(|| {
        for _ in 0..200 {
            running.step_after(0.1);
        }
    });
    assert_eq!(total, 0);
}

#[test]
fn a_burst_that_is_answered_allocates_nothing() {
    let machine = FakeMachine::new();
    std::fs::create_dir_all(machine.path("run/hotset")).unwrap();
    let mut running = started(machine);
    let mut writes = 0;
    for round in 0..400 {
        running.machine.allocate(15_000, 3_000);
        let before = running.machine.wsf();
        let count = allocations(|| {
            running.step_after(0.005);
        });
        let after = running.machine.wsf();
        assert_eq!(count, 0, "round {round}, {before} to {after}");
        writes += u32::from(after != before);
    }
    assert!(writes > 0, "no knob was written");
}
