//! The program as its users meet it: signals, sockets, the lock, systemd's protocol.
mod common;
#[path = "common/process.rs"]
mod process;

use common::FakeMachine;
use process::{read_socket, Process, PATIENCE, PROGRAM};
use std::io::{Read, Write};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::Command;
use std::time::{Duration, Instant};

fn status(machine: &FakeMachine) -> Option<serde_json::Value> {
    let words = read_socket(&machine.path("run/hotset/status.sock"))?;
    serde_json::from_str(&words).ok()
}

fn started(machine: &FakeMachine, arguments: &[&str]) -> Process {
    let mut process = Process::start(machine.root(), arguments);
    process.until("the status socket answers", |_| status(machine).is_some());
    process
}

/// Bursts until the knob is written.
fn burst(machine: &mut FakeMachine, process: &mut Process) {
    process.until("a burst raises the knob", |_| {
        machine.allocate(15_000, 3_000);
        machine.wsf() > 10
    });
}

const QUICK: &str = "[sampling]\nnear_s = 0.1\nfar_s = 1.0\n";

#[test]
fn it_runs_tells_and_gives_back_at_sigterm() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let mut process = started(&machine, &[]);
    burst(&mut machine, &mut process);
    let told = status(&machine).unwrap();
    assert_eq!(told["pid"], process.id());
    assert!(told["counts"]["watermark_writes"].as_u64().unwrap() >= 1);
    assert!(
        told["actions"][0]["reason"].as_str().unwrap().len() > 10,
        "{told:#}"
    );
    process.signal(libc::SIGTERM);
    assert!(process.wait().success(), "{}", process.log());
    assert_eq!(machine.wsf(), 10);
    for left in ["journal", "status.sock", "hotsetd.lock"] {
        assert!(!machine.path("run/hotset").join(left).exists(), "{left}");
    }
}

#[test]
fn a_second_one_is_refused_and_a_stale_lock_is_harmless() {
    let machine = FakeMachine::new();
    let mut first = started(&machine, &[]);
    let mut second = Process::start(machine.root(), &[]);
    assert_eq!(second.wait().code(), Some(1));
    assert!(
        second.log().contains("another hotsetd runs"),
        "{}",
        second.log()
    );
    first.kill();
    assert!(machine.path("run/hotset/hotsetd.lock").exists());
    assert!(machine.path("run/hotset/status.sock").exists());
    started(&machine, &[]);
}

#[test]
fn restore_gives_back_what_a_killed_one_left() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let mut process = started(&machine, &[]);
    burst(&mut machine, &mut process);
    let mut refused = Process::start(machine.root(), &["--restore"]);
    assert_eq!(refused.wait().code(), Some(1), "one is running");
    process.kill();
    assert!(machine.wsf() > 10);
    let mut restore = Process::start(machine.root(), &["--restore"]);
    assert!(restore.wait().success());
    assert_eq!(machine.wsf(), 10);
}

#[test]
fn sighup_reads_the_configuration_again() {
    let machine = FakeMachine::new();
    let mut process = started(&machine, &[]);
    machine.put("etc/hotset/hotsetd.conf", "aggressiveness = 3\n");
    process.signal(libc::SIGHUP);
    process.until("level 3", |_| {
        status(&machine).is_some_and(|told| told["aggressiveness"] == 3)
    });
    machine.put(
        "etc/hotset/hotsetd.conf",
        "aggressiveness = 1\nagressiveness = 2\n",
    );
    process.signal(libc::SIGHUP);
    process.until_says("hotsetd.conf:2: unknown field `agressiveness`");
    process.until_says("going on with the old one");
    assert_eq!(status(&machine).unwrap()["aggressiveness"], 3);
}

#[test]
fn metrics_over_a_unix_socket_and_loopback() {
    let machine = FakeMachine::new();
    let conf = "[metrics]\nlisten = \"unix:/run/hotset/metrics.sock\"\n";
    machine.put("etc/hotset/hotsetd.conf", conf);
    let _process = started(&machine, &[]);
    let mut stream = UnixStream::connect(machine.path("run/hotset/metrics.sock")).unwrap();
    // In two pieces, as a slow network has it.
    stream.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    stream.write_all(b"Host: here\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("\nhotset_samples_total "), "{answer}");
    assert!(
        answer.contains("\nhotset_free_pages{node=\"0\"} 300000\n"),
        "{answer}"
    );
    assert!(answer.ends_with("# EOF\n"), "{answer}");

    let other = FakeMachine::new();
    // A port that is free now; the kernel gives it to nobody else so soon.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let conf = format!("[metrics]\nlisten = \"127.0.0.1:{port}\"\n");
    other.put("etc/hotset/hotsetd.conf", &conf);
    let _other = started(&other, &[]);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.contains("openmetrics-text") && answer.ends_with("# EOF\n"),
        "{answer}"
    );
}

#[test]
fn clients_that_never_ask_or_never_read_do_not_stop_it() {
    let machine = FakeMachine::new();
    let conf = "[metrics]\nlisten = \"unix:/run/hotset/metrics.sock\"\n";
    machine.put("etc/hotset/hotsetd.conf", &format!("{conf}{QUICK}"));
    let mut process = started(&machine, &[]);
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(UnixStream::connect(machine.path("run/hotset/metrics.sock")).unwrap());
        idle.push(UnixStream::connect(machine.path("run/hotset/status.sock")).unwrap());
    }
    let samples = |told: &serde_json::Value| told["counts"]["samples"].as_u64().unwrap();
    let before = samples(&status(&machine).unwrap());
    process.until("it goes on", |_| {
        status(&machine).is_some_and(|told| samples(&told) > before + 1)
    });
}

#[test]
fn systemd_is_told() {
    let machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let place = machine.path("notify");
    let socket = UnixDatagram::bind(&place).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let next = || {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let mut command = Command::new(PROGRAM);
    command
        .env("NOTIFY_SOCKET", &place)
        .env("WATCHDOG_USEC", "1000000");
    let mut process = Process::start_as(command, machine.root(), &[]);
    assert_eq!(next(), "READY=1");
    let begun = Instant::now();
    for _ in 0..3 {
        assert_eq!(next(), "WATCHDOG=1");
    }
    assert!(begun.elapsed() < PATIENCE);
    process.signal(libc::SIGTERM);
    while next() != "STOPPING=1" {}
    assert!(process.wait().success());
}

#[test]
fn a_wrong_option_or_configuration_ends_it_with_2() {
    let machine = FakeMachine::new();
    let mut process = Process::start(machine.root(), &["--agressiveness", "2"]);
    assert_eq!(process.wait().code(), Some(2));
    for (arguments, words) in [
        (&["-a", "0"][..], "-a 0: a number from 1 to 3"),
        (&["--verbosity=9"], "--verbosity 9"),
        (&["--dry-run=yes"], "takes no value"),
        (&["-m"], "wants a value"),
    ] {
        let mut process = Process::start(machine.root(), arguments);
        assert_eq!(process.wait().code(), Some(2));
        assert!(process.log().contains(words), "{}", process.log());
    }
    machine.put("etc/hotset/hotsetd.conf", "verbosity = 3\n");
    machine.put(
        "etc/hotset/hotsetd.conf.d/10-mine.conf",
        "\n[free_pages]\nenable = true\n",
    );
    for arguments in [&[][..], &["--check-config"]] {
        let mut process = Process::start(machine.root(), arguments);
        assert_eq!(process.wait().code(), Some(2));
        assert!(process
            .log()
            .contains("10-mine.conf:3: unknown field `enable`"));
    }
    assert!(!machine.path("run").exists());
}

#[test]
fn sigkill_of_the_program_under_load() {
    let mut machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let mut changed = 0;
    for round in 0..20u64 {
        machine.free = 300_000;
        machine.write();
        let mut process = started(&machine, &["-a", "3"]);
        let begun = Instant::now();
        // Different moments each time, before and after the first write.
        let until = Duration::from_millis(100 + round * 97 % 1500);
        while begun.elapsed() < until {
            machine.allocate(15_000, 3_000);
            std::thread::sleep(Duration::from_millis(10));
        }
        process.kill();
        changed += u32::from(machine.wsf() != 10);
        let mut next = started(&machine, &[]);
        next.signal(libc::SIGTERM);
        assert!(next.wait().success(), "{}", next.log());
        assert_eq!(machine.wsf(), 10, "round {round}");
        assert_eq!(machine.read("proc/sys/vm/compaction_proactiveness"), "20\n");
        assert_eq!(machine.read("proc/sys/vm/vfs_cache_pressure"), "100\n");
    }
    assert!(
        changed > 3,
        "only {changed} of 20 kills found the knob changed"
    );
}

#[test]
fn in_the_background_it_is_a_process_of_its_own() {
    let machine = FakeMachine::new();
    let mut parent = Process::start(machine.root(), &["--background", "--log", "stderr"]);
    assert!(parent.wait().success());
    let begun = Instant::now();
    let told = loop {
        if let Some(told) = status(&machine) {
            break told;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", parent.log());
        std::thread::sleep(Duration::from_millis(10));
    };
    let pid = told["pid"].as_u64().unwrap() as i32;
    assert_ne!(pid as u32, parent.id());
    // SAFETY: kill only sends; the pid is that of the daemon which has just answered.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    while machine.path("run/hotset/hotsetd.lock").exists() {
        assert!(begun.elapsed() < PATIENCE, "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The kernel's own pressure file below a root that is otherwise of files: a trigger belongs to its
/// descriptor, and changes nothing of the machine.
#[test]
fn pressure_of_the_kernel_is_waited_for() {
    let machine = FakeMachine::new();
    std::os::unix::fs::symlink("/proc/pressure", machine.path("proc/pressure")).unwrap();
    let process = started(&machine, &[]);
    if !std::path::Path::new("/proc/pressure/memory").exists() {
        eprintln!("NOT TESTED: this kernel has no PSI");
        return;
    }
    let fds = std::fs::read_dir(format!("/proc/{}/fd", process.id())).unwrap();
    let held: Vec<_> = fds
        .filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok())
        .filter(|path| path.ends_with("pressure/memory"))
        .collect();
    // One to read, one with the trigger.
    assert_eq!(held.len(), 2, "{}", process.log());
    assert!(!process.log().contains("no trigger"), "{}", process.log());
}
