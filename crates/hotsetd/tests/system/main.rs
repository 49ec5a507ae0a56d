//! Tests that need the system itself: systemd, groff, strace, the capabilities of root, memory
//! pressure, a message bus. Run with `--test system -- --ignored`.
#[path = "../common/mod.rs"]
mod common;
mod desktop;
#[path = "../common/fake_process.rs"]
mod fake_process;
#[path = "../common/memory.rs"]
mod memory;
#[path = "../common/process.rs"]
mod process;

use common::FakeMachine;
use hotsetd::config::settings::Pressure;
use hotsetd::runtime::wake::pressure_trigger;
use process::{read_socket, Process, PROGRAM};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const QUICK: &str = "[sampling]\nnear_s = 0.1\nfar_s = 1.0\n\
                     [tunables.at_start]\n\"vm.swappiness\" = 10\n";

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(top().join(path)).unwrap()
}

/// The unit in a folder of its own, with a program that exists.
fn unit_in(folder: &Path) -> PathBuf {
    let unit = read("dist/systemd/hotsetd.service");
    let path = folder.join("hotsetd.service");
    std::fs::write(&path, unit.replace("/usr/sbin/hotsetd", PROGRAM)).unwrap();
    path
}

/// The lines in which systemd-analyze reports on the unit itself.
fn verify(unit: &Path) -> Vec<String> {
    let mut verify = Command::new("systemd-analyze");
    let done = verify.args(["verify", "--man=no"]).arg(unit).output();
    let done = done.expect("install systemd: systemd-analyze is missing");
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{text}");
    let own = |line: &&str| {
        ["hotsetd", "lock_mb", "metrics"]
            .iter()
            .any(|name| line.contains(name))
    };
    text.lines().filter(own).map(str::to_owned).collect()
}

#[test]
#[ignore = "system: needs systemd-analyze"]
fn systemd_accepts_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(verify(&unit_in(folder.path())), [""; 0]);
}

/// systemd's exposure level of the unit, from 0 to 10. The unit's own comments say what each power is for.
#[test]
#[ignore = "system: needs systemd-analyze"]
fn the_unit_has_few_powers() {
    let folder = tempfile::tempdir().unwrap();
    let mut analyze = Command::new("systemd-analyze");
    // In tenths.
    analyze.args(["security", "--offline=yes", "--no-pager", "--threshold=20"]);
    let done = analyze.arg(unit_in(folder.path())).output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}");
    assert!(text.contains("Overall exposure level"), "{text}");
}

/// systemd only warns of an unknown line: each must be one that the unit has as well.
#[test]
#[ignore = "system: needs systemd-analyze"]
fn systemd_accepts_the_drop_ins() {
    for name in ["lock_mb.conf", "metrics.conf"] {
        let folder = tempfile::tempdir().unwrap();
        let path = unit_in(folder.path());
        let unit = std::fs::read_to_string(&path).unwrap();
        let inner = folder.path().join("hotsetd.service.d");
        std::fs::create_dir(&inner).unwrap();
        let drop_in = read(&format!("dist/systemd/{name}"));
        std::fs::write(inner.join(name), &drop_in).unwrap();
        let settings =
            { drop_in.lines() }.filter(|line| !line.starts_with('#') && *line != "[Service]");
        for line in settings {
            let (name, _) = line.split_once('=').unwrap_or((line, ""));
            // IPAddressAllow takes back a part of IPAddressDeny.
            let known = unit.contains(name) || name == "IPAddressAllow";
            assert!(known, "{name} is not in the unit");
        }
        assert_eq!(verify(&path), [""; 0]);
    }
}

/// The capabilities of unit and drop-in are enough to see and lock files that another user's process
/// has open. Those of the unit alone are not, so the drop-in is needed.
#[test]
#[ignore = "system: needs root and setpriv"]
fn the_drop_in_and_it_alone_lets_other_users_files_be_locked() {
    let bounds = |text: &str| -> String {
        let lines = text
            .lines()
            .filter_map(|line| line.strip_prefix("CapabilityBoundingSet="));
        let names = lines.flat_map(str::split_whitespace);
        let lower = names.map(|name| name.trim_start_matches("CAP_").to_lowercase());
        lower.map(|name| format!(",+{name}")).collect()
    };
    let unit = bounds(&read("dist/systemd/hotsetd.service"));
    let both = format!("{unit}{}", bounds(&read("dist/systemd/lock_mb.conf")));
    // A `sleep` of user nobody has its program mapped, and a file open that only nobody may read.
    let script = r#"
        file=$(mktemp) || exit 99
        chown nobody "$file" && chmod 600 "$file" || exit 99
        setpriv --reuid=nobody --clear-groups --bounding-set=-all sh -c 'exec sleep 60 < "$0"' "$file" &
        child=$!
        until [ "$(readlink /proc/$child/exe)" = "$(readlink -f "$(command -v sleep)")" ]; do
            kill -0 $child || exit 99
        done
        try() {
            setpriv --no-new-privs --inh-caps=-all --bounding-set=-all$1 sh -c "cat /proc/$child/maps > /dev/null && cat /proc/$child/fd/0" 2> /dev/null
        }
        code=0
        try "$2" || code=1
        try "$1" && code=2
        kill $child
        rm "$file"
        exit $code"#;
    let mut sh = Command::new("sh");
    let done = sh.args(["-c", script, "sh", &unit, &both]).output();
    match done.unwrap().status.code() {
        Some(0) => {}
        Some(1) => panic!("the capabilities of unit and drop-in are not enough"),
        Some(2) => panic!("the drop-in is needless"),
        other => panic!("{other:?}: run the test as root, with util-linux's setpriv installed"),
    }
}

/// The mounts that the unit asks for leave exactly the knobs to be written. Opened for writing
/// only: nothing is written to this machine.
#[test]
#[ignore = "system: needs root, unshare and setpriv"]
fn the_units_sandbox_lets_the_knobs_be_opened() {
    let inside =
        "mount --bind /proc/sys /proc/sys && mount --bind /proc/sys/vm /proc/sys/vm || exit 99
        mount -o remount,ro,bind /proc/sys || exit 99
        exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+ipc_lock,+sys_resource \
            sh -c ': >> /proc/sys/vm/watermark_scale_factor || exit 1
                   (: >> /proc/sys/kernel/hostname) 2>/dev/null && exit 2
                   exit 0'";
    let done = Command::new("unshare")
        .args(["-m", "sh", "-c", inside])
        .output();
    match done.unwrap().status.code() {
        Some(0) => {}
        Some(1) => panic!("the sandbox forbids vm.watermark_scale_factor"),
        Some(2) => panic!("the sandbox allows kernel.hostname"),
        other => panic!("{other:?}: run the test as root, with unshare and setpriv installed"),
    }
}

#[test]
#[ignore = "system: needs groff"]
fn groff_renders_the_man_pages_without_a_warning() {
    for page in ["dist/man/hotsetd.8", "dist/man/hotsetd.conf.5"] {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tutf8"]).arg(top().join(page));
        let done = groff.output().expect("install groff");
        let warnings = String::from_utf8_lossy(&done.stderr);
        assert!(warnings.is_empty(), "{page}: {warnings}");
    }
}

#[test]
#[ignore = "system: needs strace"]
fn no_system_call_of_a_dry_run_writes() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    machine.free = machine.low() + 100;
    machine.write();
    let trace = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-s", "200", "-o"])
        .arg(trace.path())
        .arg(PROGRAM);
    let installed = Command::new("strace").arg("-V").output().is_ok();
    assert!(installed, "install strace");
    let mut process = Process::start_as(command, machine.root(), &["--dry-run", "-v5"]);
    process.until("some samples", |process| {
        process.log().matches("rates: ").count() > 3
    });
    // The signal goes to the daemon, not to strace, which ends with the daemon.
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
    // No page frames are read.
    assert!(!lines.contains("/proc/kpage"));
    let wrong: Vec<_> = lines.lines().filter(|line| writes(line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether this line of a trace changes anything outside of the process.
fn writes(line: &str) -> bool {
    let call = line
        .split_whitespace()
        .skip(1)
        .collect::<Vec<_>>()
        .join(" ");
    let name = call.split('(').next().unwrap_or("");
    match name {
        // stderr is the log.
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

/// A trigger belongs to its descriptor, and changes nothing of the machine.
#[test]
#[ignore = "system: needs a kernel with PSI, and root"]
fn the_kernel_accepts_the_trigger_of_memory_pressure() {
    let settings = Pressure {
        enabled: true,
        stall_ms: 50,
        window_ms: 1000,
    };
    pressure_trigger("/".as_ref(), settings).expect("a kernel with CONFIG_PSI, and root");
}

/// The kernel's own pressure file below a root that is otherwise of files: a trigger belongs to its
/// descriptor, and changes nothing of the machine.
#[test]
#[ignore = "system: needs a kernel with PSI, and root"]
fn the_daemon_holds_a_trigger_of_memory_pressure() {
    let machine = FakeMachine::new();
    std::os::unix::fs::symlink("/proc/pressure", machine.path("proc/pressure")).unwrap();
    let mut process = Process::start(machine.root(), &[]);
    process.until("the status socket answers", |_| {
        read_socket(&machine.path("run/hotset/status.sock")).is_some()
    });
    let fds = std::fs::read_dir(format!("/proc/{}/fd", process.id())).unwrap();
    let held: Vec<_> = fds
        .filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok())
        .filter(|path| path.ends_with("pressure/memory"))
        .collect();
    // One descriptor is for reading, one for the samples of protection, and one has the trigger.
    assert_eq!(held.len(), 3, "{}", process.log());
}

/// Prometheus' own checker of names, units, types and texts.
#[test]
#[ignore = "system: needs promtool"]
fn promtool_accepts_the_metrics() {
    let machine = FakeMachine::new();
    let conf = "[metrics]\nlisten = \"unix:/run/hotset/metrics.sock\"\n";
    let protect = "[protect]\nclean_min_ratio = 10\nlock_mb = 8\n";
    machine.put(
        "etc/hotset/hotsetd.conf",
        &format!("{conf}{protect}{QUICK}"),
    );
    let mut process = Process::start(machine.root(), &[]);
    let socket = machine.path("run/hotset/metrics.sock");
    process.until("there are metrics", |_| {
        UnixStream::connect(&socket).is_ok()
    });
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, page) = answer.split_once("\r\n\r\n").expect(&answer);
    let mut promtool = Command::new("promtool");
    promtool
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = promtool
        .spawn()
        .expect("promtool is missing: script/test fetches it, or install prometheus");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(page.as_bytes())
        .unwrap();
    let done = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && text.is_empty(), "{text}\n{page}");
}
