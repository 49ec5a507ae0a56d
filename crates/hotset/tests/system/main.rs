//! `hotset` with programs of the system that not every machine has.
#[path = "../common/signals.rs"]
mod signals;
mod top;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A shell with a child, and one in a session of its own. The child computes, so valgrind reports without end.
const FAMILY: &str = "sh -c 'while :; do :; done' & echo $! >pid-1; \
    setsid sleep 1000 & echo $! >pid-2; echo $$ >new; mv new pid-3; wait";

fn recorder(folder: &Path) -> Command {
    let mut hotset = Command::new(env!("CARGO_BIN_EXE_hotset"));
    hotset
        .current_dir(folder)
        .args(["trace", "record"])
        .process_group(0);
    hotset
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until all processes of [`FAMILY`] are gone, or dead and not yet reaped.
fn gone(folder: &Path) {
    for file in ["pid-1", "pid-2", "pid-3"] {
        let pid = fs::read_to_string(folder.join(file)).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        until(&format!("{file}: {stat} runs on"), || {
            let stat = fs::read_to_string(&stat).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_none_or(|(_, rest)| rest.starts_with('Z'))
        });
    }
}

fn has_requests(path: &Path) {
    let trace = trace::open(path, &trace::ReadOptions::default()).unwrap();
    assert!(trace.len() > 1000, "{}", trace.len());
}

#[test]
#[ignore = "system: needs valgrind"]
fn valgrind_records_a_command_and_the_programs_it_executes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = ["a.csv.zst", "--json", "--", "sh", "-c", "ls; exit 7"];
    let output = recorder(folder).args(line).output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let summary: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&summary["programs"], &summary["unread"]),
        (&2.into(), &0.into())
    );
    has_requests(&folder.join("a.csv.zst"));
}

#[test]
#[ignore = "system: needs valgrind"]
fn a_signal_ends_everything_below_valgrind_and_keeps_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let child = recorder(folder)
        .args(["a.txt", "--", "sh", "-c", FAMILY])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the processes start", || folder.join("pid-3").exists());
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "TERM", &pid]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    gone(folder);
    has_requests(&folder.join("a.txt"));
    // Valgrind that has lost its reader writes its lines to standard error.
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.lines().count() < 10, "{text}");
}

#[test]
#[ignore = "system: needs valgrind"]
fn a_reader_that_leaves_ends_everything_below_valgrind() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut child = recorder(folder)
        .args(["-", "--", "sh", "-c", FAMILY])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = BufReader::new(child.stdout.take().unwrap());
    // Valgrind waits while nobody reads.
    while !folder.join("pid-3").exists() {
        let mut line = String::new();
        pipe.read_line(&mut line).unwrap();
        assert!(line.trim().parse::<u64>().is_ok(), "{line}");
    }
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141), "{output:?}");
    gone(folder);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.lines().count() < 10, "{text}");
}

#[test]
#[ignore = "system: needs valgrind and script"]
fn ctrl_c_on_a_terminal_lets_the_command_end_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The shell counts the signals that it gets, and ends by itself.
    let shell = "trap 'echo one >>signals' INT; echo >new; mv new ready; \
        while [ ! -e signals ]; do sleep 0.1; done; sleep 0.5; exit 5";
    fs::write(folder.join("shell"), shell).unwrap();
    let hotset = env!("CARGO_BIN_EXE_hotset");
    // The shell that $SHELL names gets the signal as well, and not every one outlives it.
    let line = format!("exec {hotset} trace record a.txt -- sh shell");
    // A shell in which SIGINT was ignored from the start cannot trap it.
    let mut terminal = Command::new("script");
    let mut terminal = signals::by_default(&mut terminal)
        .args(["-q", "--return", "-c", &line, "typescript"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the command starts", || folder.join("ready").exists());
    let mut keys = terminal.stdin.take().unwrap();
    keys.write_all(b"\x03").unwrap();
    keys.flush().unwrap();
    let mut status = None;
    until("the terminal ends", || {
        status = terminal.try_wait().unwrap();
        status.is_some()
    });
    drop(keys);
    assert_eq!(status.unwrap().code(), Some(130));
    // Valgrind that has lost its reader writes its lines to the terminal.
    let text = fs::read(folder.join("typescript")).unwrap();
    assert!(text.len() < 10_000, "{}", String::from_utf8_lossy(&text));
    assert_eq!(fs::read_to_string(folder.join("signals")).unwrap(), "one\n");
    has_requests(&folder.join("a.txt"));
}

/// A machine of files.
fn machine(to: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernfs/6.18");
    let copied = Command::new("cp")
        .arg("-rT")
        .args([from.as_path(), to])
        .status();
    assert!(copied.unwrap().success());
    fs::create_dir(to.join("run")).unwrap();
}

#[test]
#[ignore = "system: needs hotsetd beside hotset"]
fn a_trial_runs_hotsetd_for_its_setting_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    machine(&folder.join("root"));
    let hotset = Path::new(env!("CARGO_BIN_EXE_hotset"));
    let trial = |output: &str| {
        let shell = "cat root/run/hotset/hotsetd.lock || echo none";
        Command::new(hotset)
            .current_dir(folder)
            .args([
                "trial",
                "--root",
                "root",
                "--lead",
                "0",
                "--repetitions",
                "2",
            ])
            .args([
                "--output",
                output,
                "--b",
                "aggressiveness=3,free_pages.kswapd_nice=0",
            ])
            .args(["--", "sh", "-c", shell])
            .output()
            .unwrap()
    };
    let output = trial("out");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = |name: &str| fs::read_to_string(folder.join("out/console").join(name)).unwrap();
    for pair in 0..2 {
        assert!(log(&format!("a-{pair}.log")).ends_with("none\n"));
        assert!(log(&format!("b-{pair}.log")).trim().parse::<u32>().is_ok());
        assert!(log(&format!("b-{pair}.hotsetd.log")).contains("aggressiveness 3"));
    }
    assert!(!folder.join("root/run/hotset-trial").exists());
    // Beside another hotsetd nothing runs.
    let mut daemon = Command::new(hotset.with_file_name("hotsetd"))
        .current_dir(folder)
        .args(["--root", "root", "--log", "stderr"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("hotsetd starts", || {
        folder.join("root/run/hotset/status.sock").exists()
    });
    let output = trial("second");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("systemctl stop hotsetd"), "{text}");
    assert!(!folder.join("second").exists());
}
