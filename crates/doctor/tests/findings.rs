//! Findings of recorded machines and of small ones that a test makes.
use doctor::{examine, Finding, State};
use kernfs::Root;
use std::fs;
use std::path::Path;

/// A root with these files.
fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let usual = [
        ("proc/sys/kernel/osrelease", "6.12.8-amd64\n"),
        (
            "proc/meminfo",
            "MemTotal: 1000000 kB\nMemFree: 500000 kB\nSUnreclaim: 1 kB\nSwapTotal: 0 kB\n",
        ),
    ];
    for (path, text) in usual.iter().chain(files) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn find(root: &Path, subject: &str) -> Option<Finding> {
    let all = examine(&Root::new(root));
    all.into_iter().find(|one| one.subject == subject)
}

/// The state, and the first command.
fn state(files: &[(&str, &str)], subject: &str) -> (State, Option<String>) {
    let root = machine(files);
    let found = find(root.path(), subject).unwrap_or_else(|| panic!("nothing about {subject}"));
    assert_eq!(
        found.advice.is_empty(),
        found.state == State::Good,
        "{found:?}"
    );
    (found.state, found.commands.first().cloned())
}

#[test]
fn every_recorded_kernel_is_examined_and_none_is_wrong() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernfs");
    let mut machines = 0;
    for entry in fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        machines += 1;
        let found = examine(&Root::new(&path));
        let wrong: Vec<&Finding> = found
            .iter()
            .filter(|one| one.state == State::Wrong)
            .collect();
        assert!(found.len() > 6 && wrong.is_empty(), "{path:?}: {wrong:?}");
    }
    assert!(machines > 8);
}

#[test]
fn an_old_kernel_and_a_missing_proc_are_wrong() {
    let old = [("proc/sys/kernel/osrelease", "4.14.1\n")];
    assert_eq!(state(&old, "kernel").0, State::Wrong);
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(find(empty.path(), "kernel").unwrap().state, State::Wrong);
}

#[test]
fn missing_psi_is_cured_with_the_tool_that_is_there() {
    let there = [(
        "proc/pressure/memory",
        "some avg10=0 avg60=0 avg300=0 total=0\n",
    )];
    assert_eq!(state(&there, "pressure"), (State::Good, None));
    let grubby = state(&[("usr/sbin/grubby", "")], "pressure").1.unwrap();
    assert_eq!(grubby, "sudo grubby --update-kernel=ALL --args=psi=1");
    let grub = state(&[("usr/sbin/update-grub", "")], "pressure")
        .1
        .unwrap();
    assert!(grub.contains("/etc/default/grub"), "{grub}");
    assert_eq!(state(&[], "pressure"), (State::Better, None));
    let old = [
        ("proc/sys/kernel/osrelease", "4.18.0-553.el8\n"),
        ("usr/sbin/grubby", ""),
    ];
    assert_eq!(state(&old, "pressure"), (State::Better, None));
}

#[test]
fn swap_is_asked_for_by_each_family_of_packages() {
    let apt = state(&[("usr/bin/apt-get", "")], "swap").1.unwrap();
    assert_eq!(apt, "sudo apt-get install systemd-zram-generator");
    let dnf = state(&[("usr/bin/dnf", "")], "swap").1.unwrap();
    assert_eq!(dnf, "sudo dnf install zram-generator-defaults");
    let area = "Filename Type Size Used Priority\n/dev/zram0 partition 100 0 100\n";
    assert_eq!(state(&[("proc/swaps", area)], "swap").0, State::Good);
    let both = [
        ("proc/swaps", area),
        ("sys/module/zswap/parameters/enabled", "Y\n"),
    ];
    assert_eq!(state(&both, "zswap").0, State::Better);
    let disk = area.replace("zram0", "sda2");
    let disk = [("proc/swaps", disk.as_str()), both[1]];
    assert!(find(machine(&disk).path(), "zswap").is_none());
}

#[test]
fn settings_that_stop_or_starve_the_machine_are_named() {
    let panics = [("proc/sys/vm/panic_on_oom", "1\n")];
    let cure = "sudo sysctl vm.panic_on_oom=0".to_owned();
    assert_eq!(
        state(&panics, "vm.panic_on_oom"),
        (State::Wrong, Some(cure))
    );
    let large = [("proc/sys/vm/min_free_kbytes", "50001\n")];
    assert_eq!(state(&large, "vm.min_free_kbytes").0, State::Better);
    let usual = [
        ("proc/sys/vm/min_free_kbytes", "50000\n"),
        ("proc/sys/vm/panic_on_oom", "0\n"),
    ];
    let root = machine(&usual);
    assert!(find(root.path(), "vm.min_free_kbytes").is_none());
    assert!(find(root.path(), "vm.panic_on_oom").is_none());
    let pool = "MemTotal: 1000000 kB\nMemFree: 500000 kB\nSUnreclaim: 1 kB\nHugePages_Total: 100\n\
                HugePages_Free: 100\nHugepagesize: 2048 kB\n";
    assert_eq!(
        state(&[("proc/meminfo", pool)], "huge pages").0,
        State::Better
    );
    let used = pool.replace("HugePages_Free: 100", "HugePages_Free: 1");
    assert!(find(machine(&[("proc/meminfo", &used)]).path(), "huge pages").is_none());
}

#[test]
fn a_process_counts_as_a_service_by_its_user_or_its_cgroup() {
    let service = |uid: &'static str, cgroup: &'static str| {
        [
            ("proc/7/comm", "earlyoom\n"),
            ("proc/7/status", uid),
            ("proc/7/cgroup", cgroup),
        ]
    };
    let unit = service(
        "Name: x\nUid:\t61234 1 1 1\n",
        "0::/system.slice/earlyoom.service\n",
    );
    let stop = "sudo systemctl disable --now earlyoom".to_owned();
    assert_eq!(state(&unit, "killer"), (State::Better, Some(stop)));
    assert_eq!(
        state(&service("Uid:\t0 0 0 0\n", "0::/\n"), "killer").0,
        State::Better
    );
    let anybody = service("Uid:\t1000 0 0 0\n", "0::/user.slice/user-1000.slice\n");
    assert!(find(machine(&anybody).path(), "killer").is_none());
}

#[test]
fn the_daemon_is_missing_installed_dry_or_running() {
    let start = "sudo systemctl enable --now hotsetd".to_owned();
    assert_eq!(state(&[], "hotsetd"), (State::Better, None));
    let unit = [("usr/lib/systemd/system/hotsetd.service", "")];
    assert_eq!(
        state(&unit, "hotsetd"),
        (State::Better, Some(start.clone()))
    );
    let mut runs = vec![
        ("proc/7/comm", "hotsetd\n"),
        ("proc/7/status", "Uid:\t0 0 0 0\n"),
        ("proc/7/cmdline", "/usr/sbin/hotsetd\0--dry-run\0"),
    ];
    assert_eq!(state(&runs, "hotsetd"), (State::Better, Some(start)));
    runs[2].1 = "/usr/sbin/hotsetd\0";
    assert_eq!(state(&runs, "hotsetd").0, State::Good);
}

#[test]
fn a_container_is_sent_to_its_host() {
    assert_eq!(state(&[(".dockerenv", "")], "container").0, State::Better);
    assert!(find(machine(&[]).path(), "container").is_none());
}
