//! A run beside published figures.
mod common;

use common::run;
use protocol::comparison::{Change, Comparison, ComparisonRow, Published};
use protocol::plan::Statistic;
use protocol::record::{Arm, Outcome, Run, SceneRecord, Trial, SCHEMA};
use report::study::Sign;
use report::{study, Results};
use std::collections::BTreeMap;

fn arm(name: &str) -> Arm {
    Arm {
        name: name.into(),
        label: name.to_uppercase(),
        kernel: "7.3.4".into(),
        image: None,
        baseline: None,
        settings: BTreeMap::new(),
        point: None,
    }
}

fn trial(arm: &str, repetition: u32, kills: f64) -> Trial {
    let scene = SceneRecord {
        name: "cycle".into(),
        begin_ms: 0.0,
        end_ms: 1000.0,
        counters: BTreeMap::from([("kills".into(), kills), ("none".into(), 0.0)]),
        observations: BTreeMap::new(),
    };
    Trial {
        schema: SCHEMA,
        arm: arm.into(),
        repetition,
        seed: 1,
        outcome: Outcome::Ok,
        release: "7.3.4".into(),
        mem_total_kb: 1,
        boot_s: 0.0,
        wall_s: 1.0,
        settings: BTreeMap::new(),
        scenes: vec![scene],
        events: Vec::new(),
        gauges: BTreeMap::new(),
        console_tail: Vec::new(),
    }
}

fn results() -> Results {
    let row = |title: &str, metric: &str, change, published| ComparisonRow {
        title: title.into(),
        metric: metric.into(),
        statistic: Statistic::Delta,
        unit: String::new(),
        change,
        published,
    };
    let comparison = Comparison {
        title: "Number of Kills".into(),
        source: "the talk".into(),
        scene: "cycle".into(),
        from: "classic".into(),
        to: vec!["mglru".into(), "more".into()],
        rows: vec![
            row(
                "Total",
                "kills",
                Change::Relative,
                Published {
                    change: Some(-0.0804),
                    ..Published::default()
                },
            ),
            row(
                "OOM",
                "none",
                Change::Relative,
                Published {
                    from: Some(0.0),
                    to: Some(800.0),
                    change: None,
                },
            ),
        ],
    };
    let mut run = Run {
        arms: ["classic", "mglru", "more"].map(arm).to_vec(),
        ..run()
    };
    run.plan.figures.clear();
    run.plan.charts.clear();
    run.plan.promises.clear();
    run.plan.comparisons = vec![comparison];
    let mut trials = Vec::new();
    for (name, kills) in [
        ("classic", [100.0, 110.0, 90.0, 100.0]),
        ("mglru", [50.0, 55.0, 46.0, 50.0]),
        ("more", [200.0, 220.0, 181.0, 200.0]),
    ] {
        for (repetition, kills) in kills.into_iter().enumerate() {
            trials.push(trial(name, repetition as u32, kills));
        }
    }
    Results { run, trials }
}

#[test]
fn a_sign_is_compared_with_the_published_one() {
    let study = study(&results());
    let rows = &study.comparisons[0].rows;
    let signs: Vec<Sign> = rows[0].to.iter().map(|found| found.sign).collect();
    assert_eq!(signs, [Sign::Same, Sign::Other]);
    let halved = rows[0].to[0].change.unwrap();
    assert!((halved + 0.5).abs() < 0.02, "{halved}");
    // Neither arm has kills: a reason stands in place of the ratio.
    assert_eq!(rows[1].to[0].sign, Sign::None);
    assert_eq!(rows[1].to[0].why, "n/a (baseline 0)");
}

#[test]
fn every_format_shows_both_sides() {
    let study = study(&results());
    let terminal = report::terminal(&study, 120, false);
    let markdown = report::format::markdown::markdown(&study);
    let html = report::format::html::html(&study);
    for (format, text) in [
        ("terminal", terminal),
        ("markdown", markdown),
        ("html", html),
    ] {
        for wanted in ["Number of Kills", "8.04", "0 to 800", "sign as published"] {
            assert!(text.contains(wanted), "{format} lacks {wanted:?}:\n{text}");
        }
    }
}
