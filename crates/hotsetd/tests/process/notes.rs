//! `--check-config` on a valid configuration: notes on what has no effect.
use crate::common::FakeMachine;
use crate::process::PROGRAM;
use std::process::Command;

/// The notes on a configuration. Each is a line of the output that names `hotsetd.conf:LINE`.
fn notes(machine: &FakeMachine, text: &str) -> Vec<String> {
    machine.put("etc/hotset/hotsetd.conf", text);
    let mut command = Command::new(PROGRAM);
    command.arg("--root").arg(machine.root());
    let done = command.arg("--check-config").output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let out = String::from_utf8(done.stdout).unwrap();
    let (_, notes) = out.split_once("Notes:\n").unwrap_or_default();
    let place = |line: &str| Some(line.split_once("hotsetd.conf:")?.1.to_owned());
    notes.lines().map(|line| place(line).unwrap()).collect()
}

const PROTECT: &str = "[protect]\nanon_min_ratio = 15\n";
const MEMORY: &str = "MemTotal:       25165824 kB\nSwapTotal:       1048576 kB\n";

#[test]
fn a_setting_without_effect_is_noted_at_its_line() {
    let machine = FakeMachine::new();
    machine.put("proc/meminfo", MEMORY);
    machine.put("sys/enabled", "always [madvise] never\n");
    let with = |rest: &str| format!("{PROTECT}{rest}");
    let cases = [
        (
            "[protect]\nworkingset_protection = false\nlock_mb = 64\n".into(),
            "3: protect.lock_mb ",
        ),
        (
            "[protect]\nworkingset_protection = false\n[protect.kill]\nprefer = [\"hog\"]\n".into(),
            "4: protect.kill.prefer ",
        ),
        (
            with("[protect.kill]\nwhen = \"never\"\nnotify = false\n"),
            "5: protect.kill.notify ",
        ),
        (
            "[free_pages]\nenabled = false\nmax_gap_gb = 2\n".into(),
            "3: free_pages.max_gap_gb ",
        ),
        (
            "[tunables]\nenabled = false\n[tunables.at_start]\n\"vm.swappiness\" = 1\n".into(),
            "4: tunables.at_start.vm.swappiness ",
        ),
        (
            "[tunables.at_start]\n\"vm.swappiness\" = \"lots\"\n".into(),
            "2: vm.swappiness = \"lots\" is no number",
        ),
        (
            "[tunables.at_start]\n\"/sys/enabled\" = \"sometimes\"\n".into(),
            "2: /sys/enabled = \"sometimes\" is none of always ",
        ),
        (
            "[tunables.at_start]\n\"vm.no_such\" = 1\n".into(),
            "2: vm.no_such ",
        ),
        (
            with("[protect.kill]\nhook = \"/no/such/program\"\n"),
            "4: hook has no effect: /no/such/program",
        ),
        (
            with("[protect.kill]\nhook = \"/etc/passwd\"\n"),
            "4: hook has no effect: /etc/passwd: not a program",
        ),
        (
            with("[protect.kill]\nprotect = [\"a\"]\nprefer = [\"b\", \"a\"]\n"),
            "5: prefer: \"a\" has no effect",
        ),
        (
            with("[protect.kill]\nprefer = [\"sshd\"]\n"),
            "4: prefer: \"sshd\" has no effect",
        ),
        (
            with("clean_min_ratio = \"900G\"\n"),
            "3: the hard floors are 3765%",
        ),
        (
            "[protect]\nanon_min_ratio = \"80%\"\nclean_min_ratio = \"20G\"\n".into(),
            "3: the hard floors are 163%",
        ),
    ];
    for (text, wanted) in &cases {
        let found = notes(&machine, text);
        assert!(
            found.len() == 1 && found[0].starts_with(wanted),
            "{text}: {found:#?}"
        );
    }
}

#[test]
fn a_configuration_that_has_effect_has_no_notes() {
    let machine = FakeMachine::new();
    machine.put("proc/meminfo", MEMORY);
    machine.put("sys/enabled", "always [madvise] never\n");
    let text = format!(
        "{PROTECT}lock_mb = 64\nclean_min_ratio = \"2G\"\n[protect.kill]\nhook = \"/bin/sh\"\n\
         protect = [\"a\"]\nprefer = [\"b\"]\n[tunables.at_start]\n\"vm.swappiness\" = 10\n\
         \"/sys/enabled\" = \"never\"\n"
    );
    assert_eq!(notes(&machine, &text), Vec::<String>::new());
}

#[test]
fn floors_without_swap_are_noted_unless_the_kernel_keeps_them() {
    let machine = FakeMachine::new();
    machine.put("proc/meminfo", "MemTotal: 25165824 kB\nSwapTotal: 0 kB\n");
    let found = notes(&machine, PROTECT);
    assert!(found[0].starts_with("2: ") && found[0].contains("no swap"));
    let never = format!("{PROTECT}[protect.kill]\nwhen = \"never\"\n");
    let found = notes(&machine, &never);
    assert!(found[0].contains("nothing keeps"), "{found:?}");
    machine.put("proc/sys/vm/workingset_protection", "0\n");
    assert_eq!(notes(&machine, PROTECT), Vec::<String>::new());
}
