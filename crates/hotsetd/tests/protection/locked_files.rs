//! Locked file pages, and when they are let go. A thread of the daemon's own locks them, so these tests
//! wait for that thread.
use crate::common::FakeMachine;
use crate::fake_process::FakeProcess;
use crate::fixture::{config, Fixture};
use crate::memory::Memory;
use status::LockedFiles;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

const BUDGET: u64 = 300 << 10;

impl Fixture {
    fn locked(&self) -> LockedFiles {
        self.protection().locked.unwrap()
    }

    /// Steps until the thread has locked `bytes`. `taking`: a task takes memory meanwhile.
    fn wait_for_locked(&mut self, bytes: u64, taking: bool) {
        for _ in 0..1000 {
            match taking {
                true => self.take(1),
                false => self.steps(1),
            }
            if self.locked().bytes == bytes {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("not {bytes} bytes but {:?}", self.locked());
    }
}

fn with_shared_library() -> Fixture {
    let machine = FakeMachine::new();
    machine.put("lib.so", &"x".repeat(1 << 20));
    let inode = std::fs::metadata(machine.path("lib.so")).unwrap().ino();
    let maps = format!("1-2 r-xp 0 08:01 {inode} /lib.so\n");
    for pid in [10, 11] {
        FakeProcess::new(pid, "program")
            .memory(9_000_000)
            .maps(&maps)
            .write(&machine);
    }
    let mut config = config();
    config.protect.lock_bytes = BUDGET;
    Fixture::new(machine, Memory::plenty(), config)
}

#[test]
fn a_shared_library_is_locked_and_in_the_status() {
    let mut fixture = with_shared_library();
    fixture.wait_for_locked(BUDGET, false);
    let locked = fixture.locked();
    assert_eq!(locked.budget_bytes, BUDGET);
    assert_eq!(locked.files.len(), 1);
    assert_eq!(locked.files[0].path, "/lib.so");
    assert_eq!(locked.files[0].users, 2);
}

#[test]
fn pages_stay_locked_when_memory_is_exhausted_and_are_let_go_when_both_floors_bind() {
    let mut fixture = with_shared_library();
    fixture.wait_for_locked(BUDGET, false);
    fixture.memory = Memory {
        file: 130_000,
        ..Memory::exhausted(&fixture.machine)
    };
    fixture.take(20);
    assert!(!fixture.protection().both_floors_bind);
    assert_eq!(fixture.locked().bytes, BUDGET);
    fixture.memory.anon = 1000;
    fixture.wait_for_locked(0, true);
    assert!(fixture.protection().both_floors_bind);
}
