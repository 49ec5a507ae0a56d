//! Protection in the program itself: the hook, SIGKILL in the middle of it, no allocation, and what
//! the configuration may say.
mod common;
#[path = "common/people.rs"]
mod people;
#[path = "common/process.rs"]
mod process;

use common::FakeMachine;
use hotsetd::load::load;
use hotsetd::protect::marks::Rule;
use hotsetd::protect::settings::{Slice, When};
use people::{Memory, Person};
use policy::floors::Size;
use process::Process;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// Real-time priority is not for a test beside others.
const PROTECT: &str = "[protect]\nworkingset_protection = true\nrealtime_priority = 0\n\
                       [protect.kill]\nnotify = false\n";

fn exhausted(conf: &str) -> (FakeMachine, Memory) {
    let machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", conf);
    Person::new(5000, "hog").memory(400_000_000).write(&machine);
    let memory = Memory::exhausted(&machine);
    memory.write(&machine);
    (machine, memory)
}

/// Goes on taking memory until `is`.
fn take_until(machine: &FakeMachine, memory: &mut Memory, what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < process::PATIENCE, "not in time: {what}");
        memory.take(machine);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_hook_is_told_and_what_it_does_delays_nothing() {
    let (machine, mut memory) = exhausted("");
    let hook = machine.path("hook");
    let told = machine.path("told");
    // It never ends.
    let script = format!(
        "#!/bin/sh\necho \"$HOTSET_NAME $HOTSET_PID $HOTSET_BYTES $HOTSET_DRY_RUN $HOTSET_CAUSE\" \
         >> {}\nexec sleep 1000\n",
        told.display()
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    let conf = format!("{PROTECT}hook = {:?}\n", hook.display().to_string());
    machine.put("etc/hotset/hotsetd.conf", &conf);
    let mut process = Process::start(machine.root(), &[]);
    let count = || std::fs::read_to_string(&told).map_or(0, |words| words.lines().count());
    take_until(&machine, &mut memory, "a second kill is told of", || {
        count() >= 2
    });
    let words = std::fs::read_to_string(&told).unwrap();
    assert_eq!(words.lines().next(), Some("hog 5000 399998976 1 SwapFull"));
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    // The hook's own children are nobody's any more: ended here.
    for pid in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(pid.path().join("environ")).unwrap_or_default();
        let name = std::fs::read_to_string(pid.path().join("comm")).unwrap_or_default();
        let ours = String::from_utf8_lossy(&environment).contains("HOTSET_CAUSE=SwapFull");
        if let (true, "sleep\n", Ok(pid)) = (
            ours,
            name.as_str(),
            pid.file_name().to_string_lossy().parse::<i32>(),
        ) {
            // SAFETY: kill only sends, to the `sleep` that the hook of this test became.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    }
}

#[test]
fn killed_while_it_steers_the_next_start_gives_swappiness_back() {
    let (machine, mut memory) = exhausted(&format!("{PROTECT}when = \"never\"\n"));
    let mut process = Process::start(machine.root(), &[]);
    let swappiness = || machine.read("proc/sys/vm/swappiness").trim().to_owned();
    take_until(&machine, &mut memory, "it steers", || swappiness() == "200");
    process.signal(libc::SIGKILL);
    process.wait();
    assert_eq!(swappiness(), "200");
    let mut restore = Process::start(machine.root(), &["--restore"]);
    assert!(restore.wait().success());
    assert_eq!(swappiness(), "60");
    assert!(!machine.path("run/hotset/journal").exists());
}

/// systemd hears that it is to wait for less while reclaim is steered, so that a stopped daemon is found
/// out soon; one that is stopped and then killed, as the watchdog does, leaves nothing behind.
#[test]
fn stopped_while_it_steers_the_watchdog_finds_it_out() {
    let (machine, mut memory) = exhausted(&format!("{PROTECT}when = \"never\"\n"));
    let place = machine.path("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&place).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut heard = Vec::new();
    let mut hear = || {
        let mut bytes = [0; 256];
        while let Ok(length) = socket.recv(&mut bytes) {
            heard.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
        }
        heard.clone()
    };
    let mut command = std::process::Command::new(process::PROGRAM);
    command
        .env("NOTIFY_SOCKET", &place)
        .env("WATCHDOG_USEC", "150000000");
    let mut process = Process::start_as(command, machine.root(), &[]);
    let swappiness = || machine.read("proc/sys/vm/swappiness").trim().to_owned();
    take_until(&machine, &mut memory, "it steers", || swappiness() == "200");
    let strict = "WATCHDOG_USEC=10000000".to_owned();
    process.until("systemd is told", |_| hear().contains(&strict));
    let alive = |heard: &[String]| heard.iter().filter(|one| *one == "WATCHDOG=1").count();
    let before = alive(&hear());
    // Twice within what it was given: memory goes on being taken, or it would not be near any more.
    let mut more = || alive(&hear()) > before + 1;
    let begun = Instant::now();
    while !more() {
        assert!(begun.elapsed() < process::PATIENCE, "no sign of life");
        memory.take(&machine);
        std::thread::sleep(Duration::from_millis(5));
    }
    process.signal(libc::SIGSTOP);
    // It holds the lock: nothing is given back behind its back, or it would go on from there.
    let mut early = Process::start(machine.root(), &["--restore"]);
    assert!(!early.wait().success());
    assert_eq!(swappiness(), "200");
    process.signal(libc::SIGKILL);
    process.wait();
    let mut restore = Process::start(machine.root(), &["--restore"]);
    assert!(restore.wait().success());
    assert_eq!(swappiness(), "60");
}

#[test]
fn switched_off_by_a_reload_everything_is_as_before() {
    let (machine, mut memory) = exhausted(&format!("{PROTECT}when = \"never\"\n"));
    let mut process = Process::start(machine.root(), &[]);
    let swappiness = || machine.read("proc/sys/vm/swappiness").trim().to_owned();
    take_until(&machine, &mut memory, "it steers", || swappiness() == "200");
    machine.put("etc/hotset/hotsetd.conf", "");
    process.signal(libc::SIGHUP);
    take_until(&machine, &mut memory, "it is given back", || {
        swappiness() == "60"
    });
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    assert_eq!(swappiness(), "60");
}

#[test]
fn settings_are_taken_and_wrong_ones_told_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotsetd.conf");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        load(&path, true)
    };
    let config = read(
        "[protect]\nworkingset_protection = true\nanon_min_ratio = \"auto\"\n\
         clean_min_ratio = \"512M\"\nclean_low_ratio = \"7.5%\"\nlock_mb = 64\n\
         [protect.kill]\nwhen = \"always\"\nprefer = [\"cc1*\", \"uid:1000\"]\n\
         [protect.cgroups]\n\"user.slice\" = \"min\"\n",
    );
    let protect = config.unwrap().protect;
    let floors = protect.policy.floors;
    assert!(protect.policy.enabled);
    assert_eq!(floors.anon_min, Size::Auto);
    assert_eq!(floors.clean_min, Size::Bytes(512 << 20));
    assert_eq!(floors.clean_low, Size::Percent(7.5));
    assert_eq!(
        (protect.lock_bytes, protect.kill.when),
        (64 << 20, When::Always)
    );
    assert_eq!(
        protect.kill.marks.prefer,
        [Rule::Begins("cc1".into()), Rule::Uid(1000)]
    );
    let slice = Slice {
        name: "user.slice".into(),
        hard: true,
    };
    assert_eq!(protect.cgroups, [slice]);
    for (text, line, words) in [
        ("[protect]\nclean_min_ratio = 101\n", 2, "0 to 100"),
        (
            "[protect]\nclean_min_ratio = \"much\"\n",
            2,
            "percent of memory",
        ),
        (
            "[protect]\nanon_min_ratio = 50\nclean_min_ratio = 41\n",
            0,
            "leave less than 10%",
        ),
        (
            "[protect]\nauto_least = 9\nauto_most = 8\n",
            0,
            "auto_least is more",
        ),
        (
            "[protect.kill]\nprefer = [\"uid:me\"]\n",
            2,
            "wants a number",
        ),
        (
            "[protect.kill]\nhook = \"run-me\"\n",
            2,
            "does not begin at /",
        ),
        (
            "[protect.kill]\n\nwhen = \"now\"\n",
            3,
            "auto, always or never",
        ),
        ("[protect.cgroups]\n\"../x\" = \"low\"\n", 2, "no cgroup"),
        ("[protect]\nrealtime_priority = 100\n", 2, "0 to 99"),
    ] {
        let wrong = read(text).err().unwrap_or_default();
        let told = wrong
            .iter()
            .any(|problem| problem.line == line && problem.words.contains(words));
        assert!(told, "{text}: {wrong:#?}");
    }
}
