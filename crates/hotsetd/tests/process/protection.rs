//! Protection in the real daemon: the hook, the watchdog, and a SIGKILL while reclaim is steered.
use crate::common::FakeMachine;
use crate::fake_process::FakeProcess;
use crate::memory::Memory;
use crate::process::{Process, PATIENCE, PROGRAM};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::{Duration, Instant};

/// Without real-time priority, which would disturb other tests.
const PROTECT: &str =
    "[protect]\nclean_min_ratio = 15\nanon_min_ratio = 15\nrealtime_priority = 0\n\
                       [protect.kill]\nnotify = false\n";

/// A machine whose memory is exhausted, with a hog.
fn exhausted(conf: &str) -> (FakeMachine, Memory) {
    let machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", conf);
    FakeProcess::new(5000, "hog")
        .memory(400_000_000)
        .write(&machine);
    let memory = Memory::exhausted(&machine);
    memory.write(&machine);
    (machine, memory)
}

/// A machine whose reclaim is steered by a daemon that kills nobody.
fn steered() -> (FakeMachine, Memory, Process) {
    let (machine, mut memory) = exhausted(&format!("{PROTECT}when = \"never\"\n"));
    let process = Process::start(machine.root(), &[]);
    take_until(&machine, &mut memory, "reclaim is steered", || {
        swappiness(&machine) == "200"
    });
    (machine, memory, process)
}

/// A task takes memory until `done`.
fn take_until(machine: &FakeMachine, memory: &mut Memory, goal: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "not in time: {goal}");
        memory.take(machine);
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn swappiness(machine: &FakeMachine) -> String {
    machine.read("proc/sys/vm/swappiness").trim().to_owned()
}

fn restore(machine: &FakeMachine) -> bool {
    Process::start(machine.root(), &["--restore"])
        .wait()
        .success()
}

/// A hook that writes its environment into `calls`, and never ends.
fn endless_hook(machine: &FakeMachine, calls: &Path) -> String {
    let hook = machine.path("hook");
    let script = format!(
        "#!/bin/sh\necho \"$HOTSET_NAME $HOTSET_PID $HOTSET_BYTES $HOTSET_DRY_RUN $HOTSET_CAUSE\" \
         >> {}\nexec sleep 1000\n",
        calls.display()
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    format!("{PROTECT}hook = {:?}\n", hook.display().to_string())
}

/// Ends the `sleep` that each call of this machine's hook became. The `sleep` has lost its parent, so it is found by
/// its environment.
fn end_hooks(machine: &FakeMachine) {
    let own = format!("HOTSET_TEST_ROOT={}\0", machine.root().display());
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        let ours = (String::from_utf8_lossy(&environment).into_owned() + "\0").contains(&own);
        let pid = entry.file_name().to_string_lossy().parse::<i32>();
        if let (true, "sleep\n", Ok(pid)) = (ours, name.as_str(), pid) {
            // SAFETY: kill only sends, to a process that this test's hook became.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    }
}

#[test]
fn a_hook_that_never_ends_does_not_keep_the_next_one_from_running() {
    let (machine, mut memory) = exhausted("");
    let calls = machine.path("calls");
    let conf = endless_hook(&machine, &calls);
    machine.put("etc/hotset/hotsetd.conf", &conf);
    let mut command = std::process::Command::new(PROGRAM);
    command.env("HOTSET_TEST_ROOT", machine.root());
    let mut process = Process::start_as(command, machine.root(), &[]);
    let count = || std::fs::read_to_string(&calls).map_or(0, |text| text.lines().count());
    take_until(&machine, &mut memory, "the hook runs twice", || {
        count() >= 2
    });
    let text = std::fs::read_to_string(&calls).unwrap();
    assert_eq!(text.lines().next(), Some("hog 5000 399998976 1 SwapFull"));
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    end_hooks(&machine);
}

/// The pid and the command line of the process that notifies of kills.
fn notifier(daemon: &Process) -> Option<(i32, String)> {
    let parent = format!("PPid:\t{}\n", daemon.id());
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .find_map(|entry| {
            let text = |file| std::fs::read(entry.path().join(file)).unwrap_or_default();
            let command = String::from_utf8_lossy(&text("cmdline")).replace('\0', " ");
            let status = String::from_utf8_lossy(&text("status")).into_owned();
            let pid = entry.file_name().to_string_lossy().parse().ok()?;
            let found = command.contains("--notifier") && status.contains(&parent);
            found.then_some((pid, command))
        })
}

#[test]
fn a_notifier_that_has_ended_is_started_again_and_one_with_old_settings_is_replaced() {
    let machine = FakeMachine::new();
    Memory::plenty().write(&machine);
    let configure = |hook: &str| {
        machine.put(hook, "#!/bin/sh\n");
        let hook = machine.path(hook);
        std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
        let hook = format!("{PROTECT}hook = {:?}\n", hook.display().to_string());
        machine.put("etc/hotset/hotsetd.conf", &hook);
    };
    configure("first");
    let mut process = Process::start(machine.root(), &[]);
    process.until("the notifier runs", |process| notifier(process).is_some());
    let (first, command) = notifier(&process).unwrap();
    assert!(command.contains("/first "), "{command}");
    // SAFETY: kill only sends, to a child of this test's daemon.
    unsafe { libc::kill(first, libc::SIGKILL) };
    process.until("the notifier has ended", |_| {
        let status = std::fs::read_to_string(format!("/proc/{first}/status")).unwrap_or_default();
        status.is_empty() || status.contains("State:\tZ")
    });
    // A reload takes a sample at once.
    process.signal(libc::SIGHUP);
    process.until("another runs", |process| {
        notifier(process).is_some_and(|(pid, _)| pid != first)
    });
    configure("second");
    process.signal(libc::SIGHUP);
    process.until("the hook is the new one", |process| {
        notifier(process).is_some_and(|(_, command)| command.contains("/second "))
    });
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
}

#[test]
fn restore_gives_swappiness_back_after_a_sigkill_while_steering() {
    let (machine, _, mut process) = steered();
    process.signal(libc::SIGKILL);
    process.wait();
    assert_eq!(swappiness(&machine), "200");
    assert!(restore(&machine));
    assert_eq!(swappiness(&machine), "60");
    assert!(!machine.path("run/hotset/journal").exists());
}

/// systemd kills a daemon that does not notify the watchdog in time.
#[test]
fn while_steering_the_watchdog_is_notified_within_ten_seconds() {
    let (machine, mut memory) = exhausted(&format!("{PROTECT}when = \"never\"\n"));
    let place = machine.path("notify");
    let socket = UnixDatagram::bind(&place).unwrap();
    socket.set_nonblocking(true).unwrap();
    let mut received = Vec::new();
    let mut receive = || {
        let mut bytes = [0; 256];
        while let Ok(length) = socket.recv(&mut bytes) {
            received.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
        }
        received.clone()
    };
    let mut command = std::process::Command::new(PROGRAM);
    command
        .env("NOTIFY_SOCKET", &place)
        .env("WATCHDOG_USEC", "150000000");
    let mut process = Process::start_as(command, machine.root(), &[]);
    take_until(&machine, &mut memory, "reclaim is steered", || {
        swappiness(&machine) == "200"
    });
    let strict = "WATCHDOG_USEC=10000000".to_owned();
    process.until("systemd has the shorter time", |_| {
        receive().contains(&strict)
    });
    let notices = |received: &[String]| received.iter().filter(|one| *one == "WATCHDOG=1").count();
    let before = notices(&receive());
    // A task goes on taking memory: otherwise memory would no longer be nearly short.
    let begun = Instant::now();
    while notices(&receive()) < before + 2 {
        assert!(begun.elapsed() < PATIENCE, "the watchdog is not notified");
        memory.take(&machine);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn restore_is_refused_while_a_stopped_daemon_lives_and_works_once_it_is_killed() {
    let (machine, _, mut process) = steered();
    process.signal(libc::SIGSTOP);
    // The stopped daemon takes the knob to have its value, so nothing may be given back.
    assert!(!restore(&machine));
    assert_eq!(swappiness(&machine), "200");
    process.signal(libc::SIGKILL);
    process.wait();
    assert!(restore(&machine));
    assert_eq!(swappiness(&machine), "60");
}

#[test]
fn a_reload_that_switches_protection_off_gives_swappiness_back() {
    let (machine, mut memory, mut process) = steered();
    machine.put("etc/hotset/hotsetd.conf", "");
    process.signal(libc::SIGHUP);
    take_until(&machine, &mut memory, "swappiness is given back", || {
        swappiness(&machine) == "60"
    });
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    assert_eq!(swappiness(&machine), "60");
}
