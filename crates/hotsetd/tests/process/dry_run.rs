//! A dry run writes nothing, but a service's sockets: by its files, on a root that cannot be written, and under seccomp.
use crate::common::FakeMachine;
use crate::process::{Process, PROGRAM};
use crate::started::{started, status};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
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

/// The log names the knob that a run would write, its value and the next.
fn logs_swappiness(process: &Process) -> bool {
    let names_both = |line: &str| line.contains("10") && line.contains("60");
    let log = process.log();
    let mut lines = log.lines();
    lines.any(|line| line.contains("vm.swappiness") && names_both(line))
}

#[test]
fn a_dry_run_changes_makes_and_removes_no_file() {
    let machine = pressed();
    // A journal and a lock that an earlier daemon left stay as well.
    machine.put("run/hotset/hotsetd.lock", "1\n");
    machine.put("var/lib/hotset/learned", "x 1\n");
    let mut before = BTreeMap::new();
    snapshot(machine.root(), &mut before);
    let mut process = Process::start(machine.root(), &["--dry-run", "-v5"]);
    process.until("some samples", |process| {
        process.log().matches("rates: ").count() > 5
    });
    process.until("the knob is logged", logs_swappiness);
    assert!(process.log().contains("--dry-run serves no metrics"));
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    let mut after = BTreeMap::new();
    snapshot(machine.root(), &mut after);
    assert_eq!(before, after);
}

#[test]
fn a_service_that_makes_dry_runs_serves_status_and_metrics_and_writes_no_knob() {
    let machine = pressed();
    let conf = format!("dry_run = true\n{QUICK}");
    machine.put("etc/hotset/hotsetd.conf", &conf);
    let mut process = started(&machine, &["-v5"]);
    process.until("the knob is logged", logs_swappiness);
    let shown = status(&machine).unwrap();
    assert!(shown.dry_run && shown.pid == Some(process.id()));
    let metrics = machine.path("run/hotset/metrics.sock");
    let mut stream = std::os::unix::net::UnixStream::connect(&metrics).unwrap();
    std::io::Write::write_all(&mut stream, b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let page = std::io::read_to_string(stream).unwrap();
    assert!(page.contains("\nhotset_dry_run 1\n"), "{page}");
    // A second one runs beside it, and leaves the sockets to the first.
    let mut second = Process::start(machine.root(), &["-v5"]);
    // Both have one log, in which the lock's file is named by the second alone.
    second.until("the second has seen the first, and samples", |second| {
        let log = second.log();
        let own = log.split("hotsetd.lock").nth(1);
        own.is_some_and(|own| own.matches("rates: ").count() > 20)
    });
    second.signal(libc::SIGTERM);
    assert!(second.wait().success());
    assert_eq!(status(&machine).unwrap().pid, Some(process.id()));
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    assert!(!metrics.exists() && !machine.path("run/hotset/status.sock").exists());
    assert_eq!(machine.read("proc/sys/vm/swappiness").trim(), "60");
    assert!(!machine.path("run/hotset/journal").exists());
}

/// Runs `inside` in a mount namespace of its own. `None`: namespaces are forbidden.
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
fn a_dry_run_works_on_a_root_that_cannot_be_written() {
    let machine = pressed();
    let inside = "mount --bind \"$ROOT\" \"$ROOT\" && mount -o remount,ro,bind \"$ROOT\" || exit 99
                  touch \"$ROOT\"/x 2>/dev/null && exit 98
                  exec \"$0\" \"$@\"";
    let Some(command) = in_a_namespace(inside, machine.root()) else {
        panic!("no mount namespace can be made: run the test as root, or allow user namespaces");
    };
    let mut process = Process::start_as(command, machine.root(), &["--dry-run", "-v5"]);
    process.until("some samples", |process| {
        process.log().matches("rates: ").count() > 5
    });
    assert!(
        !process.log().contains("Read-only"),
        "the dry run tried to write:\n{}",
        process.log()
    );
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());

    // A run that is not dry fails on this root, which shows that the root cannot be written.
    let command = in_a_namespace(inside, machine.root()).unwrap();
    let mut process = Process::start_as(command, machine.root(), &[]);
    assert_eq!(process.wait().code(), Some(3), "{}", process.log());
}

/// Calls that change something outside of the process, whatever their arguments are.
const WRITING: &[libc::c_long] = &[
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_pwritev2,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    libc::SYS_splice,
    libc::SYS_openat2,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_symlinkat,
    libc::SYS_linkat,
    libc::SYS_mknodat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_flock,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_mount,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
];

/// A filter for seccomp(2) that kills a process that writes elsewhere than to stderr, or opens for writing.
fn filter() -> Vec<libc::sock_filter> {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const ANY_BIT: u32 = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    let op = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let kill = op(RETURN, libc::SECCOMP_RET_KILL_PROCESS, 0, 0);
    let allow = op(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0);
    // struct seccomp_data: the number at 0, arguments of eight bytes from 16 on, low half first.
    let argument = |number: u32| op(LOAD, 16 + 8 * number, 0, 0);
    let writing = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u32;
    let mut program = vec![op(LOAD, 0, 0, 0)];
    for &call in WRITING {
        program.extend([op(EQUAL, call as u32, 0, 1), kill]);
    }
    // write: to stderr only.
    let stderr = [argument(0), op(EQUAL, 2, 0, 1), allow, kill];
    program.push(op(EQUAL, libc::SYS_write as u32, 0, stderr.len() as u8));
    program.extend(stderr);
    for (call, flags) in [
        (libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 1),
    ] {
        let open = [argument(flags), op(ANY_BIT, writing, 0, 1), kill, allow];
        program.push(op(EQUAL, call as u32, 0, open.len() as u8));
        program.extend(open);
    }
    program.push(allow);
    program
}

/// The command, killed when it writes.
fn must_not_write(program: &str) -> Command {
    let filter = filter();
    let mut command = Command::new(program);
    let install = move || {
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_ptr().cast_mut(),
        };
        // SAFETY: prctl with numbers; then with a pointer to a program that lives through the call.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0
        };
        match done {
            true => Ok(()),
            false => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec `install` makes two system calls and allocates nothing.
    unsafe { command.pre_exec(install) };
    command
}

#[test]
fn a_dry_run_survives_a_seccomp_filter_that_kills_writers() {
    let machine = pressed();
    let command = must_not_write(PROGRAM);
    let mut process = Process::start_as(command, machine.root(), &["--dry-run", "-v5"]);
    process.until("the knob is logged", logs_swappiness);
    process.until("some samples", |process| {
        process.log().matches("rates: ").count() > 5
    });
    process.signal(libc::SIGTERM);
    assert!(process.wait().success(), "{}", process.log());

    // Without --dry-run the program is killed at its first write.
    let mut process = Process::start_as(must_not_write(PROGRAM), machine.root(), &[]);
    assert_eq!(
        process.wait().signal(),
        Some(libc::SIGSYS),
        "{}",
        process.log()
    );
}
