//! Real processes, really killed: in a pid namespace of their own, whose memory is a file's word. A
//! hog is started again and again among fifty innocents, and then a fork storm.
mod common;
#[path = "common/people.rs"]
mod people;
#[path = "common/process.rs"]
mod process;

use common::FakeMachine;
use people::Memory;
use process::{Process, PROGRAM};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Kills of a hog.
const ROUNDS: usize = 12;
const INNOCENTS: usize = 50;
const MB: usize = 1 << 20;
/// A hundred processes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

const CONF: &str = "[protect]\nworkingset_protection = true\nrealtime_priority = 0\n\
                    [protect.kill]\nnotify = false\n[pressure]\nenabled = false\n";

/// Hogs are told to stop by a file, as is the storm to begin.
const INSIDE: &str = "mount -t proc proc \"$ROOT/proc\" || exit 99
    for file in vmstat zoneinfo meminfo; do
        mount --bind \"$ROOT/files/$file\" \"$ROOT/proc/$file\" || exit 99
    done
    mount --bind \"$ROOT/files/sys\" \"$ROOT/proc/sys\" || exit 99
    i=0
    while [ $i -lt 50 ]; do WHAT=innocent $HELPER & i=$((i + 1)); done
    (while [ ! -e \"$ROOT/no-hog\" ]; do WHAT=hog $HELPER; done
     while [ ! -e \"$ROOT/storm\" ]; do sleep 0.05; done
     WHAT=storm $HELPER) >/dev/null 2>&1 &
    \"$0\" \"$@\"";

/// Not a test of its own: what is killed, and what is not.
#[test]
#[ignore = "a child of the test below"]
fn helper() {
    let Ok(what) = std::env::var("WHAT") else {
        return;
    };
    // The leader's name: a test runs in a thread. The storm has the innocents' name.
    let name = if what == "hog" { "hog" } else { "worker" };
    std::fs::write("/proc/self/comm", name).unwrap();
    let touch = |bytes: usize| {
        let mut memory: Vec<u8> = Vec::new();
        for _ in 0..bytes.div_ceil(MB) {
            memory.extend(std::iter::repeat_n(1, MB.min(bytes)));
        }
        std::mem::forget(memory);
    };
    match what.as_str() {
        "innocent" => touch(2 * MB),
        "child" => touch(4 * MB),
        "hog" => touch(60 * MB),
        _ => {
            // It goes on until it is stopped.
            loop {
                let mut child = Command::new(std::env::current_exe().unwrap());
                child
                    .args(["--exact", "helper", "--ignored"])
                    .env("WHAT", "child");
                let _ = child.spawn();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
    std::thread::sleep(Duration::from_secs(600));
}

/// Pid and resident anonymous MB of each helper of this test that is `what`.
fn alive(root: &Path, what: &str) -> Vec<(String, usize)> {
    let marks = [
        format!("ROOT={}\0", root.display()),
        format!("WHAT={what}\0"),
    ];
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let environment = String::from_utf8_lossy(&read("environ")).into_owned() + "\0";
        if !marks.iter().all(|mark| environment.contains(mark)) {
            continue;
        }
        let status = String::from_utf8_lossy(&read("status")).into_owned();
        let kib = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        if let Some(kib) = kib {
            let pid = entry.file_name().to_string_lossy().into_owned();
            let kib: usize = kib.trim().trim_end_matches(" kB").parse().unwrap();
            found.push((pid, kib / 1024));
        }
    }
    found.sort();
    found
}

/// The namespace's memory as the files say it. In place: what is bound is the file, not its name.
fn say(machine: &FakeMachine, memory: &Memory) {
    memory.write(machine);
    for name in ["vmstat", "zoneinfo", "meminfo"] {
        let text = machine.read(&format!("proc/{name}"));
        let place = machine.path(&format!("files/{name}"));
        let file = std::fs::OpenOptions::new().write(true).open(place).unwrap();
        file.write_all_at(text.as_bytes(), 0).unwrap();
        file.set_len(text.len() as u64).unwrap();
    }
}

fn wait(what: &str, process: &Process, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(
            begun.elapsed() < PATIENCE,
            "not in time: {what}\n{}",
            process.tail()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn start(machine: &FakeMachine) -> Option<Process> {
    let works = Command::new("unshare")
        .args(["-mpf", "--kill-child", "mount", "--version"])
        .output();
    if !works.is_ok_and(|done| done.status.success()) {
        return None;
    }
    std::fs::create_dir(machine.path("files")).unwrap();
    for name in ["vmstat", "zoneinfo", "meminfo"] {
        std::fs::copy(
            machine.path(&format!("proc/{name}")),
            machine.path(&format!("files/{name}")),
        )
        .unwrap();
    }
    // What /proc/sys is inside, so that no sysctl of this machine is written.
    let copied = Command::new("cp")
        .arg("-r")
        .arg(machine.path("proc/sys"))
        .arg(machine.path("files/sys"))
        .status();
    assert!(copied.unwrap().success());
    let helper = format!(
        "{} --exact helper --ignored",
        std::env::current_exe().unwrap().display()
    );
    let mut command = Command::new("unshare");
    command
        .args([
            "-mpf",
            "--kill-child",
            "--propagation",
            "private",
            "sh",
            "-c",
            INSIDE,
            PROGRAM,
        ])
        .env("ROOT", machine.root())
        .env("HELPER", helper)
        .process_group(0);
    Some(Process::start_as(command, machine.root(), &["-v3"]))
}

#[test]
fn the_hog_every_time_and_the_storm_and_never_an_innocent() {
    let machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", CONF);
    let plenty = Memory::plenty();
    plenty.write(&machine);
    let Some(mut process) = start(&machine) else {
        let _ =
            std::io::stderr().write_all(b"NOT TESTED: real kills, which need root's namespaces\n");
        return;
    };
    let root = machine.root().to_owned();
    let large = |what: &str, mb: usize| {
        let all = alive(&root, what);
        all.iter().filter(|(_, has)| *has >= mb).count()
    };
    wait("the innocents are there", &process, || {
        large("innocent", 2) == INNOCENTS
    });
    let innocents = alive(&root, "innocent");
    let same = |process: &Process| {
        let pids =
            |all: &[(String, usize)]| all.iter().map(|one| one.0.clone()).collect::<Vec<_>>();
        assert_eq!(
            pids(&alive(&root, "innocent")),
            pids(&innocents),
            "{}",
            process.log()
        );
    };
    let kills =
        |process: &Process, of: &str| process.log().matches(&format!("killed {of} (")).count();
    let mut memory = Memory::exhausted(&machine);
    for round in 0..ROUNDS {
        wait("the hog has grown", &process, || large("hog", 50) == 1);
        if round + 1 == ROUNDS {
            std::fs::write(machine.path("no-hog"), "").unwrap();
        }
        wait("the hog is killed", &process, || {
            memory.stolen += 1000;
            say(&machine, &memory);
            kills(&process, "hog") > round
        });
        say(&machine, &plenty);
    }
    assert_eq!(kills(&process, "worker"), 0, "{}", process.log());
    same(&process);

    // Near enough that the candidates are looked at: who was there before the storm is known.
    let near = Memory {
        free: machine.low(),
        file: 180_000,
        ..Memory::plenty()
    };
    say(&machine, &near);
    std::thread::sleep(Duration::from_millis(1500));
    std::fs::write(machine.path("storm"), "").unwrap();
    wait("the storm has grown", &process, || large("child", 2) >= 30);
    wait("the storm is killed", &process, || {
        memory.stolen += 1000;
        say(&machine, &memory);
        kills(&process, "worker") > 0
    });
    say(&machine, &plenty);
    // Whoever was only just being started may be left: nobody starts more, and it is no storm.
    let mut left = (Vec::new(), Vec::new());
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        left = (alive(&root, "storm"), alive(&root, "child"));
        if left.0.is_empty() && left.1.len() < 8 {
            break;
        }
    }
    assert!(
        left.0.is_empty() && left.1.len() < 8,
        "{left:?}\n{}",
        process.tail()
    );
    same(&process);
    assert_eq!(kills(&process, "worker"), 1, "{}", process.log());
    assert_eq!(kills(&process, "hog"), ROUNDS, "{}", process.log());
    process.signal(libc::SIGKILL);
    process.wait();
}
