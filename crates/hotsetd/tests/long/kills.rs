//! Real processes, really killed, in a pid namespace of their own with memory that files describe. A hog is
//! started again and again among fifty innocents: first seldom, then at once by a loop, which is killed with its hogs.
//! Then there is a fork storm.
use crate::common::FakeMachine;
use crate::memory::Memory;
use crate::process::{Process, PROGRAM};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Hogs that are killed, one after the other.
const HOGS: u64 = 12;
const INNOCENTS: usize = 50;
const MB: usize = 1 << 20;
/// Longest wait, for a hundred processes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

const CONF: &str = "[protect]\nclean_min_ratio = 15\nanon_min_ratio = 15\nrealtime_priority = 0\n\
                    [protect.kill]\nnotify = false\n[pressure]\nenabled = false\n";

/// The arguments by which this very program is a helper.
const HELPER: [&str; 3] = ["--exact", "kills::helper", "--ignored"];
/// Files below /proc that describe the namespace's memory.
const FILES: [&str; 3] = ["vmstat", "zoneinfo", "meminfo"];

/// Starts the helpers and the daemon. Files end the hogs (`no-hog`), begin the loop (`loop`) and the storm (`storm`).
/// Who replaces each of eight hogs within two seconds is killed with them: the first hogs come more slowly.
const INSIDE: &str = "mount -t proc proc \"$ROOT/proc\" || exit 99
    for file in vmstat zoneinfo meminfo; do
        mount --bind \"$ROOT/files/$file\" \"$ROOT/proc/$file\" || exit 99
    done
    mount --bind \"$ROOT/files/sys\" \"$ROOT/proc/sys\" || exit 99
    i=0
    while [ $i -lt 50 ]; do ROLE=innocent $HELPER & i=$((i + 1)); done
    (while [ ! -e \"$ROOT/no-hog\" ]; do sleep 2.5; ROLE=hog $HELPER; done) >/dev/null 2>&1 &
    (while [ ! -e \"$ROOT/loop\" ]; do sleep 0.05; done
     while true; do sleep 0.3; ROLE=hog $HELPER; done) >/dev/null 2>&1 &
    (while [ ! -e \"$ROOT/storm\" ]; do sleep 0.05; done
     ROLE=$STORM $HELPER) >/dev/null 2>&1 &
    \"$0\" \"$@\"";

/// The work of a helper process, by `ROLE` in its environment.
#[test]
#[ignore = "helper: the next test starts it as a process"]
fn helper() {
    let Ok(role) = std::env::var("ROLE") else {
        // Without a role the test only checks that memory which a role takes is resident.
        let before = resident_anon_mb("self").unwrap();
        touch(20 * MB);
        assert!(resident_anon_mb("self").unwrap() >= before + 19);
        return;
    };
    // The leader is renamed, because a test runs in a thread. The storm has the innocents' name.
    let name = match role.as_str() {
        "hog" => "hog".to_owned(),
        "disguised-child" => format!("w{}", std::process::id()),
        _ => "worker".to_owned(),
    };
    std::fs::write("/proc/self/comm", name).unwrap();
    match role.as_str() {
        "innocent" => touch(2 * MB),
        "child" => touch(4 * MB),
        "disguised-child" => {
            // SAFETY: takes nothing and changes no memory.
            unsafe { libc::setsid() };
            touch(4 * MB);
        }
        "hog" => touch(60 * MB),
        "disguised" => storm("disguised-child"),
        _ => storm("child"),
    }
    std::thread::sleep(Duration::from_secs(600));
}

/// Starts children until it is killed.
fn storm(role: &str) -> ! {
    loop {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(HELPER).env("ROLE", role);
        let _ = child.spawn();
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Takes memory, and keeps it.
fn touch(bytes: usize) {
    let mut memory: Vec<u8> = Vec::new();
    for _ in 0..bytes.div_ceil(MB) {
        memory.extend(std::iter::repeat_n(1, MB.min(bytes)));
    }
    std::mem::forget(memory);
}

fn resident_anon_mb(pid: &str) -> Option<usize> {
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status).into_owned();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: usize = kib.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib / 1024)
}

/// Pid and resident anonymous memory, in MB, of each helper of `root` that has `role`.
fn alive(root: &Path, role: &str) -> Vec<(String, usize)> {
    let wanted = [
        format!("ROOT={}\0", root.display()),
        format!("ROLE={role}\0"),
    ];
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned() + "\0";
        let pid = entry.file_name().to_string_lossy().into_owned();
        if !wanted.iter().all(|variable| environment.contains(variable)) {
            continue;
        }
        if let Some(mb) = resident_anon_mb(&pid) {
            found.push((pid, mb));
        }
    }
    found.sort();
    found
}

/// The namespace: its machine, its daemon, and its helpers.
struct Namespace {
    machine: FakeMachine,
    process: Process,
    /// Memory while it is exhausted.
    memory: Memory,
    innocents: Vec<String>,
    /// The role of the storm, and of its children.
    storm: [&'static str; 2],
}

impl Namespace {
    /// Starts the daemon, the innocents and the first hog.
    fn start(storm: [&'static str; 2]) -> Namespace {
        let machine = FakeMachine::new();
        machine.put("etc/hotset/hotsetd.conf", CONF);
        Memory::plenty().write(&machine);
        copy_files(&machine);
        let helper = std::env::current_exe().unwrap();
        let helper = format!("{} {}", helper.display(), HELPER.join(" "));
        let mut command = Command::new("unshare");
        command
            .args(["-mpf", "--kill-child", "--propagation", "private"])
            .args(["sh", "-c", INSIDE, PROGRAM])
            .env("ROOT", machine.root())
            .env("HELPER", helper)
            .env("STORM", storm[0])
            .process_group(0);
        let process = Process::start_as(command, machine.root(), &["-v3"]);
        let memory = Memory::exhausted(&machine);
        let mut namespace = Namespace {
            machine,
            process,
            memory,
            innocents: Vec::new(),
            storm,
        };
        namespace.wait("the innocents are there", |namespace| {
            namespace.count("innocent", 2) == INNOCENTS
        });
        namespace.innocents = namespace.pids("innocent");
        // Fifty processes that are younger than two seconds are a storm themselves.
        std::thread::sleep(Duration::from_secs(2));
        namespace
    }

    fn pids(&self, role: &str) -> Vec<String> {
        let all = alive(self.machine.root(), role).into_iter();
        all.map(|(pid, _)| pid).collect()
    }

    /// Helpers of `role` that hold at least `mb` MB.
    fn count(&self, role: &str, mb: usize) -> usize {
        let all = alive(self.machine.root(), role).into_iter();
        all.filter(|(_, has)| *has >= mb).count()
    }

    /// The kills so far, and the name of the last victim. The log has them at once; the status may be a quarter of a
    /// second old.
    fn kills(&self) -> (u64, String) {
        let log = self.process.log();
        let name = |line: &str| {
            let (_, rest) = line.split_once(" protect: killed ")?;
            rest.split_once(" (").map(|(name, _)| name.to_owned())
        };
        let mut names: Vec<String> = log.lines().filter_map(name).collect();
        (names.len() as u64, names.pop().unwrap_or_default())
    }

    /// Writes the files in the namespace that describe memory. They are written in place, because a bind mount
    /// is of the file, not of its name.
    fn write_memory(&self, memory: &Memory) {
        memory.write(&self.machine);
        for name in FILES {
            let text = self.machine.read(&format!("proc/{name}"));
            let place = self.machine.path(&format!("files/{name}"));
            let file = std::fs::OpenOptions::new().write(true).open(place).unwrap();
            file.write_all_at(text.as_bytes(), 0).unwrap();
            file.set_len(text.len() as u64).unwrap();
        }
    }

    /// Memory is exhausted until there have been `kills` kills.
    fn exhaust_until(&mut self, kills: u64) {
        self.memory.file = 140_000;
        self.wait("somebody is killed", |namespace| {
            namespace.memory.stolen += 1000;
            namespace.memory.file = namespace.memory.file.saturating_sub(100);
            namespace.write_memory(&namespace.memory);
            namespace.kills().0 >= kills
        });
        self.write_memory(&Memory::plenty());
    }

    fn wait(&mut self, goal: &str, mut done: impl FnMut(&mut Namespace) -> bool) {
        let begun = Instant::now();
        while !done(self) {
            assert!(
                begun.elapsed() < PATIENCE,
                "not in time: {goal}\n{}",
                self.process.tail()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn assert_innocents_live(&self) {
        let alive = self.pids("innocent");
        assert_eq!(alive, self.innocents, "{}", self.process.log());
    }
}

/// Copies the files that stand for the kernel's in the namespace: no sysctl of this machine is written.
fn copy_files(machine: &FakeMachine) {
    std::fs::create_dir(machine.path("files")).unwrap();
    for name in FILES {
        let from = machine.path(&format!("proc/{name}"));
        std::fs::copy(from, machine.path(&format!("files/{name}"))).unwrap();
    }
    let copied = Command::new("cp")
        .arg("-r")
        .arg(machine.path("proc/sys"))
        .arg(machine.path("files/sys"))
        .status();
    assert!(copied.unwrap().success());
}

fn require_namespaces() {
    let tried = Command::new("unshare")
        .args(["-mpf", "--kill-child", "mount", "--version"])
        .output();
    assert!(
        tried.is_ok_and(|done| done.status.success()),
        "run this test as root, with unshare and mount of util-linux installed"
    );
}

impl Namespace {
    /// Who starts a new hog for each that is killed is ended with the eighth, at the latest.
    fn end_loop(&mut self) {
        std::fs::write(self.machine.path("loop"), "").unwrap();
        let before = self.kills().0;
        for round in 1..=8 {
            // Where this test is slow, two hogs may be killed in one round.
            self.wait("the loop's hog has grown", |namespace| {
                namespace.count("hog", 50) == 1 || namespace.kills().0 >= before + 8
            });
            self.exhaust_until(before + round);
        }
        std::thread::sleep(Duration::from_secs(3));
        assert_eq!(self.count("hog", 0), 0, "{}", self.process.log());
        self.assert_innocents_live();
    }

    /// Kills hogs, and then the storm. Returns the name of the storm's victim.
    fn kill_all(&mut self) -> String {
        for round in 1..=HOGS {
            self.wait("the hog has grown", |namespace| {
                namespace.count("hog", 50) == 1
            });
            if round == HOGS {
                std::fs::write(self.machine.path("no-hog"), "").unwrap();
            }
            // The next hog starts soon: where this test is slow, memory is exhausted for it as well.
            self.exhaust_until(self.kills().0 + 1);
            assert_eq!(self.kills().1, "hog", "{}", self.process.log());
        }
        self.assert_innocents_live();
        self.end_loop();

        // Memory is nearly short, so processes are sampled: the daemon knows who was there before the storm.
        self.write_memory(&Memory {
            free: self.machine.low(),
            file: 180_000,
            ..Memory::plenty()
        });
        std::thread::sleep(Duration::from_millis(1500));
        std::fs::write(self.machine.path("storm"), "").unwrap();
        let [storm, child] = self.storm;
        self.wait("the storm has grown", |namespace| {
            namespace.count(child, 2) >= 30
        });
        let before = self.kills().0;
        self.exhaust_until(before + 1);
        // One process that was just being started may be left. It starts no others.
        self.wait("the storm has ended", |namespace| {
            namespace.pids(storm).is_empty() && namespace.pids(child).len() < 8
        });
        self.assert_innocents_live();
        let (kills, name) = self.kills();
        assert!(kills > before && before >= HOGS, "{kills}, {before}");
        self.process.signal(libc::SIGKILL);
        self.process.wait();
        name
    }
}

#[test]
#[ignore = "long: half a minute, as root"]
fn every_hog_and_the_whole_storm_are_killed_and_no_innocent() {
    require_namespaces();
    let name = Namespace::start(["storm", "child"]).kill_all();
    assert_eq!(name, "worker");
}

/// Each child of the storm has a session and a name of its own.
#[test]
#[ignore = "long: half a minute, as root"]
fn a_storm_in_disguise_is_killed_as_a_whole_and_no_innocent() {
    require_namespaces();
    Namespace::start(["disguised", "disguised-child"]).kill_all();
}
