//! What a look costs: no allocation, whether it is calm, steers, or looks for somebody to kill.
mod common;
#[path = "common/counting.rs"]
mod counting;
#[path = "common/people.rs"]
mod people;

use common::FakeMachine;
use counting::allocations;
use hotsetd::config::Config;
use hotsetd::daemon::Daemon;
use hotsetd::log::Log;
use people::{Memory, Person};
use std::time::Duration;

fn daemon(machine: &FakeMachine) -> Daemon {
    std::fs::create_dir_all(machine.path("run/hotset")).unwrap();
    let mut config = Config::default();
    config.protect.policy.enabled = true;
    Daemon::new(machine.root(), config, Log::to_nowhere(4)).unwrap()
}

fn look(daemon: &mut Daemon) {
    daemon.look();
}

#[test]
fn no_allocation_while_it_steers_to_and_fro() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    memory.write(&machine);
    let mut daemon = daemon(&machine);
    // Steered once: the journal is open, the knob held.
    (memory.free, memory.file) = (machine.low(), 160_000);
    memory.write(&machine);
    daemon.look();
    let mut turns = 0;
    for round in 0..8 {
        memory.file = if round % 2 == 0 { 400_000 } else { 160_000 };
        memory.write(&machine);
        std::thread::sleep(Duration::from_millis(300));
        let before = machine.read("proc/sys/vm/swappiness");
        assert_eq!(allocations(|| look(&mut daemon)), 0, "round {round}");
        turns += u32::from(machine.read("proc/sys/vm/swappiness") != before);
    }
    assert!(turns >= 6, "{turns}");
}

#[test]
fn no_allocation_from_exhaustion_to_the_kill() {
    let machine = FakeMachine::new();
    for pid in 1000..1200 {
        Person::new(pid, "small").memory(30_000_000).write(&machine);
    }
    Person::new(5000, "hog").memory(400_000_000).write(&machine);
    let mut memory = Memory::exhausted(&machine);
    memory.write(&machine);
    let mut daemon = daemon(&machine);
    daemon.look();
    let mut killed = false;
    for round in 0..200 {
        memory.take(&machine);
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(allocations(|| look(&mut daemon)), 0, "round {round}");
        killed |= daemon
            .state()
            .deeds()
            .any(|deed| deed.what.as_str() == "would kill hog (5000)");
    }
    assert!(killed, "nobody was chosen");
}
