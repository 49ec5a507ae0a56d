//! Errors that a user can cause: each is named, and nothing is left behind.
use crate::place::{message, Place, KNOB};
use serde_json::Value;
use std::fs;
use std::process::Command;

#[test]
fn each_wrong_option_is_named_and_nothing_runs() {
    let place = Place::new();
    for (words, wanted) in [
        (
            &["--b", "watermark:0", "--", "true"][..],
            "--b: watermark:0: a whole number from 1 to 3000",
        ),
        (
            &["--a", "vm.swapiness=1", "--", "true"],
            "--a: vm.swapiness: this kernel has no such sysctl; did you mean vm.swappiness?",
        ),
        (
            &["--b", "protect.tick_ms=999", "--", "true"],
            "--b: protect.tick_ms: ",
        ),
        (
            &["--b", "none", "--", "no-such-command"],
            "no-such-command: there is no such command",
        ),
        (
            &["--b", "none", "--", "/etc/passwd"],
            "/etc/passwd: the file cannot be executed",
        ),
        (
            &["--b", "vm.nr_hugepages=99999999", "--", "true"],
            "--allow-oom runs it nevertheless",
        ),
        (
            &["--repetitions", "0", "--b", "none", "--", "true"],
            "--repetitions: 0 is out of range (1 to 1000)",
        ),
        (
            &["--lead", "soon", "--b", "none", "--", "true"],
            "--lead: soon: expected a number of seconds",
        ),
        (&["--b", "none", "--cold", "--", "true"], "drop_caches"),
        (&["--b", "none"], "COMMAND"),
    ] {
        let output = place.run(words);
        let text = message(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(wanted), "{words:?}: {text}");
        assert!(!place.path("out").exists(), "{words:?}");
    }
}

#[test]
fn a_command_that_fails_ends_the_trial() {
    let place = Place::new();
    let shell = format!("grep 10 root/{KNOB} || {{ echo no luck; exit 7; }}");
    let output = place.run(&[
        "--b",
        "watermark:300",
        "--seed",
        "1",
        "--",
        "sh",
        "-c",
        &shell,
    ]);
    let text = message(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(
        text.contains("sh ended with exit status 7; its output is in out/console/b-0.log"),
        "{text}"
    );
    let log = fs::read_to_string(place.path("out/console/b-0.log")).unwrap();
    assert_eq!(log, "no luck\n");
    let trial: Value =
        serde_json::from_slice(&fs::read(place.path("out/trials/b-0.json")).unwrap()).unwrap();
    assert_eq!(trial["outcome"]["kind"], "failed");
    assert_eq!(place.knob(), "10");
}

#[test]
fn a_command_that_crashes_and_a_helper_that_fails_are_named() {
    let place = Place::new();
    let output = place.run(&["--b", "none", "--", "sh", "-c", "kill -SEGV $$"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        message(&output).contains("sh was ended by signal 11"),
        "{}",
        message(&output)
    );
    let words = [
        "--b", "none", "--force", "--beside", "true", "--beside", "exit 4", "--", "sleep", "100",
    ];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        message(&output).contains("--beside exit 4 ended with exit status 4"),
        "{}",
        message(&output)
    );
}

#[test]
fn memory_that_runs_short_ends_the_trial() {
    let place = Place::new();
    let shell =
        "sed -E 's/^(MemFree|Active\\(file\\)|Inactive\\(file\\)|SwapFree):.*/\\1: 9000 kB/' \
                 root/proc/meminfo >new && mv new root/proc/meminfo; sleep 1000";
    let output = place.run(&["--b", "watermark:300", "--", "sh", "-c", shell]);
    let text = message(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("memory is nearly exhausted: "), "{text}");
    assert_eq!(place.knob(), "10");
    // Another trial does not begin, unless it is told to.
    let begin = ["--b", "none", "--force", "--repetitions", "1"];
    let output = place.run(&[&begin[..], &["--", "true"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let output = place.run(&[&begin[..], &["--allow-oom", "--", "true"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
}

#[test]
fn a_full_disk_ends_the_trial_and_names_the_file() {
    let place = Place::new();
    let hotset = env!("CARGO_BIN_EXE_hotset");
    // A limit of a file's size, in KiB, stands for a disk: run.json is small, and a run's file is not.
    let line = format!("ulimit -f 6; exec {hotset} trial --root root --lead 0 --b watermark:300 --output out -- true");
    let mut limited = Command::new("bash");
    let output = limited
        .current_dir(place.path(""))
        .args(["-c", &line])
        .output()
        .unwrap();
    let text = message(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(
        text.contains("out/trials/") && text.contains("make room on that disk"),
        "{text}"
    );
    assert_eq!(place.knob(), "10");
}
