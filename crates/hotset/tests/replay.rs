//! `hotset replay` as a program, on the recording below fixtures/replay.
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn fixture(name: &str) -> PathBuf {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/replay");
    all.join(name)
}

fn replay(arguments: &[&str], file: &Path) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let command = command.arg("replay").args(arguments).arg(file);
    command.output().unwrap()
}

/// Lines of actions.csv for one choice of arguments.
fn actions(aggressiveness: &str, all: bool) -> String {
    let mut arguments = vec!["--json", "--aggressiveness", aggressiveness];
    if all {
        arguments.push("--all");
    }
    let output = replay(&arguments, &fixture("samples.jsonl.zst"));
    assert!(output.status.success(), "{output:?}");
    let mut lines = String::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let decision: Value = serde_json::from_str(line).unwrap();
        for action in decision["actions"].as_array().unwrap() {
            let (t, action) = (&decision["t"], action["action"].as_str().unwrap());
            lines += &format!("{aggressiveness},{all},{t},{action}\n");
        }
    }
    lines
}

#[test]
fn the_same_samples_give_the_same_actions() {
    let mut found = "aggressiveness,all,t,action\n".to_owned();
    for aggressiveness in ["1", "2", "3"] {
        for all in [false, true] {
            found += &actions(aggressiveness, all);
        }
    }
    let expected = std::fs::read_to_string(fixture("actions.csv")).unwrap();
    assert!(found == expected, "other actions:\n{found}");
}

#[test]
fn exhaustions_of_recorded_machines_are_foretold() {
    let folder = fixture("../recorded");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "zst"))
        .collect();
    files.sort();
    let mut found = "recording,exhaustions,foreseeable,foretold,false_pct\n".to_owned();
    for file in &files {
        let score: Value =
            serde_json::from_str(&text(&replay(&["--score", "--json"], file))).unwrap();
        let fields = [
            "exhaustions",
            "reclaim_episodes",
            "predicted",
            "false_positive_pct",
        ];
        let numbers = fields.map(|field| score[field].to_string()).join(",");
        found += &format!(
            "{},{numbers}\n",
            file.file_name().unwrap().to_str().unwrap()
        );
    }
    let expected = std::fs::read_to_string(folder.join("scores.csv")).unwrap();
    assert!(found == expected, "other scores:\n{found}");
}

#[test]
fn each_line_of_json_begins_with_its_schema() {
    let output = replay(&["--json", "-a", "1"], &fixture("samples.jsonl.zst"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() > 3);
    for line in text.lines() {
        assert!(
            line.starts_with("{\"schema\":\"hotset.replay.1\",\"t\":"),
            "{line}"
        );
    }
    let long = replay(
        &["--json", "--aggressiveness", "1"],
        &fixture("samples.jsonl.zst"),
    );
    assert_eq!(String::from_utf8(long.stdout).unwrap(), text);
}

fn text(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn the_configuration_of_the_daemon_counts() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hotsetd.conf");
    let conf = path.to_str().unwrap();
    let samples = fixture("samples.jsonl.zst");
    let with = |settings: &str, more: &[&str]| {
        std::fs::write(&path, settings).unwrap();
        replay(&[&["--json", "--config", conf], more].concat(), &samples)
    };
    let of = |more: &[&str]| text(&replay(&[&["--json"], more].concat(), &samples));
    assert_eq!(text(&with("aggressiveness = 3\n", &[])), of(&["-a", "3"]));
    assert_eq!(
        text(&with("aggressiveness = 3\n", &["-a", "1"])),
        of(&["-a", "1"])
    );
    assert_ne!(of(&["-a", "1"]), of(&["-a", "3"]));
    assert!(of(&[]).contains("vm.watermark_scale_factor = "));
    let off = text(&with("[free_pages]\nenabled = false\n", &[]));
    assert!(!off.contains("vm.watermark_scale_factor = "), "{off}");
    let tuned = "[tunables.at_start]\n\"vm.dirty_ratio\" = 10\n";
    assert!(text(&with(tuned, &[])).contains("\"vm.dirty_ratio = 10\""));
    let protect = with("[protect]\nclean_min_ratio = 15\n", &[]);
    let note = String::from_utf8(protect.stderr).unwrap();
    assert!(note.contains("[protect]") && note.contains(conf), "{note}");
}

#[test]
fn an_error_of_the_configuration_names_file_and_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hotsetd.conf");
    let conf = path.to_str().unwrap();
    let samples = fixture("samples.jsonl.zst");
    let missing = replay(&["-c", conf], &samples);
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8(missing.stderr).unwrap().contains(conf));
    std::fs::write(&path, "verbosity = 9\n\nagressiveness = 2\n").unwrap();
    let wrong = replay(&["-c", conf], &samples);
    assert_eq!(wrong.status.code(), Some(2));
    let error = String::from_utf8(wrong.stderr).unwrap();
    for line in [1, 3] {
        assert!(error.contains(&format!("{conf}:{line}: ")), "{error}");
    }
    assert!(wrong.stdout.is_empty());
}

#[test]
fn repeats_of_an_action_are_one_line_of_the_text() {
    let samples = fixture("samples.jsonl.zst");
    let found = text(&replay(&["--all", "-a", "3"], &samples));
    let json = text(&replay(&["--all", "-a", "3", "--json"], &samples));
    let mut asked = 0;
    for line in json.lines() {
        let decision: Value = serde_json::from_str(line).unwrap();
        asked += decision["actions"].as_array().unwrap().len();
    }
    // A line for the first of each row of the same action, and one that counts a row.
    let (mut shown, mut repeated) = (0, 0);
    for line in found.lines() {
        let of_times = |line: &str| -> Option<usize> {
            let (head, _) = line.split_once(" times from ")?;
            head.rsplit(' ').next()?.parse().ok()
        };
        match of_times(line) {
            Some(times) => repeated += times - 1,
            None if line.contains(": ") => shown += 1,
            None => assert!(line.contains(&format!(", {asked} action")), "{line}"),
        }
    }
    assert_eq!(shown + repeated, asked, "{found}");
    assert!(repeated > 0, "{found}");
    // Quiet: the actions alone.
    let quiet = text(&replay(&["--all", "-a", "3", "-q"], &samples));
    assert!(found.starts_with(&quiet) && quiet.lines().count() + 1 == found.lines().count());
}

#[test]
fn an_error_names_the_file_and_the_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("samples.jsonl");
    for bad in [
        "{\n{\"t\":4.0}",
        "x",
        "{\"t\":1.0}",
        "{\"t\":3.0,\"vmstat\":{\"a b\":1}}",
        "{\"t\":\"3\"}",
    ] {
        std::fs::write(&path, format!("{{\"t\":2.0}}\n{bad}\n")).unwrap();
        let output = replay(&[], &path);
        assert_eq!(output.status.code(), Some(3));
        let error = String::from_utf8(output.stderr).unwrap();
        let name = path.display().to_string();
        assert!(error.contains(&name) && error.contains("line 2"), "{error}");
    }
}

#[test]
fn a_recording_that_was_cut_off_is_replayed_as_far_as_it_goes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("samples.jsonl.zst");
    let whole = replay(&["--json", "--all"], &fixture("samples.jsonl.zst")).stdout;
    let packed = std::fs::read(fixture("samples.jsonl.zst")).unwrap();
    let mut most = 0;
    for part in 1..12 {
        std::fs::write(&path, &packed[..packed.len() * part / 12]).unwrap();
        let output = replay(&["--json", "--all"], &path);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(&path.display().to_string()), "{error}");
        assert!(whole.starts_with(&output.stdout));
        let samples = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        match samples {
            0 => assert_eq!(output.status.code(), Some(3)),
            _ => {
                assert_eq!(output.status.code(), Some(0));
                assert!(error.contains(&format!("sample {samples};")), "{error}");
            }
        }
        assert!(samples >= most);
        most = samples;
    }
    assert!(most > 0);
    assert!(replay(&["-q"], &path).stderr.is_empty());
    // A changed byte is damage, not an end.
    let mut damaged = packed.clone();
    damaged[packed.len() / 2] ^= 0x10;
    std::fs::write(&path, &damaged).unwrap();
    let output = replay(&[], &path);
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains(&path.display().to_string()) && error.contains("line "),
        "{error}"
    );
}

#[test]
fn a_file_without_samples_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("samples.jsonl");
    for contents in ["", "\n", "{\"t\":2"] {
        std::fs::write(&path, contents).unwrap();
        let output = replay(&[], &path);
        assert_eq!(output.status.code(), Some(3), "{contents:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(&path.display().to_string()), "{error}");
    }
}

/// As `hotset replay <(zstdcat FILE)` in a shell: what was read to see its kind cannot be read again.
#[test]
fn a_pipe_is_read_once() {
    let whole = replay(&["--json", "--all"], &fixture("samples.jsonl.zst")).stdout;
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let mut child = command
        .args(["replay", "--json", "--all", "/dev/stdin"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let packed = std::fs::read(fixture("samples.jsonl.zst")).unwrap();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut pipe, &packed));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    assert!(!whole.is_empty() && output.stdout == whole);
}
