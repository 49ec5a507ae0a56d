//! `hotset record` as a program: however it ends, its samples are read again.
use kernfs::samples::{Reader, Record};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

#[path = "common/signals.rs"]
mod signals;
#[path = "common/terminal.rs"]
mod terminal;

const NAMES: [&str; 3] = ["a.jsonl", "a.jsonl.zst", "a.jsonl.gz"];

fn record(interval: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernfs/6.18");
    command.args(["record", "--interval", interval, "--root", root]);
    command
}

/// A recording that would go on: what a failed test leaves behind ends after a minute.
fn endless() -> Command {
    let mut command = record("0.005");
    signals::by_default(command.args(["--for", "60"]));
    command
}

fn replay(path: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let command = command.args(["replay", "--all", "--json"]).arg(path);
    command.output().unwrap()
}

/// The samples of a file, and whether it is cut off.
fn read(path: &Path) -> (Vec<Record>, bool) {
    let mut reader = Reader::new(trace::open_unpacked(path).unwrap());
    let records = reader.by_ref().map(Result::unwrap).collect();
    (records, reader.cut_off())
}

fn error_of(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn kill(child: &Child, signal: i32) {
    // SAFETY: kill(2) of a child that has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
}

#[test]
fn signals_end_a_whole_recording_with_success() {
    let dir = tempfile::tempdir().unwrap();
    let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    for (signal, name) in signals.into_iter().zip(NAMES) {
        let path = dir.path().join(name);
        let mut command = endless();
        let mut child = command.arg(&path).stderr(Stdio::piped()).spawn().unwrap();
        // The file is made after the first sample, when signals are already caught.
        while !path.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        kill(&child, signal);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let (records, cut_off) = read(&path);
        assert!(!records.is_empty() && !cut_off);
        let message = error_of(&output);
        assert!(
            message.contains(&format!("{} sample", records.len())),
            "{message}"
        );
        assert_eq!(records[0].machine.as_ref().unwrap().release, "6.18.44");
    }
}

/// nohup has a recording go on when its terminal is closed.
#[test]
fn a_hangup_that_is_ignored_ends_no_recording() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let mut nohup = Command::new("nohup");
    let hotset = env!("CARGO_BIN_EXE_hotset");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernfs/6.18");
    nohup.args([hotset, "record", "--interval", "0.005", "--root", root]);
    nohup.args(["--for", "60"]).arg(&path).stderr(Stdio::null());
    let mut child = nohup.spawn().unwrap();
    let samples = || match path.exists() {
        true => read(&path).0.len(),
        false => 0,
    };
    while samples() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    }
    kill(&child, libc::SIGHUP);
    let before = samples();
    while samples() == before {
        assert!(child.try_wait().unwrap().is_none(), "the signal ended it");
    }
    kill(&child, libc::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn sigkill_leaves_what_was_there_before() {
    let dir = tempfile::tempdir().unwrap();
    let start = |name: &str| {
        let path = dir.path().join(name);
        (endless().arg(&path).spawn().unwrap(), path)
    };
    for (mut child, path) in NAMES.map(start) {
        let seen = loop {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            let seen = match path.exists() {
                true => read(&path).0.len(),
                false => 0,
            };
            // More than one second of samples, so that something was kept in the middle.
            if seen > 0 {
                break seen;
            }
        };
        kill(&child, libc::SIGKILL);
        assert_eq!(child.wait().unwrap().code(), None);
        let output = replay(&path);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let replayed = output.stdout.split(|byte| *byte == b'\n').count() - 1;
        let (records, cut_off) = read(&path);
        assert!(
            replayed == records.len() && replayed >= seen,
            "{replayed} of {seen}"
        );
        let message = error_of(&output);
        let name = path.display().to_string();
        let told = message.contains(&name) && message.contains(&replayed.to_string());
        assert!(
            told == cut_off && (cut_off || message.is_empty()),
            "{message}"
        );
    }
}

#[test]
fn a_full_disk_is_an_error_that_counts_the_samples_it_keeps() {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [(NAMES[0], 100_000), (NAMES[1], 60_000), (NAMES[2], 120_000)] {
        let path = dir.path().join(name);
        let mut command = record("0.002");
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: bytes,
        };
        // SAFETY: the call may be made between fork and exec.
        unsafe {
            command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            })
        };
        let output = command.arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let (records, cut_off) = read(&path);
        assert!(!records.is_empty());
        // Plain lines end anywhere; a frame or a member has an end.
        assert_eq!(cut_off, name != NAMES[0]);
        let message = error_of(&output);
        for word in [name, &format!(" {} samples", records.len())] {
            assert!(message.contains(word), "{message}");
        }
        assert!(!message.contains("os error"), "{message}");
        assert_eq!(replay(&path).status.code(), Some(0));
    }
}

#[test]
fn a_full_device_is_an_error() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let stdout = record("0.005").arg("-").stdout(full()).output().unwrap();
    let named = record("0.005").arg("/dev/full").output().unwrap();
    for (output, name) in [(stdout, "standard output"), (named, "/dev/full")] {
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let message = error_of(&output);
        assert!(
            message.contains(name) && message.contains("0 samples"),
            "{message}"
        );
    }
}

#[test]
fn the_ending_of_the_name_chooses_the_packing() {
    let dir = tempfile::tempdir().unwrap();
    for (name, magic) in [
        ("a.jsonl", &b"{\"schema\":\"hotset.record.1\","[..]),
        ("a.zst", &[0x28, 0xb5, 0x2f, 0xfd]),
        ("a.jsonl.gz", &[0x1f, 0x8b]),
    ] {
        let path = dir.path().join(name);
        let output = record("0.001")
            .args(["--count", "3"])
            .arg(&path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(fs::read(&path).unwrap().starts_with(magic), "{name}");
        assert_eq!((read(&path).0.len(), read(&path).1), (3, false));
        // Standard input is known by its first bytes.
        let mut stdin = Command::new(env!("CARGO_BIN_EXE_hotset"));
        stdin
            .args(["replay", "--all", "--json", "-"])
            .stdin(File::open(&path).unwrap());
        let stdin = stdin.output().unwrap();
        assert!(stdin.status.success() && stdin.stderr.is_empty());
        assert_eq!(stdin.stdout, replay(&path).stdout);
    }
    for name in ["a.jsonl.xz", "a.bz2"] {
        let path = dir.path().join(name);
        let output = record("0.001")
            .args(["--count", "3"])
            .arg(&path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let ending = name.rsplit('.').next().unwrap();
        assert!(error_of(&output).contains(&format!(".{ending}")));
        assert!(!path.exists());
    }
}

#[test]
fn a_file_that_exists_is_replaced_only_with_force() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    fs::write(&path, "mine").unwrap();
    let run = |more: &[&str]| {
        let mut command = record("0.001");
        command.args(["--count", "2"]).args(more).arg(&path);
        command.output().unwrap()
    };
    let refused = run(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(error_of(&refused).contains("--force"));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    let forced = run(&["--force", "--quiet"]);
    assert!(forced.status.success() && forced.stderr.is_empty());
    assert_eq!(read(&path).0.len(), 2);
}

#[test]
fn a_recording_says_where_it_goes_before_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    let output = record("0.001").args(["--count", "1"]).arg(&path).output();
    let message = error_of(&output.unwrap());
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(lines.len(), 2, "{message}");
    assert!(lines[0].contains("a.jsonl") && lines[0].contains("Ctrl-C"));
    assert!(lines[1].contains("1 sample in "), "{message}");
    let path = dir.path().join("b.jsonl");
    let mut quiet = record("0.001");
    let quiet = quiet.args(["-q", "--for", "0.0001m"]).arg(&path).output();
    assert_eq!(error_of(&quiet.unwrap()), "");
    assert!(!read(&path).0.is_empty());
}

#[test]
fn a_terminal_is_not_taken_for_a_file_unless_it_is_named() {
    // Nobody reads the user's end: the few bytes below fit in its buffer.
    let (terminal, _user) = terminal::terminal();
    let mut command = record("0.001");
    let output = command.args(["--count", "1"]).stdout(terminal);
    let output = output.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let message = error_of(&output);
    assert!(message.contains("name a file"), "{message}");
    // A pipe is one.
    let piped = record("0.001").args(["--count", "2"]).output().unwrap();
    assert_eq!(
        piped.stdout.iter().filter(|byte| **byte == b'\n').count(),
        2
    );
}

#[test]
fn a_wrong_value_is_named_with_its_option() {
    for (option, value) in [
        ("--interval", "0"),
        ("--interval", "-1"),
        ("--interval", "nan"),
        ("--interval", "1e300"),
        ("--interval", "soon"),
        ("--for", "-1"),
        ("--count", "0"),
        ("--count", "-5"),
        ("--count", "20M"),
    ] {
        let option_and_value = format!("{option}={value}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
        let output = command
            .arg("record")
            .arg(option_and_value)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        let message = error_of(&output);
        let rest = message.strip_prefix(&format!("hotset: {option}: "));
        let rest = rest.unwrap_or_else(|| panic!("{message}"));
        assert!(rest.trim_start_matches('"').starts_with(value), "{message}");
        assert!(
            !message.contains("literal") && !message.contains("1844674"),
            "{message}"
        );
    }
}

#[test]
fn lines_come_one_by_one_on_standard_output() {
    let mut child = endless()
        .arg("-")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        let record: Record = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(record.nodes[0].blocks.len(), 11);
    }
    // The reader goes away, as `| head` does.
    drop(lines);
    assert!(!child.wait().unwrap().success(), "ended by SIGPIPE");
    let mut message = String::new();
    child.stderr.unwrap().read_to_string(&mut message).unwrap();
    assert!(message.is_empty(), "{message}");
}
