//! A step allocates nothing, whether memory is plenty, reclaim is steered, or a victim is chosen.
use crate::common::FakeMachine;
use crate::counting::allocations;
use crate::fake_process::FakeProcess;
use crate::fixture::{config, Fixture};
use crate::memory::Memory;
use hotsetd::telemetry::log::Log;

/// The log formats its lines, and drops them.
fn fixture(machine: FakeMachine, memory: Memory) -> Fixture {
    std::fs::create_dir_all(machine.path("run/hotset")).unwrap();
    Fixture::with_log(machine, memory, config(), Log::to_nowhere(4))
}

#[test]
fn steering_to_and_fro_allocates_nothing() {
    let machine = FakeMachine::new();
    let memory = Memory {
        free: machine.low(),
        file: 160_000,
        ..Memory::plenty()
    };
    let mut fixture = fixture(machine, memory);
    // The first write opens the journal and the knob.
    fixture.step();
    let mut turns = 0;
    for round in 0..8 {
        fixture.memory.file = if round % 2 == 0 { 400_000 } else { 160_000 };
        fixture.write_memory();
        fixture.clock.advance(0.3);
        let before = fixture.swappiness();
        let count = allocations(|| {
            fixture.daemon.step_protection();
        });
        assert_eq!(count, 0, "round {round}");
        turns += u32::from(fixture.swappiness() != before);
    }
    assert!(turns >= 6, "{turns} turns");
}

#[test]
fn a_kill_allocates_nothing_from_exhaustion_on() {
    let machine = FakeMachine::new();
    for pid in 1000..1200 {
        FakeProcess::new(pid, "small")
            .memory(30_000_000)
            .write(&machine);
    }
    FakeProcess::new(5000, "hog")
        .memory(400_000_000)
        .write(&machine);
    let memory = Memory::exhausted(&machine);
    let mut fixture = fixture(machine, memory);
    fixture.step();
    for round in 0..200 {
        fixture.memory.take(&fixture.machine);
        fixture.clock.advance(0.01);
        let count = allocations(|| {
            fixture.daemon.step_protection();
        });
        assert_eq!(count, 0, "round {round}");
    }
    assert_eq!(fixture.protection().last_victim.unwrap().pid, 5000);
}
