//! `hotset trace record` as a program, with a stand-in for valgrind: the options passed to valgrind, the
//! trace made of its lines, exit statuses, and the processes left when the recording is ended.
use serde_json::{json, Value};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Connects to the address of `--log-socket`, as valgrind does. Each test appends its own script.
const VALGRIND: &str = r#"#!/bin/bash
for word; do
    case $word in --log-socket=*) at=${word#*=} ;; esac
done
send() { printf "$1" >"/dev/tcp/${at%:*}/${at#*:}"; }
for wanted in --tool=lackey --trace-mem=yes --trace-children=yes; do
    [[ " $* " == *" $wanted "* ]] || { echo "no $wanted" >&2; exit 9; }
done
"#;

/// A child, a child in a session of its own, and one that ignores every signal and whose parent has ended.
const FAMILY: &str = r#"
send ' L 1000,8\n L 2000,8\n L 3000,8\n'
sleep 1000 & echo $! >pid-1
setsid sleep 1000 & echo $! >pid-2
(setsid bash -c 'trap "" INT TERM HUP
    echo $$ >new && mv new pid-3
    while :; do sleep 1; done' &)
until [[ -e pid-3 ]]; do sleep 0.1; done
echo $$ >new && mv new pid-4
wait
"#;

fn executable(path: &Path, script: &str) {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// `hotset trace record` of a command called `some`, in a process group of its own.
fn recorder(folder: &Path, script: &str) -> Command {
    executable(&folder.join("valgrind"), &format!("{VALGRIND}{script}"));
    executable(&folder.join("some"), "#!/bin/true\n");
    let mut hotset = Command::new(env!("CARGO_BIN_EXE_hotset"));
    with_path(&mut hotset, folder);
    hotset.args(["trace", "record"]);
    super::signals::by_default(&mut hotset);
    hotset
}

fn with_path(command: &mut Command, folder: &Path) {
    let path = std::env::var("PATH").unwrap();
    command
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(folder)
        .process_group(0);
}

fn record(folder: &Path, script: &str, options: &[&str]) -> Output {
    recorder(folder, script)
        .arg("--json")
        .args(options)
        .args(["out.txt", "--", "some", "command"])
        .output()
        .unwrap()
}

fn summary(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The objects of the trace, numbered by first appearance.
fn objects(folder: &Path, name: &str) -> Vec<u32> {
    let options = trace::ReadOptions::default();
    trace::open(&folder.join(name), &options).unwrap().ids
}

/// Waits until something is so.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the processes whose numbers are in these files are gone, or dead and not yet reaped.
fn gone(folder: &Path, files: &[&str]) {
    for file in files {
        let pid = fs::read_to_string(folder.join(file)).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        until(&format!("{file}: {stat} runs on"), || {
            let stat = fs::read_to_string(&stat).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_none_or(|(_, rest)| rest.starts_with('Z'))
        });
    }
}

fn send(to: &Child, signal: &str) {
    let pid = to.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &pid]).status();
    assert!(sent.unwrap().success());
}

/// Starts the recording of a family of processes, and waits until all of them run.
fn family(folder: &Path) -> Child {
    let child = recorder(folder, FAMILY)
        .args(["out.txt", "--json", "--", "some"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the processes start", || folder.join("pid-4").exists());
    child
}

#[test]
fn a_command_and_the_programs_it_executes_share_no_pages() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The second program outlives the first, and uses one of the same addresses.
    let script = r#"
send 'I  04001000,3\n L 1ffe000,8\n L 1ffe008,8\n'
(sleep 0.3; send 'I  04001000,3\n S 04001004,4\n I  04002000,3\n') &
"#;
    let seen = summary(&record(folder, script, &[]));
    let wanted = json!({
        "schema": "hotset.trace.record.1", "output": "out.txt", "format": "text",
        "requests": 4, "accesses": 6, "unread": 0, "programs": 2,
        "ended_by": "command", "command_status": 0,
    });
    assert_eq!(seen, wanted);
    assert_eq!(objects(folder, "out.txt"), [0, 1, 2, 3]);
    fs::remove_file(folder.join("out.txt")).unwrap();
    let seen = summary(&record(folder, script, &["--all"]));
    assert_eq!(seen["requests"], 6);
    assert_eq!(objects(folder, "out.txt"), [0, 1, 1, 2, 2, 3]);
}

#[test]
fn a_count_ends_the_command_and_the_processes_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
for own in 1 2; do
    (echo $BASHPID >"pid-$own"
     exec 3>"/dev/tcp/${at%:*}/${at#*:}"
     for ((page = 0; ; page++)); do printf ' L %x000,8\n' $page >&3 || exit; done) &
done
wait
"#;
    let output = record(folder, script, &["--count", "1000"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let seen = summary(&output);
    assert_eq!(
        (&seen["accesses"], &seen["ended_by"]),
        (&json!(1000), &json!("--count"))
    );
    assert_eq!(objects(folder, "out.txt").len(), 1000);
    gone(folder, &["pid-1", "pid-2"]);
}

#[test]
fn a_signal_ends_the_command_with_all_that_it_started_and_keeps_the_trace() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let child = family(folder);
        send(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let seen = summary(&output);
        assert_eq!(
            (&seen["requests"], &seen["ended_by"]),
            (&json!(3), &json!(format!("SIG{name}")))
        );
        assert_eq!(objects(folder, "out.txt"), [0, 1, 2], "{name}");
        gone(folder, &["pid-1", "pid-2", "pid-3", "pid-4"]);
    }
}

#[test]
fn nothing_runs_on_when_hotset_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut child = family(folder);
    send(&child, "KILL");
    child.wait().unwrap();
    gone(folder, &["pid-1", "pid-2", "pid-3", "pid-4"]);
}

#[test]
fn a_command_that_handles_the_signal_is_recorded_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r#"
trap "send ' L 9000,8\n'; exit 0" TERM
send ' L 1000,8\n'
touch ready
while :; do sleep 0.1; done
"#;
    let child = recorder(folder, script)
        .args(["out.txt", "--json", "--", "some"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command starts", || folder.join("ready").exists());
    send(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    let seen = summary(&output);
    assert_eq!(
        (&seen["requests"], &seen["command_status"]),
        (&json!(2), &json!(0))
    );
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let script = r"
send ' L 1000,8\n'
touch ready
until [[ -e go ]]; do sleep 0.1; done
";
    drop(recorder(folder, script));
    let mut nohup = Command::new("bash");
    with_path(&mut nohup, folder);
    let line = format!(
        "trap '' HUP; exec {} trace record out.txt --json -- some",
        env!("CARGO_BIN_EXE_hotset")
    );
    let nohup = nohup.args(["-c", &line]).stdout(Stdio::piped());
    let child = nohup.spawn().unwrap();
    until("the command starts", || folder.join("ready").exists());
    send(&child, "HUP");
    fs::write(folder.join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(summary(&output)["ended_by"], "command");
}

#[test]
fn a_reader_that_leaves_ends_the_command() {
    let busy = r#"
echo $$ >pid-4
exec 3>"/dev/tcp/${at%:*}/${at#*:}"
seq -f ' L %.0f000,8' 1 1000000000 >&3
"#;
    for (script, lines) in [(busy, 3), (FAMILY, 0)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut child = recorder(folder, script)
            .args(["-", "--", "some"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        until("the processes start", || folder.join("pid-4").exists());
        let mut pipe = BufReader::new(child.stdout.take().unwrap());
        for _ in 0..lines {
            let mut line = String::new();
            pipe.read_line(&mut line).unwrap();
            assert!(line.trim().parse::<u64>().is_ok(), "{line}");
        }
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{output:?}");
        gone(folder, &["pid-4"]);
    }
}

#[test]
fn the_commands_own_output_is_not_in_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo 77; send ' L 1000,8\\n'\n";
    let output = recorder(folder.path(), script)
        .args(["-", "--json", "--", "some"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n");
    let text = message(&output);
    let mut lines = text.lines().filter(|line| !line.starts_with("Recording"));
    assert_eq!(lines.next(), Some("77"));
    let seen: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(seen["output"], "-");
}

#[test]
fn the_exit_status_is_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (end, code) in [("exit 3", 3), ("exit 0", 0), ("kill -SEGV $$", 139)] {
        let output = record(folder, &format!("send ' L 1000,8\\n'; {end}\n"), &[]);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(summary(&output)["command_status"], code);
        assert_eq!(objects(folder, "out.txt"), [0], "the trace is kept");
        fs::remove_file(folder.join("out.txt")).unwrap();
    }
    let output = record(folder, "exit 5\n", &[]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let output = record(folder, "exit 0\n", &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(message(&output).contains("some"), "{output:?}");
    assert!(!folder.join("out.txt").exists(), "there is nothing in it");
}

#[test]
fn a_command_that_cannot_run_has_the_status_of_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("plain"), "").unwrap();
    for (command, code) in [
        ("no-such", 127),
        ("./no-such", 127),
        ("./plain", 126),
        ("plain", 126),
        ("/", 126),
    ] {
        let output = recorder(folder, "touch started\n")
            .args(["out.txt", "--", command])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(message(&output).contains(command), "{output:?}");
    }
    let left = |name: &str| folder.join(name).exists();
    assert!(!left("started") && !left("out.txt"));
    // The folder has a command, but no valgrind.
    let mut alone = recorder(folder, "");
    fs::remove_file(folder.join("valgrind")).unwrap();
    alone.env("PATH", folder).args(["out.txt", "--", "some"]);
    let output = alone.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(message(&output).contains("valgrind"), "{output:?}");
}

#[test]
fn lines_before_one_that_cannot_be_read_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let output = record(folder, "send 'nonsense\\n'\n", &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(message(&output).contains("line 1"), "{output:?}");
    assert!(!folder.join("out.txt").exists());
    let script = "exec 3>/dev/tcp/${at%:*}/${at#*:}; \
        { seq -f ' L %.0f000,8' 1 10000; echo nonsense; } >&3\n";
    let output = record(folder, script, &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let kept = objects(folder, "out.txt").len();
    assert!(kept > 5000, "{kept}");
    assert!(message(&output).contains(&kept.to_string()), "{output:?}");
}

#[test]
fn a_full_disk_keeps_what_fits() {
    for name in ["out.txt", "out.txt.zst", "out.txt.gz"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let script = r#"
echo $$ >pid-1
exec 3>"/dev/tcp/${at%:*}/${at#*:}"
seq -f ' L %.0f000,8' 1 1000000000 >&3
"#;
        drop(recorder(folder, script));
        let mut limited = Command::new("bash");
        with_path(&mut limited, folder);
        // A limit of a file's size, in KiB, stands for a disk.
        let line = format!(
            "ulimit -f 700; exec {} trace record {name} -- some",
            env!("CARGO_BIN_EXE_hotset")
        );
        let output = limited.args(["-c", &line]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let ids = objects(folder, name);
        assert!(ids.len() > 30_000, "{name}: {}", ids.len());
        let kept = ids.len().to_string();
        assert!(message(&output).contains(name), "{output:?}");
        assert!(message(&output).contains(&kept), "{kept}: {output:?}");
        gone(folder, &["pid-1"]);
    }
}
