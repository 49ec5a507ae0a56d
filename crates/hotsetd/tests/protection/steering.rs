//! Reclaim is steered by vm.swappiness, and left alone where there is no reason.
use crate::common::FakeMachine;
use crate::fixture::{config, Fixture, BOOST, SWAPPINESS};
use crate::memory::Memory;
use hotsetd::config::settings::Config;
use hotsetd::protect::settings::ProtectedCgroup;
use policy::floors::Size;
use status::{Enforcer, Steering};

/// Memory whose free pages are at the low watermark.
fn low(machine: &FakeMachine) -> Memory {
    Memory {
        free: machine.low(),
        ..Memory::plenty()
    }
}

#[test]
fn clean_pages_near_their_floor_raise_swappiness_until_they_are_far_from_it() {
    let mut fixture = Fixture::new(FakeMachine::new(), Memory::plenty(), config());
    fixture.steps(3);
    assert_eq!(fixture.swappiness(), "60");
    // The floor is 15% of a million pages.
    fixture.memory = Memory {
        file: 180_000,
        ..low(&fixture.machine)
    };
    fixture.write_memory();
    fixture.step();
    assert_eq!(fixture.swappiness(), "200");
    assert_eq!(fixture.protection().steering, Steering::Anon);
    let journal = fixture.machine.read("run/hotset/journal");
    assert!(journal.contains("vm.swappiness\t60\t200\t0"), "{journal}");
    // Hysteresis: a little above the line the knob stays as it is.
    fixture.memory.file = 190_000;
    fixture.write_memory();
    fixture.steps(40);
    assert_eq!(fixture.swappiness(), "200");
    fixture.memory.file = 300_000;
    fixture.write_memory();
    fixture.steps(40);
    assert_eq!(fixture.swappiness(), "60");
    fixture.daemon.stop();
    assert_eq!(fixture.swappiness(), "60");
    assert!(!fixture.machine.path("run/hotset/journal").exists());
}

/// A boosted min watermark has the kernel kill while there are clean pages left.
#[test]
fn watermarks_are_not_boosted_while_little_is_left() {
    for by_administrator in [None, Some("300")] {
        let machine = FakeMachine::new();
        machine.put(BOOST, "15000\n");
        let memory = Memory {
            free: 900_000,
            ..Memory::plenty()
        };
        let mut fixture = Fixture::new(machine, memory, config());
        fixture.steps(3);
        assert_eq!(fixture.boost(), "15000");
        fixture.memory = Memory {
            file: 15_000,
            ..low(&fixture.machine)
        };
        fixture.write_memory();
        fixture.steps(2);
        assert_eq!(fixture.boost(), "0");
        let journal = fixture.machine.read("run/hotset/journal");
        let entry = "vm.watermark_boost_factor\t15000\t0";
        assert!(journal.contains(entry), "{journal}");
        if let Some(value) = by_administrator {
            fixture.machine.put(BOOST, value);
        }
        fixture.daemon.stop();
        assert_eq!(fixture.boost(), by_administrator.unwrap_or("15000"));
    }
}

/// Out of the box: files that are read again raise a floor, and the next daemon begins with it.
#[test]
fn the_learned_floor_steers_and_outlives_the_daemon() {
    let mut fixture = Fixture::new(FakeMachine::new(), Memory::plenty(), Config::default());
    fixture.steps(3);
    fixture.memory = Memory {
        file: 180_000,
        ..low(&fixture.machine)
    };
    fixture.write_memory();
    fixture.steps(3);
    assert_eq!(fixture.swappiness(), "60", "nothing is read again");
    fixture.memory.file_restores += 200_000;
    fixture.write_memory();
    fixture.steps(2);
    assert_eq!(fixture.swappiness(), "200");
    let floor = fixture.protection().clean_low_bytes;
    assert!(
        (199_000 * 4096..=200_000 * 4096).contains(&floor),
        "{floor}"
    );
    fixture.daemon.stop();
    assert_eq!(fixture.swappiness(), "60");
    fixture.restart(Config::default());
    fixture.steps(2);
    assert_eq!(fixture.swappiness(), "200");
    let again = fixture.protection().clean_low_bytes;
    assert!(floor.abs_diff(again) < floor / 100, "{again}");
}

#[test]
fn few_anonymous_pages_lower_swappiness_until_the_daemon_stops() {
    let machine = FakeMachine::new();
    let memory = Memory {
        anon: 140_000,
        ..low(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.steps(2);
    assert_eq!(fixture.swappiness(), "0");
    assert_eq!(fixture.protection().steering, Steering::File);
    fixture.daemon.stop();
    assert_eq!(fixture.swappiness(), "60");
}

#[test]
fn when_both_floors_bind_swappiness_keeps_the_administrators_value() {
    let machine = FakeMachine::new();
    let memory = Memory {
        anon: 140_000,
        file: 140_000,
        ..low(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.steps(3);
    assert_eq!(fixture.swappiness(), "60");
    let protection = fixture.protection();
    assert!(protection.both_floors_bind);
    assert_eq!(protection.counts.steered, 0);
}

#[test]
fn a_machine_with_memory_to_spare_is_not_steered() {
    // Just booted: hardly any page cache, and most memory free.
    let booted = Memory {
        free: 900_000,
        anon: 40_000,
        file: 30_000,
        ..Memory::plenty()
    };
    let mut fixture = Fixture::new(FakeMachine::new(), booted, config());
    fixture.steps(5);
    // A page cache fills memory: free pages stay at the watermarks.
    fixture.memory = Memory {
        anon: 300_000,
        file: 650_000,
        ..low(&fixture.machine)
    };
    fixture.write_memory();
    fixture.steps(5);
    assert_eq!(fixture.swappiness(), "60");
    assert_eq!(fixture.protection().counts.steered, 0);
}

/// A daemon that steers reclaim to anonymous pages: clean pages are just above their floor.
fn steered() -> Fixture {
    let machine = FakeMachine::new();
    let memory = Memory {
        file: 152_000,
        ..low(&machine)
    };
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.steps(2);
    assert_eq!(fixture.swappiness(), "200");
    fixture
}

#[test]
fn swappiness_that_the_administrator_writes_is_never_written_again() {
    let mut fixture = steered();
    fixture.machine.put(SWAPPINESS, "33\n");
    fixture.memory.file = 400_000;
    fixture.write_memory();
    fixture.steps(60);
    fixture.memory.file = 152_000;
    fixture.write_memory();
    fixture.steps(5);
    assert_eq!(fixture.swappiness(), "33");
    assert!(fixture.protection().swappiness_is_the_administrators);
    assert_eq!(fixture.status().counts.yields, 1);
    fixture.daemon.stop();
    assert_eq!(fixture.swappiness(), "33");
}

/// 0 is a value that hotsetd itself might write: the journal lists it while reclaim is steered.
#[test]
fn a_value_of_the_administrators_stays_theirs_though_hotsetd_might_have_written_it() {
    let mut fixture = steered();
    fixture.machine.put(SWAPPINESS, "0\n");
    fixture.steps(200);
    assert!(fixture.protection().swappiness_is_the_administrators);
    fixture.restart(Config::default());
    assert_eq!(fixture.swappiness(), "0");
}

/// `sysctl --system` writes the original.
#[test]
fn the_original_written_again_does_not_end_protection() {
    let mut fixture = steered();
    fixture.machine.put(SWAPPINESS, "60\n");
    fixture.steps(200);
    assert_eq!(fixture.swappiness(), "200");
    assert_eq!(fixture.status().counts.yields, 0);
    fixture.daemon.stop();
    assert_eq!(fixture.swappiness(), "60");
}

#[test]
fn the_next_daemon_gives_back_the_swappiness_that_a_killed_one_left() {
    let mut fixture = steered();
    fixture.restart(Config::default());
    assert_eq!(fixture.swappiness(), "60");
}

#[test]
fn a_kernel_with_the_series_gets_its_sysctls_and_no_steering() {
    let machine = FakeMachine::new();
    for name in [
        "workingset_protection",
        "anon_min_ratio",
        "clean_min_ratio",
        "clean_low_ratio",
    ] {
        machine.put(&format!("proc/sys/vm/{name}"), "0\n");
    }
    let memory = Memory::exhausted(&machine);
    let mut config = config();
    config.protect.policy.floors.clean_min = Size::Bytes(1_000_000_000);
    let mut fixture = Fixture::new(machine, memory, config);
    fixture.take(8);
    let sysctl = |fixture: &Fixture, name: &str| {
        let text = fixture.machine.read(&format!("proc/sys/vm/{name}"));
        text.trim().to_owned()
    };
    assert_eq!(sysctl(&fixture, "workingset_protection"), "1");
    assert_eq!(sysctl(&fixture, "anon_min_ratio"), "15");
    // A billion bytes of the 4,096,000,000 that the kernel manages.
    assert_eq!(sysctl(&fixture, "clean_min_ratio"), "24");
    assert_eq!(fixture.swappiness(), "60");
    assert_eq!(fixture.kills(), 0);
    assert_eq!(fixture.protection().enforcer, Enforcer::Kernel);
    fixture.daemon.stop();
    assert_eq!(sysctl(&fixture, "workingset_protection"), "0");
}

/// Out of the box hotsetd asks for no hard floor. Those that the administrator has set in the kernel stay.
#[test]
fn floors_that_the_administrator_has_switched_on_in_the_kernel_stay() {
    let machine = FakeMachine::new();
    let sysctls = [
        ("workingset_protection", "1"),
        ("anon_min_ratio", "20"),
        ("clean_min_ratio", "25"),
        ("clean_low_ratio", "30"),
    ];
    for (name, value) in sysctls {
        machine.put(&format!("proc/sys/vm/{name}"), &format!("{value}\n"));
    }
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, Config::default());
    fixture.take(300);
    for (name, value) in sysctls {
        let found = fixture.machine.read(&format!("proc/sys/vm/{name}"));
        assert_eq!(found.trim(), value, "{name}");
    }
    assert_eq!(fixture.protection().enforcer, Enforcer::Kernel);
    // The kernel that keeps hard floors kills.
    assert_eq!(fixture.protection().kills, status::Kills::Never);
}

const LOW: &str = "sys/fs/cgroup/user.slice/memory.low";

/// Sets the active anonymous memory of user.slice.
fn active(machine: &FakeMachine, bytes: u64) {
    let stat = format!(
        "active_anon {bytes}\nactive_file 102400\ninactive_file 409600\nslab_unreclaimable 4096\n\
         workingset_refault_anon 7\nworkingset_refault_file 9\n"
    );
    machine.put("sys/fs/cgroup/user.slice/memory.stat", &stat);
}

/// A daemon that has written user.slice's memory.low.
fn with_a_cgroup() -> Fixture {
    let machine = FakeMachine::new();
    machine.put(LOW, "0\n");
    machine.put("sys/fs/cgroup/user.slice/memory.current", "900000000\n");
    active(&machine, 204_800);
    let mut config = config();
    config.protect.cgroups = vec![ProtectedCgroup {
        name: "user.slice".into(),
        hard: false,
    }];
    let mut fixture = Fixture::new(machine, Memory::plenty(), config);
    fixture.step();
    assert_eq!(fixture.machine.read(LOW), "311296\n");
    fixture
}

#[test]
fn a_cgroup_gets_its_working_set_as_memory_low_until_the_daemon_stops() {
    let mut fixture = with_a_cgroup();
    let cgroups = fixture.protection().cgroups.unwrap();
    assert_eq!(cgroups[0].bytes, 311_296);
    fixture.daemon.stop();
    assert_eq!(fixture.machine.read(LOW), "0\n");
}

#[test]
fn a_service_that_is_started_again_gets_its_working_set_again() {
    let mut fixture = with_a_cgroup();
    // The service was down for some minutes.
    let (folder, aside) = (
        fixture.machine.path("sys/fs/cgroup/user.slice"),
        fixture.machine.path("aside"),
    );
    std::fs::rename(&folder, &aside).unwrap();
    for _ in 0..5 {
        fixture.clock.advance(31.0);
        fixture.step();
    }
    std::fs::rename(&aside, &folder).unwrap();
    // A new folder's files have other inodes.
    fixture.machine.put(LOW, "0\n");
    fixture.clock.advance(31.0);
    fixture.step();
    assert_eq!(fixture.machine.read(LOW), "311296\n");
    fixture.daemon.stop();
    assert_eq!(fixture.machine.read(LOW), "0\n");
}

#[test]
fn a_boundary_that_the_administrator_has_written_stays() {
    let mut fixture = with_a_cgroup();
    // The same file, so not by `put`.
    std::fs::write(fixture.machine.path(LOW), "4096\n").unwrap();
    for bytes in [400_000, 800_000] {
        active(&fixture.machine, bytes);
        fixture.clock.advance(31.0);
        fixture.step();
        assert_eq!(fixture.machine.read(LOW), "4096\n");
    }
    fixture.daemon.stop();
    assert_eq!(fixture.machine.read(LOW), "4096\n");
}

#[test]
fn samples_are_rare_far_from_the_line_and_quick_near_it() {
    let mut config = config();
    // The setting is of one CPU.
    config.protect.policy.fastest /= std::thread::available_parallelism().unwrap().get() as u64;
    let mut fixture = Fixture::new(FakeMachine::new(), Memory::plenty(), config);
    // The interval is half of the time in which a gigabyte a second uses up two gigabytes.
    assert!(fixture.step() > 0.5);
    fixture.memory = Memory {
        file: 152_000,
        ..low(&fixture.machine)
    };
    fixture.write_memory();
    // Half a tick: clean pages fell so fast that the floor would be broken by the end of a kill.
    assert!((0.0025..0.05).contains(&fixture.step()));
    let quick = 0.005..0.05;
    // Nothing moves: samples become rarer, but not as rare as far from the line.
    fixture.steps(32);
    assert_eq!(fixture.step(), 0.25);
    fixture.memory.take(&fixture.machine);
    assert!(quick.contains(&fixture.step()));
}
