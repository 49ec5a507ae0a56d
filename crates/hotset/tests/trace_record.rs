//! `hotset trace record` as a program, with a valgrind of our own: what it is told, what of its lines
//! becomes a trace, and what is left when it is ended.
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Connects as valgrind does, to where it was told to, and then does as the test says.
const VALGRIND: &str = r#"#!/bin/bash
for word; do
    case $word in --log-socket=*) at=${word#*=} ;; esac
done
said() { printf "$1" >"/dev/tcp/${at%:*}/${at#*:}"; }
for wanted in --tool=lackey --trace-mem=yes --trace-children=yes; do
    [[ " $* " == *" $wanted "* ]] || { echo "no $wanted" >&2; exit 9; }
done
"#;

fn record(folder: &Path, script: &str, options: &[&str]) -> Output {
    let valgrind = folder.join("valgrind");
    std::fs::write(&valgrind, format!("{VALGRIND}{script}")).unwrap();
    std::fs::set_permissions(&valgrind, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .env("PATH", format!("{}:{path}", folder.display()))
        .current_dir(folder)
        .args(["trace", "record", "--json"])
        .args(options)
        .args(["out.txt", "--", "some", "command"])
        .output()
        .unwrap()
}

fn said(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stderr).unwrap()
}

/// The objects of the trace, numbered by first appearance.
fn objects(folder: &Path) -> Vec<u32> {
    let options = trace::ReadOptions::default();
    let trace = trace::open(&folder.join("out.txt"), &options).unwrap();
    trace.ids
}

#[test]
fn pages_of_a_command_and_of_what_it_executes_are_apart() {
    let folder = tempfile::tempdir().unwrap();
    // The other outlives the first, and shares an address with it.
    let script = r#"
said 'I  04001000,3\n L 1ffe000,8\n L 1ffe008,8\n'
(sleep 0.3; said 'I  04001000,3\n S 04001004,4\n I  04002000,3\n') &
"#;
    let seen = said(&record(folder.path(), script, &[]));
    let wanted = serde_json::json!({ "requests": 4, "accesses": 6, "unread": 0, "programs": 2 });
    assert_eq!(seen, wanted);
    assert_eq!(objects(folder.path()), [0, 1, 2, 3]);
    let seen = said(&record(folder.path(), script, &["--all"]));
    assert_eq!(seen["requests"], 6);
    assert_eq!(objects(folder.path()), [0, 1, 1, 2, 2, 3]);
}

#[test]
fn a_limit_ends_the_command_and_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
for own in 1 2; do
    (echo $BASHPID >"pid-$own"
     exec 3>"/dev/tcp/${at%:*}/${at#*:}"
     for ((page = 0; ; page++)); do printf ' L %x000,8\n' $page >&3 || exit; done) &
done
wait
"#;
    let seen = said(&record(folder.path(), script, &["--limit", "1000"]));
    assert_eq!(seen["accesses"], 1000);
    assert_eq!(objects(folder.path()).len(), 1000);
    let since = Instant::now();
    for own in ["pid-1", "pid-2"] {
        let pid = std::fs::read_to_string(folder.path().join(own)).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        // Gone, or dead and not asked about yet by whoever has it now.
        let runs = || {
            let stat = std::fs::read_to_string(&stat).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| !rest.starts_with('Z'))
        };
        while runs() {
            assert!(since.elapsed() < Duration::from_secs(30), "{stat} runs on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_command_that_fails_or_says_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let output = record(folder.path(), "said ' L 1000,8\\n'; exit 3\n", &[]);
    let line = "some command ended with exit status: 3";
    assert!(told(&output).contains(line), "{output:?}");
    assert_eq!(objects(folder.path()), [0], "what it did is kept");
    let output = record(folder.path(), "exit 0\n", &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(told(&output).contains("no access was seen"), "{output:?}");
    let output = record(folder.path(), "said 'nonsense\\n'\n", &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        told(&output).contains("line 1: expected I, L"),
        "{output:?}"
    );
}
