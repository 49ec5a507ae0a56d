//! Sweeps: curves over the arms' `x`, and promises of whole series.
mod common;

use common::run;
use protocol::plan::{Better, Curve, Figure, Judge, Promise, Relative, Statistic};
use protocol::record::{Arm, Outcome, Point, Run, SceneRecord, Trial, SCHEMA};
use report::{study, PromiseResult, Results, Study};
use std::collections::BTreeMap;

const SHARE: &str = "vmstat.anon/(vmstat.anon+vmstat.file)";
const PLACES: [f64; 3] = [0.0, 60.0, 200.0];

/// Two series of three places; `ours` has the pages of anonymous memory, of 100, in each trial.
fn results<const N: usize>(ours: [[f64; N]; 3], promises: Vec<Promise>) -> Results {
    let classic = [[0.0; N], [30.0; N], [90.0; N]];
    let mut arms = Vec::new();
    let mut trials = Vec::new();
    for (series, pages) in [("classic", classic), ("ours", ours)] {
        for (x, pages) in PLACES.iter().zip(pages) {
            let name = format!("{series}-{x}");
            arms.push(Arm {
                name: name.clone(),
                label: format!("{series} at {x}"),
                kernel: "7.3.4".into(),
                image: None,
                baseline: None,
                settings: BTreeMap::new(),
                point: Some(Point {
                    series: series.into(),
                    label: format!("the {series} list"),
                    x: *x,
                }),
            });
            for (repetition, anon) in pages.into_iter().enumerate() {
                trials.push(trial(&name, repetition as u32, anon));
            }
        }
    }
    let mut run = Run {
        arms,
        repetitions: N as u32,
        ..run()
    };
    run.plan.figures.clear();
    run.plan.charts.clear();
    run.plan.promises = promises;
    run.plan.curves = vec![Curve {
        title: "Share of anonymous pages".into(),
        scene: "steady".into(),
        metric: SHARE.into(),
        statistic: Statistic::Delta,
        unit: "%".into(),
        x: "vm.swappiness".into(),
    }];
    Results { run, trials }
}

fn trial(arm: &str, repetition: u32, anon: f64) -> Trial {
    let counters = [("vmstat.anon", anon), ("vmstat.file", 100.0 - anon)];
    let counters = counters.map(|(name, value)| (name.to_string(), value));
    Trial {
        schema: SCHEMA,
        arm: arm.into(),
        repetition,
        seed: u64::from(repetition),
        outcome: Outcome::Ok,
        release: String::new(),
        mem_total_kb: 0,
        boot_s: 0.0,
        wall_s: 0.0,
        settings: BTreeMap::new(),
        scenes: vec![SceneRecord {
            name: "steady".into(),
            begin_ms: 0.0,
            end_ms: 1000.0,
            counters: counters.into(),
            observations: BTreeMap::new(),
        }],
        events: vec![],
        gauges: BTreeMap::new(),
        console_tail: vec![],
    }
}

fn promise() -> Promise {
    Promise {
        title: "share".into(),
        series: vec!["ours".into()],
        scene: "steady".into(),
        metric: SHARE.into(),
        statistic: Statistic::Delta,
        ..Promise::default()
    }
}

fn rises<const N: usize>(ours: [[f64; N]; 3], judge: Judge) -> PromiseResult {
    let promise = Promise {
        monotonic: true,
        judge,
        ..promise()
    };
    let study = study(&results(ours, vec![promise]));
    assert_eq!(study.promises.len(), 1, "one result a series");
    study.promises[0].clone()
}

fn by_place(study: &Study) -> Vec<(String, bool)> {
    let promises = study.promises.iter();
    promises.map(|p| (p.arm.clone(), p.holds)).collect()
}

#[test]
fn points_are_ordered_with_mean_and_interval() {
    let mut found = results([[0.0; 3], [20.0, 30.0, 40.0], [80.0; 3]], vec![]);
    found.run.arms.reverse();
    let study = study(&found);
    let lines = &study.curves[0].lines;
    let names: Vec<&str> = lines.iter().map(|l| l.label.as_str()).collect();
    assert_eq!(names, ["the ours list", "the classic list"]);
    let places: Vec<f64> = lines[0].points.iter().map(|p| p.x).collect();
    assert_eq!(places, PLACES);
    let middle = lines[0].points[1].across.as_ref().unwrap();
    assert!((middle.mean - 0.3).abs() < 1e-9);
    let ends = middle.spread.unwrap();
    assert!(ends.interval().is_none(), "three trials have a range");
    assert_eq!((ends.ends().low, ends.ends().high), (0.2, 0.4));
}

#[test]
fn a_series_rises_or_the_step_that_falls_is_named() {
    let up = rises([[0.0; 3], [20.0; 3], [80.0; 3]], Judge::Value);
    assert!(up.holds && (up.value.unwrap() - 0.2).abs() < 1e-9, "{up:?}");
    let down = rises([[0.0; 3], [20.0; 3], [10.0; 3]], Judge::Value);
    assert!(!down.holds, "{down:?}");
    assert!(down.why.contains("the step from 60 to 200"), "{}", down.why);
    // A downward step within the noise does not count. A larger one does.
    let noisy = [[0.0; 4], [20.0, 30.0, 25.0, 25.0], [22.0, 24.0, 26.0, 24.0]];
    assert!(!rises(noisy, Judge::Value).holds);
    let by_interval = Promise {
        monotonic: true,
        judge: Judge::Interval,
        may_be_unsure: true,
        ..promise()
    };
    let kept = study(&results(noisy, vec![by_interval]));
    assert!(kept.promises[0].holds, "{:?}", kept.promises[0]);
    let clear = rises(
        [[0.0; 4], [30.0, 31.0, 29.0, 30.0], [20.0, 21.0, 19.0, 21.0]],
        Judge::Interval,
    );
    assert!(!clear.holds && !clear.unsure, "{clear:?}");
}

#[test]
fn a_place_without_trials_leaves_the_series_undecided() {
    let mut found = results([[0.0; 3], [20.0; 3], [80.0; 3]], vec![]);
    found.run.plan.promises = vec![Promise {
        monotonic: true,
        ..promise()
    }];
    found.trials.retain(|t| t.arm != "ours-60");
    let study = study(&found);
    assert!(!study.promises[0].holds);
    assert!(study.promises[0].undecided);
    let why = &study.promises[0].why;
    assert!(why.contains("at 60: 0 of 3 trials"), "{why}");
}

#[test]
fn a_series_is_held_to_another_place_by_place() {
    let within = Promise {
        relative_to: Relative::Series("classic".into()),
        at_least: Some(0.85),
        at_most: Some(1.15),
        ..promise()
    };
    let judged = Promise {
        judge: Judge::Interval,
        width: Some(0.5),
        ..within.clone()
    };
    let ours = [[0.0; 4], [27.0, 28.0, 29.0, 28.0], [60.0, 61.0, 62.0, 61.0]];
    for promise in [within.clone(), judged] {
        let study = study(&results(ours, vec![promise]));
        let expected = [("ours-0", true), ("ours-60", true), ("ours-200", false)];
        let expected = expected.map(|(arm, holds)| (arm.to_string(), holds));
        assert_eq!(by_place(&study), expected, "{:?}", study.promises);
        let relative = study.promises[0].relative_to.as_deref();
        assert_eq!(relative, Some("series classic"));
    }
    let nobody = Promise {
        series: vec!["theirs".into()],
        ..within
    };
    let study = study(&results(ours, vec![nobody]));
    assert_eq!(by_place(&study), [("theirs".to_string(), false)]);
}

#[test]
fn every_format_has_the_curve() {
    let study = study(&results([[0.0; 3], [20.0; 3], [80.0; 3]], vec![]));
    let markdown = report::format::markdown::markdown(&study);
    assert!(markdown.contains("| vm.swappiness | the classic list | the ours list |"));
    let row = markdown.lines().find(|line| line.starts_with("| 60 |"));
    assert!(row.unwrap().contains("| 30\u{a0}%<br>"), "{row:?}");
    for width in [40, 80] {
        let text = report::terminal(&study, width, false);
        assert!(text.contains("vm.swappiness"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= width));
    }
    let html = report::format::html::html(&study);
    let page = roxmltree::Document::parse_with_options(
        &html,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        },
    );
    let page = page.unwrap();
    let section = page
        .descendants()
        .find(|n| n.attribute("id") == Some("curves"))
        .unwrap();
    let lines = section
        .descendants()
        .filter(|n| n.has_tag_name("polyline"))
        .count();
    assert_eq!(lines, 2, "a line a series");
    let about = section
        .descendants()
        .find(|n| n.has_tag_name("desc"))
        .and_then(|n| n.text());
    assert!(
        about.unwrap().contains("the ours list: 0\u{a0}% at 0"),
        "{about:?}"
    );
}

/// One sentence for a series, not one for each of its arms; and the range of the machines.
#[test]
fn the_headline_of_a_sweep_has_the_range_of_each_series() {
    let mut results = results([[10.0; 3], [60.0; 3], [99.0; 3]], Vec::new());
    for arm in &mut results.run.arms {
        let x = arm.point.as_ref().unwrap().x;
        arm.baseline = arm
            .name
            .strip_prefix("ours-")
            .map(|x| format!("classic-{x}"));
        let memory = format!("{}", 256.0 + x);
        arm.settings.insert("machine.memory_mb".into(), memory);
    }
    results.run.plan.figures = vec![Figure {
        title: "Anonymous pages".into(),
        scene: "steady".into(),
        metric: SHARE.into(),
        statistic: Statistic::Delta,
        better: Better::Higher,
        unit: "%".into(),
    }];
    let text = report::terminal(&study(&results), 200, false).replace('\u{a0}', " ");
    assert!(
        text.contains("User-Mode Linux, 256–456 MiB, 1 CPU;"),
        "{text}"
    );
    let sentence = "60 to 99 % for the ours list against 30 to 90 % for the classic list (1.10 to 2 times as much)";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn a_sweep_of_cpus_says_that_only_some_guests_have_one() {
    let mut results = results([[10.0; 3], [60.0; 3], [99.0; 3]], Vec::new());
    let mut said = |cpus: [&str; 2]| {
        for (arm, cpus) in results.run.arms.iter_mut().zip(cpus.into_iter().cycle()) {
            arm.settings.insert("machine.cpus".into(), cpus.into());
        }
        report::terminal(&study(&results), 200, false)
    };
    assert!(said(["1", "4"]).contains("Some guests have one CPU: the time"));
    assert!(said(["1", "1"]).contains("The guest has one CPU: the time"));
    assert!(!said(["2", "4"]).contains("one CPU: the time"));
}
