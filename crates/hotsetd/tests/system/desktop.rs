//! What people and programs of a desktop hear of: notifications in a real notification daemon, and warnings by a
//! real message bus in a real GMemoryMonitor.
use crate::common::FakeMachine;
use crate::fake_process::FakeProcess;
use crate::memory::Memory;
use crate::process::{Process, PATIENCE, PROGRAM};
use crate::read;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{chown, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The user nobody: the ordinary user of the desktop, who has a name on each system.
const NOBODY: u32 = 65534;

/// Without real-time priority, which would disturb other tests.
const PROTECT: &str =
    "[protect]\nclean_min_ratio = 15\nanon_min_ratio = 15\nrealtime_priority = 0\n";

/// A program of the desktop, and the lines that it prints.
struct Program {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Program {
    fn start(command: &mut Command) -> Program {
        let name = command.get_program().to_owned();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("install {name:?}: {error}"));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (output, all) = (child.stdout.take().unwrap(), lines.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                all.lock().unwrap().push(line);
            }
        });
        Program { child, lines }
    }

    fn has(&self, text: &str) -> bool {
        self.count(text) > 0
    }

    fn count(&self, text: &str) -> usize {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|line| line.contains(text)).count()
    }

    /// Waits for the first line that contains `text`.
    fn until(&self, text: &str) -> String {
        wait(text, || {
            let lines = self.lines.lock().unwrap();
            lines.iter().find(|line| line.contains(text)).cloned()
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn wait<T>(goal: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "not in time: {goal}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A machine with a hog. Other users may go through its folders, as through those of a machine.
fn machine() -> FakeMachine {
    let machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", PROTECT);
    FakeProcess::new(5000, "hog")
        .memory(400_000_000)
        .write(&machine);
    let mode = PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(machine.root(), mode).unwrap();
    Memory::plenty().write(&machine);
    machine
}

/// A command with no more rights than the unit has.
fn as_the_unit(program: &str) -> Command {
    let unit = read("dist/systemd/hotsetd.service");
    let mut lines = unit.lines();
    let names = lines.find_map(|line| line.strip_prefix("CapabilityBoundingSet="));
    let names = names.unwrap().split_whitespace();
    let kept: String = { names }
        .map(|name| format!(",+{}", name.trim_start_matches("CAP_").to_lowercase()))
        .collect();
    let mut command = Command::new("setpriv");
    command.args(["--no-new-privs", "--inh-caps=-all"]);
    command.arg(format!("--bounding-set=-all{kept}"));
    command.arg(program);
    command
}

/// A command as the user of the desktop.
fn as_nobody(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
    command.arg(program);
    command
}

/// A message bus at `socket`.
fn bus(mut command: Command, socket: &Path, config: &str) -> Program {
    command.args(["--nofork", "--print-address", config]);
    command.arg(format!("--address=unix:path={}", socket.display()));
    let program = Program::start(&mut command);
    program.until("unix:path=");
    program
}

/// Takes memory until `done`.
fn exhaust(machine: &FakeMachine, goal: &str, mut done: impl FnMut() -> bool) {
    let mut memory = Memory::exhausted(machine);
    memory.write(machine);
    wait(goal, || {
        memory.take(machine);
        done().then_some(())
    });
}

#[test]
#[ignore = "system: needs root, setpriv, dbus-daemon, Xvfb, dunst and notify-send"]
fn the_desktop_shows_the_notification_of_a_kill() {
    let machine = machine();
    let runtime = machine.path("run/user/65534");
    std::fs::create_dir_all(&runtime).unwrap();
    chown(&runtime, Some(NOBODY), Some(NOBODY)).unwrap();
    std::fs::set_permissions(&runtime, PermissionsExt::from_mode(0o700)).unwrap();
    let socket = runtime.join("bus");
    let _bus = bus(as_nobody("dbus-daemon"), &socket, "--session");
    let mut screen = as_nobody("Xvfb");
    screen
        .args(["-displayfd", "1", "-nolisten", "tcp"])
        .stderr(Stdio::null());
    let screen = Program::start(&mut screen);
    let display = screen.until("");
    let mut dunst = as_nobody("dunst");
    machine.put("dunstrc", "");
    dunst
        .arg("-print")
        .arg("-conf")
        .arg(machine.path("dunstrc"));
    dunst.env("DISPLAY", format!(":{display}"));
    dunst.env(
        "DBUS_SESSION_BUS_ADDRESS",
        format!("unix:path={}", socket.display()),
    );
    let dunst = Program::start(&mut dunst);
    wait("dunst has the name", || {
        let owned = is_owned(
            as_nobody("dbus-send"),
            &socket,
            "org.freedesktop.Notifications",
        );
        owned.then_some(())
    });
    let mut process = Process::start_as(as_the_unit(PROGRAM), machine.root(), &[]);
    process.until_logged("protection is on");
    exhaust(&machine, "dunst shows the kill", || {
        dunst.has("would have ended hog")
    });
    assert!(dunst.has("Memory ran out") && dunst.has("hotset"));
}

/// The system's bus below the machine's root, with the policy that is installed.
fn system_bus(machine: &FakeMachine) -> (Program, PathBuf) {
    let socket = machine.path("run/dbus/system_bus_socket");
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let policy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/dbus-1/hotset.conf");
    // The rules of the system's bus as D-Bus ships it.
    let config = format!(
        "<busconfig><type>system</type><listen>unix:path=/nowhere</listen><auth>EXTERNAL</auth>\n\
         <policy context=\"default\"><allow user=\"*\"/><deny own=\"*\"/><deny send_type=\"method_call\"/>\n\
         <allow send_type=\"signal\"/><allow send_requested_reply=\"true\" send_type=\"method_return\"/>\n\
         <allow send_requested_reply=\"true\" send_type=\"error\"/><allow receive_type=\"method_call\"/>\n\
         <allow receive_type=\"method_return\"/><allow receive_type=\"error\"/>\n\
         <allow receive_type=\"signal\"/><allow send_destination=\"org.freedesktop.LowMemoryMonitor\"/>\n\
         <allow send_destination=\"org.freedesktop.DBus\"/></policy>\n\
         <include>{}</include></busconfig>",
        policy.canonicalize().unwrap().display()
    );
    machine.put("bus.conf", &config);
    let file = format!("--config-file={}", machine.path("bus.conf").display());
    let bus = bus(Command::new("dbus-daemon"), &socket, &file);
    std::fs::set_permissions(&socket, PermissionsExt::from_mode(0o666)).unwrap();
    (bus, socket)
}

/// A program of GLib, of an ordinary user, that prints each warning that it gets.
fn glib_program(socket: &Path) -> Program {
    let script = "import gi\n\
        from gi.repository import Gio, GLib\n\
        monitor = Gio.MemoryMonitor.dup_default()\n\
        monitor.connect('low-memory-warning', lambda _, level: print('level', int(level), flush=True))\n\
        listens = lambda *_: GLib.timeout_add(1000, lambda: print('listens', flush=True))\n\
        name = 'org.freedesktop.LowMemoryMonitor'\n\
        Gio.bus_watch_name(Gio.BusType.SYSTEM, name, 0, listens, None)\n\
        GLib.MainLoop().run()\n";
    let mut python = as_nobody("/usr/bin/python3");
    python.args(["-c", script]);
    python.env(
        "DBUS_SYSTEM_BUS_ADDRESS",
        format!("unix:path={}", socket.display()),
    );
    Program::start(&mut python)
}

/// Whether `name` has an owner on a bus; `ask`: dbus-send.
fn is_owned(mut ask: Command, socket: &Path, name: &str) -> bool {
    ask.arg(format!("--bus=unix:path={}", socket.display()));
    ask.args([
        "--print-reply",
        "--dest=org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.GetNameOwner",
    ]);
    ask.arg(format!("string:{name}"));
    ask.output().expect("install dbus-bin").status.success()
}

#[test]
#[ignore = "system: needs root, setpriv, dbus-daemon and python3-gi"]
fn a_program_of_glib_is_warned() {
    let machine = machine();
    let (bus, socket) = system_bus(&machine);
    let program = glib_program(&socket);
    let _process = Process::start_as(as_the_unit(PROGRAM), machine.root(), &[]);
    program.until("listens");
    // Swap has room: reclaim is steered.
    let mut memory = Memory {
        swap_free: 100_000,
        ..Memory::exhausted(&machine)
    };
    memory.write(&machine);
    wait("the program is warned", || {
        memory.take(&machine);
        program.has("level 100").then_some(())
    });
    assert!(!program.has("level 255"));
    exhaust(&machine, "the program is warned of a kill", || {
        program.has("level 255")
    });
    assert_eq!(
        (program.count("level 100"), program.count("level 255")),
        (1, 1)
    );
    // The bus ends and is there again: the next warning finds it.
    drop((program, bus));
    std::fs::remove_file(&socket).unwrap();
    let (_bus, _) = system_bus(&machine);
    exhaust(&machine, "the name has an owner again", || {
        is_owned(
            Command::new("dbus-send"),
            &socket,
            "org.freedesktop.LowMemoryMonitor",
        )
    });
    // A call that the bus lets through is answered.
    let mut call = Command::new("dbus-send");
    call.arg(format!("--bus=unix:path={}", socket.display()));
    call.args(["--print-reply", "--reply-timeout=10000"]);
    call.args(["--dest=org.freedesktop.LowMemoryMonitor", "/"]);
    call.args(["org.freedesktop.DBus.Properties.GetAll", "string:a"]);
    let error = String::from_utf8(call.output().unwrap().stderr).unwrap();
    assert!(error.contains("UnknownMethod"), "{error}");
}

#[test]
#[ignore = "system: needs root, setpriv and dbus-daemon"]
fn where_another_program_has_the_name_hotsetd_is_silent() {
    let machine = machine();
    let (_bus, socket) = system_bus(&machine);
    let address = format!("unix:path={}", socket.display());
    let mut other = Command::new("/usr/bin/python3");
    other.args([
        "-c",
        "import dbus, dbus.bus, sys, time\n\
        bus = dbus.bus.BusConnection(sys.argv[1])\n\
        bus.request_name('org.freedesktop.LowMemoryMonitor')\n\
        print('owns', flush=True)\ntime.sleep(1000)\n",
        &address,
    ]);
    let other = Program::start(&mut other);
    other.until("owns");
    let mut monitor = Command::new("dbus-monitor");
    monitor.args(["--address", &address, "type='signal'"]);
    let monitor = Program::start(&mut monitor);
    monitor.until("NameAcquired");
    let hook = machine.path("hook");
    std::fs::write(
        &hook,
        format!("#!/bin/sh\n: > {}\n", machine.path("called").display()),
    )
    .unwrap();
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    let conf = format!(
        "{PROTECT}[protect.kill]\nnotify = false\nhook = {:?}\n",
        hook.display().to_string()
    );
    machine.put("etc/hotset/hotsetd.conf", &conf);
    let mut process = Process::start_as(as_the_unit(PROGRAM), machine.root(), &[]);
    process.until_logged("protection is on");
    // The warning comes before the hook.
    exhaust(&machine, "the hook has run", || {
        machine.path("called").exists()
    });
    assert!(!monitor.has("LowMemoryWarning"));
}

/// hotsetd kills nobody below a root that is not the machine's, so the notifier's process itself is asked.
#[test]
#[ignore = "system: needs root and setpriv"]
fn a_service_that_asks_systemd_oomd_for_its_prekill_event_gets_it() {
    let machine = machine();
    machine.put("proc/5000/cgroup", "0::/user.slice/app-a.scope\n");
    let socket = machine.path("run/systemd/oomd.prekill.hook/service");
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let service = UnixListener::bind(&socket).unwrap();
    let mut notifier = as_the_unit(PROGRAM);
    notifier
        .arg("--notifier")
        .arg(machine.root())
        .args(["no", "no"]);
    let mut notifier = notifier.stdin(Stdio::piped()).spawn().unwrap();
    let mut pipe = notifier.stdin.take().unwrap();
    // The first was killed at once, the second was asked to end.
    for asked in ["0", "1"] {
        let line = format!("5000\t1000\t1\t4096\t0\thog\tSwapFull\t{asked}\n");
        pipe.write_all(line.as_bytes()).unwrap();
    }
    let (mut call, mut bytes) = (service.accept().unwrap().0, Vec::new());
    // The caller waits for no answer, and keeps the connection until its next notice.
    while !bytes.ends_with(&[0]) {
        let mut some = [0; 512];
        let length = call.read(&mut some).unwrap();
        assert!(length > 0, "{bytes:?}");
        bytes.extend_from_slice(&some[..length]);
    }
    let text = std::str::from_utf8(&bytes[..bytes.len() - 1]).unwrap();
    let call: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(call["method"], "io.systemd.oom.Prekill.Notify");
    assert_eq!(call["parameters"]["cgroup"], "/user.slice/app-a.scope");
    service.set_nonblocking(true).unwrap();
    drop(pipe);
    assert!(notifier.wait().unwrap().success());
    assert!(service.accept().is_err(), "a second call");
}
