//! `hotset support` on a machine that a test makes.
use crate::terminal::terminal;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output};

/// A machine with a user, a process and a configuration.
fn machine() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("proc/sys/kernel/osrelease", "6.12.8-amd64\n"),
        ("proc/sys/kernel/hostname", "venus\n"),
        ("proc/meminfo", "MemTotal: 1000000 kB\nMemFree: 500000 kB\n"),
        ("proc/sys/vm/swappiness", "60\n"),
        (
            "proc/77/status",
            "Name:\tmaria-editor\nVmRSS:\t  900 kB\nVmSwap:\t  7 kB\n",
        ),
        ("proc/77/oom_score_adj", "200\n"),
        ("proc/77/cgroup", "0::/user.slice/venus\n"),
        (
            "etc/passwd",
            "root:x:0:0::/root:/bin/sh\nmaria:x:1000:1000::/home/maria:/bin/sh\n",
        ),
        (
            "etc/hotset/hotsetd.conf",
            "[protect.kill]\nhook = \"/home/maria/hook\"\n",
        ),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command
        .args(["support", "--root"])
        .arg(root)
        .args(arguments);
    command
}

fn support(root: &Path, arguments: &[&str]) -> Output {
    command(root, arguments).output().unwrap()
}

#[test]
fn the_text_has_the_machine_and_no_names_of_people() {
    let machine = machine();
    let done = support(machine.path(), &[]);
    assert_eq!(done.status.code(), Some(0));
    let text = String::from_utf8(done.stdout).unwrap();
    for part in [
        "==== hotset --version\n",
        "MemTotal: 1000000 kB",
        "/proc/sys/vm/swappiness 60\n",
        "protect.kill.hook = \"/home/USER1/hook\"",
        "         900           7   200  USER1-editor 0::/user.slice/HOST",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("venus") && !text.contains("maria"), "{text}");
}

#[test]
fn a_file_is_written_whole_and_no_other_is_replaced() {
    let machine = machine();
    let file = machine.path().join("report.txt");
    let name = file.to_str().unwrap();
    let done = support(machine.path(), &["--yes", "--output", name]);
    assert_eq!(done.status.code(), Some(0));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("==== largest processes\n"), "{text}");
    assert!(!String::from_utf8_lossy(&done.stdout).contains("===="));
    fs::write(&file, "mine").unwrap();
    let done = support(machine.path(), &["--yes", "--output", name]);
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let done = support(machine.path(), &["--yes", "--force", "--output", name]);
    assert_eq!(done.status.code(), Some(0));
    assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_person_sees_the_text_before_it_is_written() {
    let machine = machine();
    let file = machine.path().join("report.txt");
    for (answer, written) in [("n\n", false), ("\n", false), ("y\n", true)] {
        let (end, mut controller) = terminal();
        let mut command = command(machine.path(), &["--output", file.to_str().unwrap()]);
        command.stdin(end.try_clone().unwrap());
        command.stdout(end.try_clone().unwrap()).stderr(end);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut seen = String::new();
        let mut bytes = [0; 4096];
        while !seen.contains("[y/N]") {
            let read = controller.read(&mut bytes).unwrap();
            seen += &String::from_utf8_lossy(&bytes[..read]);
        }
        assert!(
            seen.contains("==== largest processes") && !file.exists(),
            "{seen}"
        );
        controller.write_all(answer.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(file.exists(), written);
    }
}

#[test]
fn a_root_without_a_machine_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let done = support(folder.path(), &[]);
    assert_eq!(done.status.code(), Some(3));
}
