//! What a look costs: no allocation, whether it is calm, steers, or looks for somebody to kill.
mod common;
#[path = "common/people.rs"]
mod people;

use common::FakeMachine;
use hotsetd::config::Config;
use hotsetd::daemon::Daemon;
use hotsetd::log::Log;
use people::{Memory, Person};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

struct Counting;

thread_local! {
    // Of this thread only: other tests run beside it.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is handed to the system's allocator as it comes; counting touches a thread's
// own cell that needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.with(Cell::get);
    work();
    COUNT.with(Cell::get) - before
}

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
