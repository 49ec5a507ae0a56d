//! `hotset lab report`.
use crate::bench::{edit, err, hotset, out, output, results, status};
use serde_json::Value;
use std::fs;

/// The status says what the report says.
#[test]
fn a_report_of_broken_promises_or_lost_guests_ends_with_1() {
    let run = results();
    let bad = output("lab report --json", &[run.path()]);
    assert_eq!(status(&bad), 1, "{}", err(&bad));
    let json: Value = serde_json::from_slice(&bad.stdout).unwrap();
    assert_eq!(json["well"], false);
    // Without promises, the panic remains.
    edit(&run.path().join("run.json"), |run| {
        run["plan"]["promises"] = Value::Array(Vec::new())
    });
    assert_eq!(status(&output("lab report", &[run.path()])), 1);
    let lost = run.path().join("trials/mglru-off-1.json");
    edit(&lost, |trial| {
        trial["outcome"] = serde_json::json!({"kind": "ok"})
    });
    let good = output("lab report --json", &[run.path()]);
    assert_eq!(status(&good), 0, "{}", err(&good));
    let json: Value = serde_json::from_slice(&good.stdout).unwrap();
    assert_eq!(json["well"], true);
    // A trial that never ran is no good end.
    fs::remove_file(&lost).unwrap();
    assert_eq!(status(&output("lab report", &[run.path()])), 1);
    let none = tempfile::tempdir().unwrap();
    assert_eq!(status(&output("lab report", &[none.path()])), 3);
}

#[test]
fn a_report_of_an_interrupted_run_decides_nothing_that_is_open() {
    let run = results();
    for trial in fs::read_dir(run.path().join("trials")).unwrap() {
        let path = trial.unwrap().path();
        if !path.to_string_lossy().ends_with("-0.json") {
            fs::remove_file(path).unwrap();
        }
    }
    let report = output("lab report", &[run.path()]);
    assert_eq!(status(&report), 1, "{}", err(&report));
    let text = out(&report);
    assert!(text.contains("not decided"), "{text}");
    assert!(text.contains("1 of 3 trials"), "{text}");
    // The worst of the trials is outside its bounds, whatever the others give.
    let promises: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("BROKEN"))
        .collect();
    assert_eq!(promises.len(), 1, "{text}");
    assert!(promises[0].contains("First read after the kill"), "{text}");
}

#[test]
fn a_report_replaces_reports_alone() {
    for name in ["report.html", "report.md", "study.json"] {
        let run = results();
        assert_eq!(status(&output("lab report", &[run.path()])), 1);
        // A report is replaced without a word.
        assert_eq!(status(&output("lab report", &[run.path()])), 1);
        let path = run.path().join(name);
        fs::write(&path, "precious").unwrap();
        let refused = output("lab report", &[run.path()]);
        assert_eq!(status(&refused), 3);
        assert!(err(&refused).contains(name), "{}", err(&refused));
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        let left = fs::read_dir(run.path()).unwrap().count();
        assert_eq!(left, 5, "no partial file is left");
    }
}

#[test]
fn reports_are_coloured_where_the_user_wants_it() {
    let run = results();
    let coloured = |line: &str, variables: &[(&str, &str)]| {
        let mut command = hotset(line, &[run.path()]);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        out(&output).contains('\u{1b}')
    };
    assert!(!coloured("lab report", &[]), "a pipe has no colours");
    assert!(coloured("lab report --color always", &[]));
    assert!(coloured("lab report", &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(
        "lab report --color never",
        &[("CLICOLOR_FORCE", "1")]
    ));
    assert!(!coloured("lab report", &[("NO_COLOR", "1")]));
}

#[test]
fn a_report_fits_80_columns() {
    let run = results();
    let text = out(&output("lab report", &[run.path()]));
    let path = run.path().display().to_string();
    for line in text.lines().filter(|line| !line.contains(&path)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
