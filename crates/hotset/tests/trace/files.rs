//! The files of `hotset trace`: what is replaced, what a signal leaves, and their names.
use super::{fails, signals, works};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn nothing_is_replaced_by_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.txt"), "1\n2\n").unwrap();
    fs::write(dir.join("b.txt"), "old\n").unwrap();
    fs::write(dir.join("a.txt-lru.svg"), "old\n").unwrap();
    for (args, name) in [
        ("convert a.txt b.txt", "b.txt"),
        ("convert a.txt a.txt --force", "a.txt"),
        ("convert a.txt ./a.txt --count 1 --force", "a.txt"),
        ("generate scan --count 3 b.txt", "b.txt"),
        ("record b.txt -- true", "b.txt"),
        ("info a.txt --report a.txt --force", "a.txt"),
        ("info a.txt --report b.txt", "b.txt"),
        ("info a.txt --plot .", "a.txt-lru.svg"),
    ] {
        let found = fails(dir, args, 2);
        assert!(found.contains(name), "{args}: {found}");
        assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "1\n2\n");
        assert_eq!(fs::read_to_string(dir.join("b.txt")).unwrap(), "old\n");
        assert_eq!(fs::read_dir(dir).unwrap().count(), 3, "{args}");
    }
    works(dir, "convert a.txt b.txt --force");
    assert_eq!(fs::read_to_string(dir.join("b.txt")).unwrap(), "1\n2\n");
    works(dir, "generate scan --count 3 b.txt --force");
    assert_eq!(fs::read_to_string(dir.join("b.txt")).unwrap(), "1\n2\n3\n");
}

/// Waits until a partial file has bytes, sends a signal, and checks that the signal ends the command and that only
/// these files are left.
fn stopped(dir: &Path, mut child: Child, signal: (&str, i32), left: &[&str]) {
    let since = Instant::now();
    let written = || {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
        entries
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".partial"))
            .any(|entry| entry.metadata().is_ok_and(|about| about.len() > 0))
    };
    while !written() {
        assert!(since.elapsed() < Duration::from_secs(60), "nothing written");
        assert!(child.try_wait().unwrap().is_none(), "ended too early");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal.0, &pid]).status();
    assert!(sent.unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(signal.1));
    let found = fs::read_dir(dir).unwrap();
    let mut found: Vec<_> = found.map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, left);
}

#[test]
fn a_signal_leaves_no_partial_file() {
    for signal in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
        command.current_dir(dir).stderr(Stdio::null()).arg("trace");
        signals::by_default(&mut command);
        // Minutes of work.
        let line = "generate uniform --count 2e9 u.txt";
        let child = command.args(line.split(' ')).spawn().unwrap();
        stopped(dir, child, signal, &[]);

        let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
        command.current_dir(dir).stderr(Stdio::null());
        command.args(["trace", "convert", "-", "c.txt.zst", "--format", "text"]);
        signals::by_default(&mut command);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut lines = String::new();
        for line in 0..400_000 {
            lines += &format!("{line}\n");
        }
        // More than a block. The input stays open, so the command waits for more.
        input.write_all(lines.as_bytes()).unwrap();
        stopped(dir, child, signal, &[]);
        drop(input);
    }
}

#[test]
fn any_file_name_works_and_none_controls_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("x.csv"), "id\n1\n2\n").unwrap();
    let run = |words: &[&[u8]]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
        command.current_dir(dir).arg("trace");
        // A pipe alone takes escape sequences away.
        command.env("CLICOLOR_FORCE", "1");
        command.args(words.iter().map(|word| OsStr::from_bytes(word)));
        let out = command.output().unwrap();
        for text in [&out.stdout, &out.stderr] {
            let text = std::str::from_utf8(text).unwrap();
            assert!(!text.contains('\x1b'), "{text:?}");
        }
        out.status.code()
    };
    let names: [&[u8]; 2] = [b"out\xff.txt", b"a\x1b[31mb.txt"];
    for name in names {
        assert_eq!(run(&[b"convert", b"x.csv", name]), Some(0));
        assert_eq!(
            fs::read(dir.join(OsStr::from_bytes(name))).unwrap(),
            b"1\n2\n"
        );
        assert_eq!(run(&[b"info", name]), Some(0));
        assert_eq!(
            run(&[b"info", name, b"--json", b"--plot", b"plots"]),
            Some(0)
        );
        assert_eq!(run(&[b"convert", b"x.csv", name]), Some(2));
        assert_eq!(
            run(&[b"convert", name, b"out.bin", b"--count", b"1", b"--force"]),
            Some(0)
        );
        assert_eq!(run(&[b"record", b"r.txt", b"--", name]), Some(127));
    }
    let column = [b"info".as_slice(), b"x.csv", b"--id-column", b"a\x1b[31mb"];
    assert_eq!(run(&column), Some(3));
    assert_eq!(run(&[b"info", b"no\x1b[2Jne.txt"]), Some(3));
    assert_eq!(run(&[b"convert", b"x.csv", b"no\x1b[2Jne"]), Some(2));
}
