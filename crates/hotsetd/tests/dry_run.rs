//! `--dry-run` writes nothing: seen from the files, from a root that cannot be written, and from
//! the system calls.
mod common;
#[path = "common/process.rs"]
mod process;

use common::FakeMachine;
use process::{Process, PROGRAM};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const QUICK: &str = "[sampling]\nnear_s = 0.1\nfar_s = 1.0\n\
                     [tunables.at_start]\n\"vm.swappiness\" = 10\n\
                     [metrics]\nlisten = \"unix:/run/hotset/metrics.sock\"\n";

/// Path, content, and when it was last changed, of everything below.
fn snapshot(folder: &Path, into: &mut BTreeMap<PathBuf, (Vec<u8>, i64, i64)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let content = match about.is_dir() {
            true => Vec::new(),
            false => std::fs::read(&path).unwrap(),
        };
        into.insert(path.clone(), (content, about.mtime(), about.mtime_nsec()));
        if about.is_dir() {
            snapshot(&path, into);
        }
    }
}

/// A machine on which the daemon would have much to do: free pages just above low.
fn pressed() -> FakeMachine {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    machine.free = machine.low() + 100;
    machine.write();
    machine
}

#[test]
fn no_file_is_changed_made_or_removed() {
    let machine = pressed();
    // A journal and a lock that an earlier one left: they stay as well.
    machine.put("run/hotset/hotsetd.lock", "1\n");
    let mut before = BTreeMap::new();
    snapshot(machine.root(), &mut before);
    let mut process = Process::start(machine.root(), &["--dry-run", "-v5"]);
    process.until("some samples", |process| {
        process.log().matches("rates: ").count() > 5
    });
    // What was there to be done is told.
    process.until_says("dry run: vm.swappiness would become 10 (is 60)");
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    let mut after = BTreeMap::new();
    snapshot(machine.root(), &mut after);
    assert_eq!(before, after);
}

/// Runs `inside` in a mount namespace of its own. `None`, loudly, where that is forbidden.
fn in_a_namespace(inside: &str, root: &Path) -> Option<Command> {
    for how in [&["-m"][..], &["-rm"]] {
        let works = Command::new("unshare").args(how).arg("true").output();
        if works.is_ok_and(|done| done.status.success()) {
            let mut command = Command::new("unshare");
            command
                .args(how)
                .args(["sh", "-c", inside, PROGRAM])
                .env("ROOT", root);
            return Some(command);
        }
    }
    None
}

#[test]
fn it_works_on_a_root_that_cannot_be_written() {
    let machine = pressed();
    let inside = "mount --bind \"$ROOT\" \"$ROOT\" && mount -o remount,ro,bind \"$ROOT\" || exit 99
                  touch \"$ROOT\"/x 2>/dev/null && exit 98
                  exec \"$0\" \"$@\"";
    let Some(command) = in_a_namespace(inside, machine.root()) else {
        panic!("no mount namespace can be made here, so this cannot be tested: run it as root, or allow user namespaces");
    };
    let mut process = Process::start_as(command, machine.root(), &["--dry-run", "-v5"]);
    process.until("some samples", |process| {
        process.log().matches("rates: ").count() > 5
    });
    assert!(
        !process.log().contains("Read-only"),
        "it tried:\n{}",
        process.log()
    );
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());

    // And a run that is not dry does not get by: the root truly cannot be written.
    let command = in_a_namespace(inside, machine.root()).unwrap();
    let mut process = Process::start_as(command, machine.root(), &[]);
    assert_eq!(process.wait().code(), Some(1), "{}", process.log());
}

#[test]
fn no_system_call_of_it_writes() {
    let machine = pressed();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-s", "200", "-o"])
        .arg(trace.path())
        .arg(PROGRAM);
    if Command::new("strace").arg("-V").output().is_err() {
        panic!("strace is not installed, so this cannot be tested: apt-get install strace");
    }
    let mut process = Process::start_as(command, machine.root(), &["--dry-run", "-v5"]);
    process.until("some samples", |process| {
        process.log().matches("rates: ").count() > 3
    });
    // To the daemon, not to strace: it ends when that does.
    let lines = std::fs::read_to_string(trace.path()).unwrap();
    let pid: i32 = lines.split_whitespace().next().unwrap().parse().unwrap();
    // SAFETY: the grandchild is ours, and alive as long as strace is.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    assert!(process.wait().success());
    let lines = std::fs::read_to_string(trace.path()).unwrap();
    assert!(
        lines.contains("proc/zoneinfo") && lines.contains("epoll_"),
        "not traced"
    );
    // No page frame is looked at one by one.
    assert!(!lines.contains("/proc/kpage"));
    let wrong: Vec<_> = lines.lines().filter(|line| writes(line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Does this line of a trace change anything outside of the process?
fn writes(line: &str) -> bool {
    let call = line
        .split_whitespace()
        .skip(1)
        .collect::<Vec<_>>()
        .join(" ");
    let name = call.split('(').next().unwrap_or("");
    match name {
        // The log.
        "write" => !call.starts_with("write(2, "),
        "open" | "openat" | "openat2" => {
            ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
                .iter()
                .any(|flag| call.contains(flag))
                && !call.contains("/dev/null")
        }
        "writev" | "pwrite64" | "pwritev" | "pwritev2" | "sendto" | "sendmsg" | "sendfile"
        | "copy_file_range" | "splice" | "mkdir" | "mkdirat" | "unlink" | "unlinkat" | "rename"
        | "renameat" | "renameat2" | "truncate" | "ftruncate" | "chmod" | "fchmod" | "fchmodat"
        | "bind" | "connect" | "flock" | "fsync" | "fdatasync" | "mount" | "symlink" | "link"
        | "creat" | "mknod" | "fallocate" | "utimensat" | "setxattr" => true,
        _ => false,
    }
}

#[test]
fn the_audit_of_system_calls_sees_a_write() {
    assert!(writes(
        "12 openat(AT_FDCWD, \"/proc/sys/vm/x\", O_WRONLY|O_CLOEXEC) = 3"
    ));
    assert!(writes("12 write(3, \"70\\n\", 3) = 3"));
    assert!(writes("12 bind(3, {sa_family=AF_UNIX}, 20) = 0"));
    assert!(!writes("12 write(2, \"hotsetd: \", 9) = 9"));
    assert!(!writes(
        "12 openat(AT_FDCWD, \"/proc/vmstat\", O_RDONLY|O_CLOEXEC) = 3"
    ));
}
