//! When memory counts as exhausted, and states that only resemble exhaustion.
use crate::common::FakeMachine;
use crate::fake_process::FakeProcess;
use crate::fixture::{config, Fixture, BOOST, STEP_S};
use crate::memory::Memory;

fn with_hog() -> FakeMachine {
    let machine = FakeMachine::new();
    FakeProcess::new(5000, "hog")
        .memory(400_000_000)
        .write(&machine);
    machine
}

#[test]
fn nobody_is_chosen_while_much_is_free() {
    let machine = with_hog();
    let memory = Memory {
        free: 2 * machine.high(),
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take(30);
    assert_eq!(fixture.kills(), 0);
}

#[test]
fn nobody_is_chosen_while_clean_pages_are_above_their_floor() {
    let machine = with_hog();
    let memory = Memory {
        file: 160_000,
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take(30);
    assert_eq!(fixture.kills(), 0);
}

/// 86% of memory is anonymous for good, there is no swap, and a program streams a file through the rest.
#[test]
fn nobody_is_chosen_on_a_healthy_machine_that_is_past_its_floor() {
    let machine = with_hog();
    let memory = Memory {
        anon: 860_000,
        file: 100_000,
        swap_total: 0,
        swap_free: 0,
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    for _ in 0..1000 {
        fixture.memory.stolen += 1_000;
        fixture.write_memory();
        fixture.step();
    }
    assert_eq!(fixture.kills(), 0);
    // The same machine with a program that takes memory.
    fixture.take_until_kill();
}

/// A floor is a share of memory that somebody else can have.
#[test]
fn huge_page_pools_are_no_part_of_a_floor() {
    let machine = with_hog();
    let memory = Memory {
        huge: 850_000,
        anon: 60_000,
        file: 60_000,
        swap_total: 0,
        swap_free: 0,
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take(100);
    assert_eq!(fixture.kills(), 0);
    assert!(fixture.protection().clean_min_bytes < 25_000 * 4096);
    fixture.take_until_kill();
}

#[test]
fn nobody_is_chosen_while_nobody_takes_memory() {
    let machine = with_hog();
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.steps(30);
    assert_eq!(fixture.kills(), 0);
}

#[test]
fn nobody_is_chosen_while_swap_has_room_and_is_written_to() {
    let machine = with_hog();
    let memory = Memory {
        swap_free: 100_000,
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    for _ in 0..30 {
        fixture.memory.swapped_out += 100;
        fixture.take(1);
    }
    assert_eq!(fixture.kills(), 0);
}

#[test]
fn dirty_pages_have_their_time_to_become_clean_before_anybody_is_chosen() {
    let machine = with_hog();
    let memory = Memory {
        file: 400_000,
        dirty: 260_000,
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    let begin_s = fixture.clock.now_s();
    fixture.take_until_kill();
    // The policy gives them 0.6 s.
    let waited_s = fixture.clock.now_s() - begin_s;
    assert!((0.6 - STEP_S..1.0).contains(&waited_s), "{waited_s} s");
}

#[test]
fn swap_that_has_room_and_takes_nothing_counts_as_stuck() {
    let machine = with_hog();
    let memory = Memory {
        free: 3_000,
        swap_free: 150_000,
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take_until_kill();
    assert_eq!(fixture.protection().last_victim.unwrap().cause, "SwapStuck");
}

#[test]
fn without_swap_a_victim_is_chosen_and_reclaim_is_not_steered() {
    let machine = with_hog();
    let memory = Memory {
        swap_total: 0,
        swap_free: 0,
        ..Memory::exhausted(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take_until_kill();
    assert_eq!(fixture.swappiness(), "60");
    assert_eq!(fixture.protection().counts.steered, 0);
}

#[test]
fn a_dry_run_writes_nothing_and_logs_the_would_be_writes() {
    let machine = with_hog();
    machine.put(BOOST, "15000\n");
    let memory = Memory::exhausted(&machine);
    let mut config = config();
    config.dry_run = true;
    let mut fixture = Fixture::new(machine, memory, config);
    fixture.take_until_kill();
    fixture.memory.file = 10_000;
    fixture.write_memory();
    fixture.steps(3);
    assert_eq!(fixture.swappiness(), "60");
    assert_eq!(fixture.boost(), "15000");
    assert!(!fixture.machine.path("run/hotset").exists());
    let status = fixture.status();
    assert!(status.dry_run);
    let would = |name: &str| status.actions.iter().any(|past| past.action == name);
    assert!(would("vm.swappiness = 200"), "{:#?}", status.actions);
    let lines = fixture.daemon.log().lines();
    let named = |knob: &str| lines.iter().any(|line| line.contains(knob));
    assert!(named("vm.watermark_boost_factor"), "{lines:#?}");
}
