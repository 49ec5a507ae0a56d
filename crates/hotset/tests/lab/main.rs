//! `hotset lab`: exit statuses, files, and what is printed, without a guest.
mod bench;
mod bisect;
mod closed_loop;
mod dry_run;
mod league;
mod reports;

use bench::{demand, err, hotset, out, output, results, status};
use serde_json::Value;
use std::fs::{self, File};

#[test]
fn a_full_standard_output_is_a_failure_and_no_panic() {
    let (dir, run) = (tempfile::tempdir().unwrap(), results());
    let trace = demand(dir.path());
    for (line, path) in [
        ("lab list", None),
        ("lab list --json", None),
        ("lab list three-workers", None),
        ("lab report", Some(run.path())),
        ("lab report --json", Some(run.path())),
        ("lab loop --demand", Some(trace.as_path())),
    ] {
        let mut command = hotset(line, path.as_slice());
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(status(&output), 3, "{line}: {}", err(&output));
        assert!(
            err(&output).starts_with("hotset: standard output"),
            "{}",
            err(&output)
        );
    }
}

#[test]
fn the_list_has_each_experiment_with_its_duration_in_80_columns() {
    let text = output("lab list", &[]);
    assert_eq!(status(&text), 0, "{}", err(&text));
    let text = out(&text);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let json = output("lab list --json", &[]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let experiments = json["experiments"].as_array().unwrap();
    assert!(experiments.len() > 30);
    for experiment in experiments {
        let name = format!("  {} ", experiment["name"].as_str().unwrap());
        let mut lines = text.lines().filter(|line| line.starts_with(&name));
        let line = lines.next().unwrap();
        assert!(line.contains(" min ") || line.contains(" h "), "{line}");
        assert!(experiment["seconds"].as_f64() <= experiment["seconds_at_most"].as_f64());
        for preset in experiment["presets"].as_array().unwrap() {
            assert!(preset["seconds"].as_f64().unwrap() > 0.0, "{experiment}");
        }
    }
}

#[test]
fn one_experiment_is_shown_whole() {
    let json = output("lab list three-workers --json", &[]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["schema"], "hotset.lab.experiment.1");
    let text = output("lab list three-workers", &[]);
    assert_eq!(status(&text), 0);
    let text = out(&text);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = 0;
    for (list, field) in [
        ("arms", "name"),
        ("presets", "name"),
        ("scenes", "name"),
        ("promises", "title"),
    ] {
        for one in json[list].as_array().unwrap() {
            let name = one[field].as_str().unwrap();
            assert!(flat.contains(name), "{list}: {name}: {text}");
            found += 1;
        }
    }
    assert!(found > 20);
    let presets = json["presets"].as_array().unwrap().len();
    assert_eq!(flat.matches("takes about").count(), presets + 1, "{text}");
    // The demonstration is shorter than the whole.
    let demo = json["presets"].as_array().unwrap().iter();
    let demo = demo
        .into_iter()
        .find(|preset| preset["name"] == "demo")
        .unwrap();
    assert!(demo["seconds"].as_f64() < json["seconds"].as_f64());
}

#[test]
fn every_json_output_begins_with_its_schema() {
    let (dir, run) = (tempfile::tempdir().unwrap(), results());
    let trace = demand(dir.path());
    for (line, path, schema) in [
        ("lab list --json", None, "hotset.lab.list.1"),
        ("lab report --json", Some(run.path()), "hotset.lab.report.1"),
        (
            "lab loop --json --demand",
            Some(trace.as_path()),
            "hotset.lab.loop.1",
        ),
    ] {
        let text = out(&output(line, path.as_slice()));
        let begin: String = text.split_whitespace().collect();
        assert!(
            begin.starts_with(&format!("{{\"schema\":\"{schema}\"")),
            "{text}"
        );
    }
    let study = fs::read_to_string(run.path().join("study.json")).unwrap();
    assert!(study
        .trim_start_matches(['{', '\n', ' '])
        .starts_with("\"schema\": \"hotset.lab.study.1\""));
}

#[test]
fn a_wrong_name_is_usage_and_the_nearest_is_suggested() {
    for (line, nearest) in [
        ("lab run three-worker", "three-workers"),
        ("lab list three-worker", "three-workers"),
        ("lab run three-workers --preset dmo", "demo"),
        ("lab run three-workers --arm clasic-on", "classic-on"),
        (
            "lab run three-workers --set machine.memroy_mb=128",
            "memory_mb",
        ),
        ("lab run three-workers --kernel 7.2", "7.3"),
    ] {
        let output = output(line, &[]);
        assert_eq!(status(&output), 2, "{line}: {}", err(&output));
        let asked = format!("did you mean {nearest}?");
        assert!(err(&output).contains(&asked), "{line}: {}", err(&output));
        assert_eq!(out(&output), "");
    }
}

#[test]
fn a_number_out_of_range_is_named_with_its_option_and_range() {
    for (line, part) in [
        (
            "lab run three-workers --jobs 0",
            "--jobs: 0 is out of range (1 to 256)",
        ),
        (
            "lab run three-workers -j 257",
            "--jobs: 257 is out of range (1 to 256)",
        ),
        (
            "lab run three-workers --repetitions 0",
            "--repetitions: 0 is out of range (1 to 1000)",
        ),
        ("lab run three-workers --seed x", "--seed: x "),
        (
            "lab run three-workers --dry-run --set machine.memory_mb=x",
            "expected a whole number",
        ),
        ("lab loop --controller static:0", "static:0"),
    ] {
        let output = output(line, &[]);
        assert_eq!(status(&output), 2, "{line}");
        assert!(err(&output).contains(part), "{line}: {}", err(&output));
        assert!(!err(&output).contains("u64"), "{line}: {}", err(&output));
    }
}

#[test]
fn a_run_never_writes_among_other_files() {
    let dir = tempfile::tempdir().unwrap();
    let there = dir.path().join("there");
    fs::write(&there, "precious").unwrap();
    for option in ["-o", "--output", "--out"] {
        let output = output(&format!("lab run three-workers {option}"), &[dir.path()]);
        assert_eq!(status(&output), 2, "{}", err(&output));
        assert!(err(&output).contains(&dir.path().display().to_string()));
        assert_eq!(
            err(&output).contains("--out is now --output"),
            option == "--out"
        );
        assert_eq!(fs::read_to_string(&there).unwrap(), "precious");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
