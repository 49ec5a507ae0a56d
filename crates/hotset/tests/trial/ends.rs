//! Whatever ends a trial, the knobs are given back and the programs end.
use crate::place::{keeper, message, signal, until, Place, KNOB};
use std::fs;
use std::process::Command;

#[test]
fn a_signal_gives_back_the_knob_and_ends_all_programs() {
    for (number, status) in [
        (libc::SIGINT, 130),
        (libc::SIGTERM, 143),
        (libc::SIGHUP, 129),
    ] {
        let place = Place::new();
        let child = place.endless(&[]);
        assert_eq!(place.knob(), "200");
        signal(child.id(), number);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{}", message(&output));
        assert_eq!(place.knob(), "10");
        assert!(!place.path("root/run/hotset-trial").exists());
        place.gone();
    }
}

#[test]
fn a_killed_trial_is_undone_by_its_keeper() {
    let place = Place::new();
    let mut child = place.endless(&[]);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the knob is given back", || place.knob() == "10");
    place.gone();
    until("the keeper ends", || {
        !place.path("root/run/hotset-trial").exists()
    });
}

#[test]
fn a_reader_that_leaves_ends_a_trial_without_a_panic() {
    let place = Place::new();
    let mut child = place.endless(&[]);
    drop(child.stderr.take());
    signal(child.id(), libc::SIGINT);
    // 130, or SIGPIPE where a message came first.
    let status = child.wait().unwrap();
    assert_ne!(status.code(), Some(101));
    until("the knob is given back", || place.knob() == "10");
    place.gone();
}

#[test]
fn a_killed_keeper_is_undone_by_its_trial() {
    let place = Place::new();
    let child = place.endless(&[]);
    signal(keeper(&child), libc::SIGKILL);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(
        message(&output).contains("the keeper of the trial"),
        "{}",
        message(&output)
    );
    assert_eq!(place.knob(), "10");
    place.gone();
}

#[test]
fn what_a_trial_and_its_keeper_leave_is_given_back_later() {
    for later in ["--restore", "another trial"] {
        let place = Place::new();
        let mut child = place.endless(&[]);
        let keeper = keeper(&child);
        // Stopped, neither can undo what the other leaves.
        signal(child.id(), libc::SIGSTOP);
        signal(keeper, libc::SIGKILL);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(place.knob(), "200");
        let output = match later {
            "--restore" => place.run(&["--restore"]),
            _ => place.run(&[
                "--b",
                "vm.swappiness=1",
                "--repetitions",
                "1",
                "--force",
                "--",
                "true",
            ]),
        };
        assert_eq!(output.status.code(), Some(0), "{}", message(&output));
        let said = message(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("watermark_scale_factor = 10 is given back"),
            "{said}"
        );
        assert_eq!(place.knob(), "10");
        // Only direct children die with the keeper.
        for file in ["pid-1", "pid-2"] {
            let pid = fs::read_to_string(place.path(file)).unwrap();
            signal(pid.trim().parse().unwrap(), libc::SIGKILL);
        }
    }
}

#[test]
fn a_value_that_somebody_else_writes_is_theirs() {
    let place = Place::new();
    let child = place.endless(&[]);
    place.put(KNOB, "77\n");
    signal(child.id(), libc::SIGINT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(place.knob(), "77");
    assert!(
        message(&output).contains("holds 77, which somebody else has written"),
        "{}",
        message(&output)
    );
    place.gone();
}

#[test]
fn a_second_trial_is_refused() {
    let place = Place::new();
    let child = place.endless(&[]);
    let mut second = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let line = [
        "trial",
        "--root",
        "root",
        "--b",
        "vm.swappiness=1",
        "--output",
        "other",
        "--",
        "true",
    ];
    let second = second
        .current_dir(place.path(""))
        .args(line)
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(3));
    assert!(
        message(&second).contains("another trial runs"),
        "{}",
        message(&second)
    );
    assert_eq!(place.knob(), "200", "the first goes on");
    signal(child.id(), libc::SIGINT);
    child.wait_with_output().unwrap();
    place.gone();
}
