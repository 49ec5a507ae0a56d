//! `[protect]` of the configuration file.
use crate::common::FakeMachine;
use crate::fixture::Fixture;
use crate::memory::Memory;
use hotsetd::config::check::Problem;
use hotsetd::config::file::{load, Place};
use hotsetd::config::settings::Config;
use hotsetd::protect::oom::rules::Rule;
use hotsetd::protect::settings::{ProtectedCgroup, When};
use policy::floors::Size;

fn read(text: &str) -> Result<Config, Vec<Problem>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotsetd.conf");
    std::fs::write(&path, text).unwrap();
    load(&Place::named(&path))
}

#[test]
fn every_kind_of_setting_is_taken() {
    let config = read(
        "[protect]\nworkingset_protection = true\nanon_min_ratio = 12\n\
         clean_min_ratio = \"512M\"\nclean_low_ratio = \"7.5%\"\nlock_mb = 64\n\
         [protect.kill]\nwhen = \"always\"\nprefer = [\"cc1*\", \"uid:1000\"]\n\
         [protect.cgroups]\n\"user.slice\" = \"min\"\n",
    );
    let protect = config.unwrap().protect;
    assert!(protect.policy.enabled);
    let floors = protect.policy.floors;
    assert_eq!(floors.anon_min, Size::Percent(12.0));
    assert_eq!(floors.clean_min, Size::Bytes(512 << 20));
    assert_eq!(floors.clean_low, Some(Size::Percent(7.5)));
    assert_eq!(protect.lock_bytes, 64 << 20);
    assert_eq!(protect.kill.when, When::Always);
    let rules = [Rule::Begins("cc1".into()), Rule::Uid(1000)];
    assert_eq!(protect.kill.rules.prefer, rules);
    let cgroup = ProtectedCgroup {
        name: "user.slice".into(),
        hard: true,
    };
    assert_eq!(protect.cgroups, [cgroup]);
}

#[test]
fn a_size_with_a_small_letter_says_which_letter() {
    let found = read("[protect]\nclean_min_ratio = \"512m\"\n").unwrap_err();
    let message = &found[0].message;
    assert!(
        message.starts_with("clean_min_ratio: ") && message.contains("write M, not m"),
        "{message}"
    );
}

#[test]
fn a_name_with_dots_is_asked_for_in_quotes() {
    for (text, name) in [
        (
            "[tunables.at_start]\nvm.dirty_ratio = 10\n",
            "vm.dirty_ratio",
        ),
        (
            "[tunables.at_start]\n\"vm.swappiness\" = 1\nnet.ipv4.tcp_mem = \"1 2 3\"\n",
            "net.ipv4.tcp_mem",
        ),
        ("[protect.cgroups]\nuser.slice = \"low\"\n", "user.slice"),
    ] {
        let found = read(text).unwrap_err();
        let wanted = format!("write \"{name}\" in quotes");
        assert!(found.len() == 1 && found[0].message == wanted, "{found:#?}");
    }
}

#[test]
fn a_wrong_setting_is_refused_with_its_line_and_name() {
    // Settings that contradict each other: the last of their lines.
    for (text, line, named) in [
        ("[protect]\nclean_min_ratio = 101\n", 2, "clean_min_ratio"),
        (
            "[protect]\nclean_min_ratio = \"much\"\n",
            2,
            "clean_min_ratio",
        ),
        (
            "[protect]\nanon_min_ratio = 50\nclean_min_ratio = 41\n",
            3,
            "clean_min_ratio 41",
        ),
        (
            "[protect]\nrealtime_priority = 100\n",
            2,
            "realtime_priority",
        ),
        ("[protect.kill]\nprefer = [\"uid:me\"]\n", 2, "uid:me"),
        ("[protect.kill]\nhook = \"run-me\"\n", 2, "run-me"),
        ("[protect.kill]\n\nwhen = \"now\"\n", 3, "when"),
        ("[protect.cgroups]\n\"../x\" = \"low\"\n", 2, "../x"),
        (
            "[protect.cgroups]\n\"kubepods.slice\" = \"low\"\n",
            2,
            "kubelet",
        ),
        (
            "[protect.cgroups]\n\"kubelet.slice/kubelet-kubepods.slice/x\" = \"min\"\n",
            2,
            "kubelet",
        ),
        (
            "[protect.cgroups]\n\"system.slice/docker-0123.scope\" = \"low\"\n",
            2,
            "container runtime",
        ),
    ] {
        let problems = read(text).unwrap_err();
        let found = problems
            .iter()
            .any(|problem| problem.line == line && problem.message.contains(named));
        assert!(found, "{text}: {problems:#?}");
    }
}

/// The log of a daemon that starts on a machine with this memory.
fn log_of(text: &str, memory: Memory) -> String {
    let machine = FakeMachine::new();
    let text = format!("[protect]\n{text}");
    let mut fixture = Fixture::new(machine, memory, read(&text).unwrap());
    fixture.daemon.log().lines().join("\n")
}

#[test]
fn floors_that_this_machine_cannot_keep_are_a_warning_at_the_start() {
    let log = log_of("", Memory::plenty());
    assert!(log.contains("keeps the floors by vm.swappiness"), "{log}");
    assert!(!log.contains("scaled down"), "{log}");
    for text in [
        "clean_min_ratio = \"900G\"\n",
        "anon_min_ratio = 80\nclean_min_ratio = \"20G\"\n",
    ] {
        let log = log_of(text, Memory::plenty());
        assert!(log.contains("scaled down to 90%"), "{log}");
    }
}

#[test]
fn without_swap_nobody_claims_that_swappiness_keeps_the_floors() {
    let swapless = || Memory {
        swap_total: 0,
        swap_free: 0,
        ..Memory::plenty()
    };
    let log = log_of("clean_min_ratio = 15\n", swapless());
    assert!(!log.contains("keeps the floors by vm.swappiness"), "{log}");
    assert!(
        log.contains("no swap: the floors hold by the kill alone"),
        "{log}"
    );
    let log = log_of(
        "clean_min_ratio = 15\n[protect.kill]\nwhen = \"never\"\n",
        swapless(),
    );
    assert!(log.contains("nothing keeps the floors"), "{log}");
    // Without a hard floor nothing is promised that a kill would have to keep.
    let log = log_of("", swapless());
    assert!(log.contains("no swap: reclaim cannot be steered"), "{log}");
}
