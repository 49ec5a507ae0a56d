//! Boundaries of cgroups that systemd owns. A script stands in for systemctl and systemd.
use crate::common::FakeMachine;
use crate::fixture::{config, Fixture};
use crate::memory::Memory;
use hotsetd::config::settings::Config;
use hotsetd::protect::settings::ProtectedCgroup;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const LOW: &str = "sys/fs/cgroup/user.slice/memory.low";
const DROP_IN: &str = "run/systemd/system.control/user.slice.d/50-MemoryLow.conf";
/// `systemctl --no-ask-password set-property --runtime -- UNIT NAME=VALUE`, as far as a unit's cgroup and its drop-in
/// show it.
const SYSTEMCTL: &str = r#"#!/bin/sh
root=${0%/usr/bin/systemctl}
[ "$*" = "--no-ask-password set-property --runtime -- user.slice $6" ] || exit 1
[ -e "$root/slow" ] && sleep 0.3
mkdir -p "$root/run/systemd/system.control/user.slice.d"
printf '# A comment.\n[Slice]\n%s\n' "$6" >"$root/run/systemd/system.control/user.slice.d/50-${6%%=*}.conf"
value=${6#MemoryLow=}
[ "$value" = infinity ] && value=max
[ -d "$root/sys/fs/cgroup/user.slice" ] || exit 0
echo "$value" >"$root/sys/fs/cgroup/user.slice/memory.low"
"#;

fn machine(low: &str) -> FakeMachine {
    let machine = FakeMachine::new();
    machine.put("run/systemd/system/x", "");
    machine.put("usr/bin/systemctl", SYSTEMCTL);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(machine.path("usr/bin/systemctl"), mode).unwrap();
    machine.put(LOW, low);
    machine.put("sys/fs/cgroup/user.slice/memory.current", "900000000\n");
    machine.put(
        "sys/fs/cgroup/user.slice/memory.stat",
        "active_anon 204800\nactive_file 102400\n",
    );
    machine
}

fn named() -> Config {
    let mut config = config();
    config.protect.cgroups = vec![ProtectedCgroup {
        name: "user.slice".into(),
        hard: false,
    }];
    config
}

/// A daemon that has asked for user.slice's boundary.
fn with_a_unit(low: &str) -> Fixture {
    let mut fixture = Fixture::new(machine(low), Memory::plenty(), named());
    fixture.step();
    fixture
}

fn until_set(fixture: &Fixture) {
    let begun = Instant::now();
    while fixture.machine.read(LOW) != "307200\n" {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn systemd_sets_the_boundary_of_its_unit_and_gives_it_back_without_a_drop_in() {
    for low in ["0\n", "max\n"] {
        let mut fixture = with_a_unit(low);
        until_set(&fixture);
        assert!(fixture.machine.read(DROP_IN).contains("MemoryLow=307200\n"));
        let begun = Instant::now();
        while fixture.protection().cgroups.unwrap()[0].bytes != 307_200 {
            assert!(begun.elapsed() < Duration::from_secs(10));
            fixture.clock.advance(1.0);
            fixture.step();
        }
        fixture.daemon.stop();
        assert_eq!(fixture.machine.read(LOW), low);
        assert!(!fixture.machine.path(DROP_IN).parent().unwrap().exists());
    }
}

#[test]
fn the_loop_does_not_wait_for_systemd_and_the_end_does() {
    let fake = machine("4096\n");
    fake.put("slow", "");
    let mut fixture = Fixture::new(fake, Memory::plenty(), named());
    fixture.step();
    assert_eq!(fixture.machine.read(LOW), "4096\n");
    fixture.daemon.stop();
    assert_eq!(fixture.machine.read(LOW), "4096\n");
    assert!(!fixture.machine.path(DROP_IN).exists());
}

#[test]
fn the_next_daemon_gives_a_units_boundary_back_after_a_kill() {
    let mut fixture = with_a_unit("4096\n");
    until_set(&fixture);
    fixture.restart(config());
    assert_eq!(fixture.machine.read(LOW), "4096\n");
    assert!(!fixture.machine.path(DROP_IN).exists());
}

#[test]
fn a_unit_that_has_stopped_keeps_no_drop_in() {
    let mut fixture = with_a_unit("0\n");
    until_set(&fixture);
    std::fs::remove_dir_all(fixture.machine.path("sys/fs/cgroup/user.slice")).unwrap();
    assert!(fixture.daemon.stop());
    assert!(!fixture.machine.path(DROP_IN).exists());
}

#[test]
fn a_property_that_the_administrator_has_set_stays() {
    // Before hotsetd.
    let fake = machine("8192\n");
    fake.put(DROP_IN, "[Slice]\nMemoryLow=8192\n");
    let mut fixture = Fixture::new(fake, Memory::plenty(), named());
    fixture.step();
    fixture.daemon.stop();
    assert_eq!(fixture.machine.read(LOW), "8192\n");
    assert!(fixture.machine.read(DROP_IN).contains("MemoryLow=8192\n"));
    // After hotsetd, by the same drop-in and by one of a higher rank.
    for by_drop_in in [true, false] {
        let mut fixture = with_a_unit("0\n");
        until_set(&fixture);
        if by_drop_in {
            fixture.machine.put(DROP_IN, "[Slice]\nMemoryLow=8192\n");
        }
        std::fs::write(fixture.machine.path(LOW), "8192\n").unwrap();
        fixture.daemon.stop();
        assert_eq!(fixture.machine.read(LOW), "8192\n");
        assert_eq!(fixture.machine.path(DROP_IN).exists(), by_drop_in);
    }
}

#[test]
fn a_setting_that_systemd_refuses_is_tried_again_with_the_next_value() {
    let mut fixture = with_a_unit("0\n");
    until_set(&fixture);
    let systemctl = fixture.machine.path("usr/bin/systemctl");
    std::fs::rename(&systemctl, fixture.machine.path("away")).unwrap();
    let active = |fixture: &mut Fixture, bytes: u64| {
        let text = format!("active_anon {bytes}\nactive_file 0\n");
        fixture
            .machine
            .put("sys/fs/cgroup/user.slice/memory.stat", &text);
        fixture.clock.advance(31.0);
        fixture.step();
    };
    active(&mut fixture, 4_096_000);
    let begun = Instant::now();
    while fixture.status().counts.failures == 0 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        fixture.clock.advance(1.0);
        fixture.step();
    }
    assert_eq!(fixture.machine.read(LOW), "307200\n");
    std::fs::rename(fixture.machine.path("away"), &systemctl).unwrap();
    active(&mut fixture, 8_192_000);
    let begun = Instant::now();
    while fixture.machine.read(LOW) != "8192000\n" {
        assert!(begun.elapsed() < Duration::from_secs(10));
        std::thread::sleep(Duration::from_millis(5));
    }
    fixture.daemon.stop();
    assert_eq!(fixture.machine.read(LOW), "0\n");
}
