//! Runs and their report.
use crate::place::{message, signal, until, Place, KNOB};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn pairs_of_runs_are_reported_and_the_knob_is_given_back() {
    let place = Place::new();
    let shell = format!("cat root/{KNOB} >>seen");
    let words = [
        "--b",
        "watermark:300",
        "--repetitions",
        "6",
        "--seed",
        "7",
        "--json",
        "--",
        "sh",
        "-c",
        &shell,
    ];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(whole["schema"], "hotset.trial.1");
    assert_eq!(
        (&whole["a"], &whole["b"]),
        (&"none".into(), &"watermark:300".into())
    );
    assert_eq!(
        (&whole["planned"], &whole["ok"], &whole["seed"]),
        (&12.into(), &12.into(), &7.into())
    );
    let figures = whole["figures"].as_array().unwrap();
    let time = &figures[0];
    assert_eq!(time["metric"], "command.wall_s");
    assert!(time["ratio"].as_f64().unwrap() > 0.0 && time["low"].is_number());
    let stalls = figures
        .iter()
        .find(|it| it["metric"] == "vmstat.allocstall")
        .unwrap();
    assert_eq!(stalls["difference"], "none-at-all");
    // The warm-up is under A. Each pair has both.
    let seen = fs::read_to_string(place.path("seen")).unwrap();
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!((seen.len(), seen[0]), (13, "10"));
    assert!(
        seen[1..].chunks(2).all(|pair| pair[0] != pair[1]),
        "{seen:?}"
    );
    assert_eq!(place.knob(), "10");
    assert!(!place.path("root/run/hotset-trial").exists());
    let page = fs::read_to_string(place.path("out/report.html")).unwrap();
    assert!(roxmltree::Document::parse_with_options(
        &page,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        }
    )
    .is_ok());
    assert!(
        page.contains("Allocation stalls") && !page.contains("boot"),
        "{page}"
    );
}

#[test]
fn the_table_fits_80_columns_and_the_folder_is_kept() {
    let place = Place::new();
    let words = ["--b", "watermark:300", "--repetitions", "6", "--", "true"];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    // The table of a terminal is 80 columns wide, and in one piece.
    let mut again = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let text = again
        .args(["lab", "report"])
        .arg(place.path("out"))
        .output()
        .unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.lines()
            .filter(|line| !line.contains("report.html"))
            .all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert_eq!(text.matches("Allocation stalls").count(), 1, "{text}");
    // The same folder is not written to again.
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(2));
    assert!(message(&output).contains("the folder is not empty"));
}

#[test]
fn what_runs_beside_starts_again_and_ends_with_the_command() {
    let place = Place::new();
    let shell = "while [ $(wc -l <beside) -lt 3 ]; do sleep 0.01; done; rm beside";
    let words = [
        "--b",
        "none",
        "--repetitions",
        "1",
        "--beside",
        "echo a >>beside; sleep 0.01",
        "--beside",
        "sleep 1000",
        "--",
        "sh",
        "-c",
        shell,
    ];
    fs::write(place.path("beside"), "").unwrap();
    let begun = Instant::now();
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    assert!(begun.elapsed() < Duration::from_secs(100));
}

#[test]
fn an_interrupted_trial_is_continued() {
    let place = Place::new();
    // The third run, after the warm-up and two others, waits for a signal.
    let shell =
        "echo a >>runs; [ $(wc -l <runs) != 4 ] || { echo $$ >new; mv new pid; exec sleep 1000; }";
    let words = [
        "--b",
        "watermark:300",
        "--repetitions",
        "2",
        "--",
        "sh",
        "-c",
        shell,
    ];
    let child = place.trial(&words).stderr(Stdio::piped()).spawn().unwrap();
    until("the third run starts", || place.path("pid").exists());
    signal(child.id(), libc::SIGINT);
    let output = child.wait_with_output().unwrap();
    assert!(
        message(&output).contains("2 of 4 runs are in out"),
        "{}",
        message(&output)
    );
    let words = [&["--resume"][..], &words].concat();
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", message(&output));
    assert_eq!(fs::read_dir(place.path("out/trials")).unwrap().count(), 4);
    // Two runs, the interrupted one, and two others; a warm-up before each part.
    assert_eq!(
        fs::read_to_string(place.path("runs"))
            .unwrap()
            .lines()
            .count(),
        7
    );
    let other = [&words[..2], &["none"], &words[3..]].concat();
    let output = place.run(&other);
    assert_eq!(output.status.code(), Some(2), "{}", message(&output));
}
