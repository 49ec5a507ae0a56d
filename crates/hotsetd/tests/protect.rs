//! Protection on a machine of files: steering, the kill's choice, and what must not happen.
mod common;
#[path = "common/people.rs"]
mod people;

use common::FakeMachine;
use hotsetd::config::Config;
use hotsetd::daemon::Daemon;
use hotsetd::log::Log;
use people::{Memory, Person};
use policy::floors::Size;
use std::time::Duration;

const SWAPPINESS: &str = "proc/sys/vm/swappiness";

fn config() -> Config {
    let mut config = Config::default();
    config.protect.policy.enabled = true;
    config
}

fn daemon(machine: &FakeMachine, config: Config) -> Daemon {
    Daemon::new(machine.root(), config, Log::to_memory(4)).unwrap()
}

/// So many looks, each after 10 ms in which `between` happens.
fn looks(daemon: &mut Daemon, count: u32, mut between: impl FnMut(u32)) {
    for number in 0..count {
        between(number);
        std::thread::sleep(Duration::from_millis(10));
        daemon.look().unwrap();
    }
}

fn swappiness(machine: &FakeMachine) -> String {
    machine.read(SWAPPINESS).trim().to_owned()
}

#[test]
fn clean_pages_near_their_floor_turn_reclaim_to_anonymous_ones_and_it_is_given_back() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    looks(&mut daemon, 3, |_| {});
    assert_eq!(swappiness(&machine), "60");
    // 1.25 times 15% is 18.75%.
    memory.free = machine.low();
    memory.file = 180_000;
    memory.write(&machine);
    looks(&mut daemon, 1, |_| {});
    assert_eq!(swappiness(&machine), "200");
    assert!(machine
        .read("run/hotset/journal")
        .contains("vm.swappiness\t60\t200\t0"));
    // Not at once above the line: it would flutter.
    memory.file = 190_000;
    memory.write(&machine);
    looks(&mut daemon, 40, |_| {});
    assert_eq!(swappiness(&machine), "200");
    memory.file = 300_000;
    memory.write(&machine);
    looks(&mut daemon, 40, |_| {});
    assert_eq!(swappiness(&machine), "60");
    daemon.stop();
    assert_eq!(swappiness(&machine), "60");
    assert!(!machine.path("run/hotset/journal").exists());
}

/// A boosted min has the kernel kill while there are clean pages left.
#[test]
fn there_is_no_boost_while_memory_is_nearly_short() {
    const BOOST: &str = "proc/sys/vm/watermark_boost_factor";
    for by_admin in [None, Some("300")] {
        let machine = FakeMachine::new();
        machine.put(BOOST, "15000\n");
        let mut memory = Memory::plenty();
        memory.free = 900_000;
        memory.write(&machine);
        let mut daemon = daemon(&machine, config());
        looks(&mut daemon, 3, |_| {});
        assert_eq!(machine.read(BOOST).trim(), "15000");
        memory.free = machine.low();
        memory.file = 180_000;
        memory.write(&machine);
        looks(&mut daemon, 2, |_| {});
        assert_eq!(machine.read(BOOST).trim(), "0");
        let journal = machine.read("run/hotset/journal");
        assert!(
            journal.contains("vm.watermark_boost_factor\t15000\t0"),
            "{journal}"
        );
        if let Some(value) = by_admin {
            machine.put(BOOST, value);
        }
        daemon.stop();
        assert_eq!(machine.read(BOOST).trim(), by_admin.unwrap_or("15000"));
    }
}

#[test]
fn few_anonymous_pages_turn_reclaim_to_files() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    memory.free = machine.low();
    memory.anon = 140_000;
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    looks(&mut daemon, 2, |_| {});
    assert_eq!(swappiness(&machine), "0");
    daemon.stop();
    assert_eq!(swappiness(&machine), "60");
}

#[test]
fn when_both_floors_bind_the_administrators_value_stands() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    memory.free = machine.low();
    (memory.anon, memory.file) = (140_000, 140_000);
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    looks(&mut daemon, 3, |_| {});
    assert_eq!(swappiness(&machine), "60");
    assert!(daemon
        .log()
        .lines()
        .iter()
        .all(|line| !line.contains("vm.swappiness =")));
}

/// Over-protection's twins: nothing of this is a reason to touch the knob.
#[test]
fn a_machine_with_memory_to_spare_is_left_alone() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    // Just booted: hardly any page cache, and most memory free.
    memory.free = 900_000;
    (memory.anon, memory.file) = (40_000, 30_000);
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    looks(&mut daemon, 5, |_| {});
    // A page cache that fills memory: free pages hover at the watermarks.
    memory.free = machine.low();
    (memory.anon, memory.file) = (300_000, 650_000);
    memory.write(&machine);
    looks(&mut daemon, 5, |_| {});
    assert_eq!(swappiness(&machine), "60");
    let lines = daemon.log().lines();
    assert!(
        lines.iter().all(|line| !line.contains("vm.swappiness =")),
        "{lines:#?}"
    );
}

#[test]
fn the_administrators_swappiness_is_theirs() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    memory.free = machine.low();
    memory.file = 152_000;
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    looks(&mut daemon, 2, |_| {});
    assert_eq!(swappiness(&machine), "200");
    machine.put(SWAPPINESS, "33\n");
    memory.file = 400_000;
    memory.write(&machine);
    looks(&mut daemon, 60, |_| {});
    memory.file = 152_000;
    memory.write(&machine);
    looks(&mut daemon, 5, |_| {});
    assert_eq!(swappiness(&machine), "33");
    daemon.stop();
    assert_eq!(swappiness(&machine), "33");
}

#[test]
fn what_a_killed_daemon_left_is_given_back() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    memory.free = machine.low();
    memory.file = 152_000;
    memory.write(&machine);
    let mut first = daemon(&machine, config());
    looks(&mut first, 2, |_| {});
    assert_eq!(swappiness(&machine), "200");
    // As a SIGKILL leaves it.
    drop(first);
    let _second = daemon(&machine, Config::default());
    assert_eq!(swappiness(&machine), "60");
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
    let mut memory = Memory::exhausted(&machine);
    memory.write(&machine);
    let mut config = config();
    config.protect.policy.floors.clean_min = Size::Bytes(1_000_000_000);
    let mut daemon = daemon(&machine, config);
    looks(&mut daemon, 8, |_| memory.take(&machine));
    let read = |name: &str| {
        machine
            .read(&format!("proc/sys/vm/{name}"))
            .trim()
            .to_owned()
    };
    assert_eq!(read("workingset_protection"), "1");
    assert_eq!(read("anon_min_ratio"), "15");
    // 4,096,000,000 bytes are managed.
    assert_eq!(read("clean_min_ratio"), "24");
    assert_eq!(swappiness(&machine), "60");
    assert!(kills(&mut daemon).is_empty());
    daemon.stop();
    assert_eq!(read("workingset_protection"), "0");
}

fn kills(daemon: &mut Daemon) -> Vec<String> {
    let lines = daemon.log().lines().iter();
    lines
        .filter(|line| line.contains("would kill ") && line.contains("score"))
        .cloned()
        .collect()
}

/// Somebody takes memory until somebody is chosen; at most for so long as is long on any machine.
fn until_chosen(daemon: &mut Daemon, memory: &mut Memory, machine: &FakeMachine) {
    let begun = std::time::Instant::now();
    while kills(daemon).is_empty() {
        let late = begun.elapsed() > Duration::from_secs(60);
        assert!(!late, "nobody was chosen: {:#?}", daemon.log().lines());
        looks(daemon, 1, |_| memory.take(machine));
    }
}

/// A session: what it stands on, and fifty small programs.
fn session(machine: &FakeMachine) {
    Person::new(1, "systemd").memory(50_000_000).write(machine);
    Person::new(2, "kthreadd").kernel_thread().write(machine);
    Person::new(700, "gnome-shell")
        .memory(600_000_000)
        .write(machine);
    Person::new(701, "sshd").memory(500_000_000).write(machine);
    Person::new(702, "database")
        .memory(900_000_000)
        .adj(-1000)
        .write(machine);
    for pid in 1000..1050 {
        Person::new(pid, "small").memory(30_000_000).write(machine);
    }
}

#[test]
fn the_hog_is_chosen_and_nobody_else() {
    let machine = FakeMachine::new();
    session(&machine);
    Person::new(5000, "hog")
        .memory(400_000_000)
        .swap(300_000_000)
        .write(&machine);
    let mut memory = Memory::exhausted(&machine);
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    until_chosen(&mut daemon, &mut memory, &machine);
    looks(&mut daemon, 30, |_| memory.take(&machine));
    let kills = kills(&mut daemon);
    // More than one look may take: what was only said frees nothing.
    let hog = |line: &String| line.contains("would kill hog (5000)");
    assert!(!kills.is_empty() && kills.iter().all(hog), "{kills:#?}");
    let status: serde_json::Value = serde_json::from_slice(&daemon.status()).unwrap();
    assert_eq!(status["protect"]["last_victim"]["pid"], 5000);
    assert_eq!(status["protect"]["last_victim"]["bytes"], 699_998_208);
    let metrics = String::from_utf8(daemon.metrics()).unwrap();
    let said = format!("hotset_protect_kills_only_said_total {}\n", kills.len());
    assert!(metrics.contains(&said), "{metrics}");
    assert!(metrics.ends_with("# EOF\n"));
}

#[test]
fn nobody_is_killed_for_swap_that_is_full_while_memory_is_fine() {
    let machine = FakeMachine::new();
    session(&machine);
    Person::new(5000, "hog").memory(400_000_000).write(&machine);
    for case in [
        "much is free",
        "clean pages above their floor",
        "nobody takes any",
        "swap left",
    ] {
        let mut memory = Memory::exhausted(&machine);
        match case {
            "much is free" => memory.free = 2 * machine.high(),
            "clean pages above their floor" => memory.file = 160_000,
            "swap left" => memory.swap_free = 100_000,
            _ => {}
        }
        memory.write(&machine);
        let mut daemon = daemon(&machine, config());
        looks(&mut daemon, 30, |_| match case {
            // Swap is being written to all the time.
            "swap left" => {
                memory.swapped_out += 100;
                memory.take(&machine);
            }
            "nobody takes any" => {}
            _ => memory.take(&machine),
        });
        let kills = kills(&mut daemon);
        assert!(kills.is_empty(), "{case}: {kills:#?}");
    }
}

#[test]
fn dirty_pages_are_given_time_to_become_clean() {
    let machine = FakeMachine::new();
    Person::new(5000, "hog").memory(400_000_000).write(&machine);
    let mut memory = Memory::exhausted(&machine);
    (memory.file, memory.dirty) = (400_000, 260_000);
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    let begun = std::time::Instant::now();
    // They have 0.6 s; crates/policy tests that to the look.
    while begun.elapsed() < Duration::from_millis(400) {
        looks(&mut daemon, 1, |_| memory.take(&machine));
        let early = begun.elapsed() < Duration::from_millis(600);
        assert!(!early || kills(&mut daemon).is_empty());
    }
}

#[test]
fn swap_that_looks_free_and_takes_nothing_is_seen_through() {
    let machine = FakeMachine::new();
    Person::new(5000, "hog").memory(400_000_000).write(&machine);
    let mut memory = Memory::exhausted(&machine);
    memory.swap_free = 150_000;
    memory.free = 3_000;
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    until_chosen(&mut daemon, &mut memory, &machine);
    let lines = daemon.log().lines().join("\n");
    assert!(lines.contains("swap takes nothing"), "{lines}");
}

#[test]
fn without_swap_it_kills_and_does_not_steer() {
    let machine = FakeMachine::new();
    Person::new(5000, "hog").memory(400_000_000).write(&machine);
    let mut memory = Memory::exhausted(&machine);
    (memory.swap_total, memory.swap_free) = (0, 0);
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    until_chosen(&mut daemon, &mut memory, &machine);
    assert_eq!(swappiness(&machine), "60");
}

#[test]
fn a_fork_storm_is_killed_as_a_whole_and_no_innocent_with_it() {
    let machine = FakeMachine::new();
    session(&machine);
    let mut memory = Memory::plenty();
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    // Three hundred that have just been started, by a parent that sleeps. Beyond any real pid, for
    // the test's own is spared.
    Person::new(6_000_000, "storm")
        .session(6_000_000)
        .memory(200_000)
        .write(&machine);
    for pid in 6_000_001..6_000_301 {
        Person::new(pid, "storm")
            .parent(6_000_000)
            .session(6_000_000)
            .memory(5_000_000)
            .young()
            .write(&machine);
    }
    memory = Memory::exhausted(&machine);
    memory.write(&machine);
    until_chosen(&mut daemon, &mut memory, &machine);
    let kills = kills(&mut daemon);
    assert_eq!(kills.len(), 1, "{kills:#?}");
    assert!(
        kills[0].contains("would kill storm (6000") && kills[0].contains("in 301 processes"),
        "{kills:#?}"
    );
}

#[test]
fn somebody_who_is_dying_already_is_waited_for() {
    let machine = FakeMachine::new();
    session(&machine);
    Person::new(5000, "hog")
        .memory(400_000_000)
        .dying()
        .write(&machine);
    let mut memory = Memory::exhausted(&machine);
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    looks(&mut daemon, 40, |_| memory.take(&machine));
    assert!(kills(&mut daemon).is_empty());
}

#[test]
fn another_killer_is_told_of_once() {
    let machine = FakeMachine::new();
    Person::new(300, "earlyoom")
        .memory(2_000_000)
        .write(&machine);
    Memory::plenty().write(&machine);
    let mut daemon = daemon(&machine, config());
    looks(&mut daemon, 5, |_| {});
    let lines = daemon.log().lines();
    let about = lines
        .iter()
        .filter(|line| line.contains("earlyoom runs as well"))
        .count();
    assert_eq!(about, 1, "{lines:#?}");
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_it_would() {
    let machine = FakeMachine::new();
    const BOOST: &str = "proc/sys/vm/watermark_boost_factor";
    machine.put(BOOST, "15000\n");
    Person::new(5000, "hog").memory(400_000_000).write(&machine);
    let mut memory = Memory::exhausted(&machine);
    memory.write(&machine);
    let mut config = config();
    config.dry_run = true;
    let mut daemon = daemon(&machine, config);
    until_chosen(&mut daemon, &mut memory, &machine);
    assert_eq!(swappiness(&machine), "60");
    assert_eq!(machine.read(BOOST).trim(), "15000");
    assert!(!machine.path("run/hotset").exists());
    let lines = daemon.log().lines().join("\n");
    for would in [
        "vm.swappiness would become 200 (is 60)",
        "vm.watermark_boost_factor would become 0 (is 15000)",
    ] {
        assert!(lines.contains(would), "{would}: {lines}");
    }
}

#[test]
fn a_slice_gets_its_working_set_and_its_boundary_back() {
    let machine = FakeMachine::new();
    Memory::plenty().write(&machine);
    let place = "sys/fs/cgroup/user.slice/memory.low";
    machine.put(place, "0\n");
    machine.put("sys/fs/cgroup/user.slice/memory.current", "900000000\n");
    machine.put(
        "sys/fs/cgroup/user.slice/memory.stat",
        "active_anon 204800\nactive_file 102400\ninactive_file 409600\nslab_unreclaimable 4096\n\
         workingset_refault_anon 7\nworkingset_refault_file 9\n",
    );
    let mut config = config();
    config.protect.cgroups = vec![hotsetd::protect::settings::Slice {
        name: "user.slice".into(),
        hard: false,
    }];
    let mut daemon = daemon(&machine, config);
    daemon.look();
    assert_eq!(machine.read(place), "311296\n");
    let status: serde_json::Value = serde_json::from_slice(&daemon.status()).unwrap();
    assert_eq!(status["protect"]["cgroups"][0]["bytes"], 311_296);
    daemon.stop();
    assert_eq!(machine.read(place), "0\n");
}

#[test]
fn what_is_locked_is_shown_and_let_go_when_both_floors_bind() {
    let machine = FakeMachine::new();
    machine.put("lib.so", &"x".repeat(1 << 20));
    for pid in [10, 11] {
        let person = Person::new(pid, "program").memory(9_000_000);
        person.maps("1-2 r-xp 0 08:01 7 /lib.so\n").write(&machine);
    }
    let mut memory = Memory::plenty();
    memory.write(&machine);
    let mut config = config();
    config.protect.lock_bytes = 300 << 10;
    let mut daemon = daemon(&machine, config);
    let locked = |daemon: &mut Daemon| -> serde_json::Value {
        let status: serde_json::Value = serde_json::from_slice(&daemon.status()).unwrap();
        status["protect"]["locked"].clone()
    };
    let until = |wanted: u64, daemon: &mut Daemon, between: &mut dyn FnMut()| {
        for _ in 0..1000 {
            between();
            looks(daemon, 1, |_| {});
            if locked(daemon)["bytes"] == wanted {
                return;
            }
        }
        panic!("{wanted} bytes locked: {}", locked(daemon));
    };
    until(300 << 10, &mut daemon, &mut || {});
    assert_eq!(locked(&mut daemon)["files"][0]["path"], "/lib.so");
    assert_eq!(locked(&mut daemon)["files"][0]["users"], 2);
    // One who takes memory without end is no reason: that would be gone as well.
    memory = Memory {
        file: 130_000,
        ..Memory::exhausted(&machine)
    };
    looks(&mut daemon, 20, |_| memory.take(&machine));
    assert_eq!(locked(&mut daemon)["bytes"], 300 << 10);
    memory.anon = 1000;
    until(0, &mut daemon, &mut || memory.take(&machine));
}

#[test]
fn looks_are_rare_far_away_and_quick_near_by() {
    let machine = FakeMachine::new();
    let mut memory = Memory::plenty();
    memory.write(&machine);
    let mut daemon = daemon(&machine, config());
    // Two gigabytes of room at a gigabyte a second: half of that time.
    assert!(daemon.look().unwrap() > 0.5);
    memory.free = machine.low();
    memory.file = 152_000;
    memory.write(&machine);
    // As soon as a look costs at most its share of a CPU, here where nothing is optimized.
    let soon = |next_s: Option<f64>| (0.005..0.05).contains(&next_s.unwrap());
    assert!(soon(daemon.look()));
    // Nothing moves: they become rarer, but not as rare as far away.
    let mut last_s = 0.0;
    looks(&mut daemon, 30, |_| {});
    for _ in 0..3 {
        last_s = daemon.look().unwrap();
    }
    assert_eq!(last_s, 0.25);
    memory.take(&machine);
    assert!(soon(daemon.look()));
}
