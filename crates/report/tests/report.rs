//! From a run's directory to its reports.
mod common;

use common::{fixtures, put, run, snapshot, trials, updating};
use std::fs;

#[test]
fn the_fixtures_are_those_of_the_generator() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), &run(), &trials());
    if updating() {
        put(&fixtures(), &run(), &trials());
    }
    let mut names = vec!["run.json".to_string()];
    names.extend(
        trials()
            .iter()
            .map(|t| format!("trials/{}-{}.json", t.arm, t.repetition)),
    );
    for name in names {
        let made = fs::read_to_string(dir.path().join(&name)).unwrap();
        let kept = fs::read_to_string(fixtures().join(&name)).unwrap();
        assert_eq!(made, kept, "{name}; UPDATE=1 accepts");
    }
    assert_eq!(
        fs::read_dir(fixtures().join("trials")).unwrap().count(),
        trials().len()
    );
}

#[test]
fn markdown_and_terminal_match_their_snapshots() {
    let study = report::study(&report::load(&fixtures()).unwrap());
    snapshot("report.md", &report::format::markdown::markdown(&study));
    snapshot("terminal-80.txt", &report::terminal(&study, 80, false));
    snapshot("terminal-120.txt", &report::terminal(&study, 120, false));
}

#[test]
fn terminal_text_fits_and_is_coloured_only_when_asked() {
    use unicode_width::UnicodeWidthStr;
    let study = report::study(&report::load(&fixtures()).unwrap());
    for width in [40, 60, 80, 100, 200] {
        let plain = report::terminal(&study, width, false);
        assert!(!plain.contains('\u{1b}'));
        for line in plain.lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
        for arm in &study.arms {
            assert!(plain.contains(arm.label.split(' ').next().unwrap()));
        }
        let colored = report::terminal(&study, width, true);
        assert!(colored.contains("\u{1b}[32m") && colored.contains("\u{1b}[31mBROKEN"));
        let mut stripped = String::new();
        let mut rest = colored.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            stripped.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        stripped.push_str(rest);
        assert_eq!(stripped, plain);
    }
}

#[test]
fn a_whole_figure_has_the_known_answers() {
    let mut all = trials();
    for trial in &mut all {
        let scene = trial
            .scenes
            .iter_mut()
            .find(|s| s.name == "exhaustion")
            .unwrap();
        let base = f64::from(trial.repetition + 1);
        let times = if trial.arm.ends_with("vanilla") {
            1.0
        } else {
            0.5
        };
        let reads = scene.observations.get_mut("probe.read_ms").unwrap();
        *reads = vec![(6000.0, times * base), (7000.0, times * base * 3.0)];
    }
    let study = report::study(&report::Results {
        run: run(),
        trials: all,
    });
    let figure = &study.figures[1];
    assert_eq!(figure.figure.title, "Probe read, mean");
    // Means of the trials: 2, 4, 6 of vanilla; 1, 2, 3 of the others.
    let across = figure.cells[0].across.as_ref().unwrap();
    assert_eq!((across.n, across.mean, across.median), (3, 4.0, 4.0));
    let ends = across.spread.unwrap().ends();
    assert_eq!((ends.low, ends.high), (2.0, 6.0));
    // Pooled: 1, 3, 2, 6, 3, 9; p90 lies half way between 6 and 9.
    let pooled = figure.cells[0].pooled.as_ref().unwrap();
    assert_eq!(
        (pooled.n, pooled.mean, pooled.median, pooled.max),
        (6, 4.0, 3.0, 9.0)
    );
    assert!((pooled.p90 - 7.5).abs() < 1e-12);
    let ratio = figure.cells[2].ratio.as_ref().unwrap();
    assert!((ratio.value - 0.5).abs() < 1e-12 && ratio.n == 3);
    assert!(figure.cells[0].ratio.is_none() && figure.cells[0].no_ratio.is_none());
    // The panicked trial is not in the numbers, but is listed.
    let hurt = &figure.cells[4];
    assert_eq!((hurt.arm.as_str(), hurt.trials.len()), ("mglru-off", 2));
    assert_eq!(study.arm("mglru-off").unwrap().failed, 1);
    assert_eq!(study.failures.len(), 1);
    assert_eq!(study.failures[0].scenes, ["calm", "exhaustion"]);
}
