//! The order of a league's challengers.
mod common;

use common::{run, trials};
use protocol::plan::{Figure, Plan, Statistic};
use protocol::record::{Arm, Outcome, Run, SceneRecord, Trial};
use report::league::{rank, Played, Standing};
use report::{study, Results, Study};
use std::collections::BTreeMap;

/// What a trial measured: delays of a second or more, the usual delay, and the innocents that were killed.
struct Told<'a> {
    arm: &'a str,
    repetition: u32,
    still: &'a [f64],
    late: f64,
    killed: f64,
}

fn figure(title: &str, metric: &str, statistic: Statistic) -> Figure {
    Figure {
        title: title.into(),
        scene: "pressure".into(),
        metric: metric.into(),
        statistic,
        better: Default::default(),
        unit: String::new(),
    }
}

fn header(arms: &[&str]) -> Run {
    let some = run();
    let arm = |name: &&str| Arm {
        name: name.to_string(),
        label: format!("the {name}"),
        baseline: None,
        ..some.arms[0].clone()
    };
    Run {
        arms: arms.iter().map(arm).collect(),
        repetitions: 2,
        plan: Plan {
            figures: vec![
                figure("Seconds stood still", "beat.still_s", Statistic::Sum),
                figure("Delay, p99", "beat.late_ms", Statistic::P99),
                figure("Work done", "beat.late_ms", Statistic::Count),
                figure("Innocents killed: beat", "beat.deaths", Statistic::Max),
            ],
            ..Plan::default()
        },
        ..some
    }
}

fn trial(told: &Told) -> Trial {
    let points = |values: &[f64]| values.iter().map(|value| (1.0, *value)).collect::<Vec<_>>();
    let mut still = vec![0.0];
    still.extend(told.still);
    let scene = SceneRecord {
        name: "pressure".into(),
        begin_ms: 0.0,
        end_ms: 30_000.0,
        observations: BTreeMap::from([
            ("beat.still_s".into(), points(&still)),
            ("beat.late_ms".into(), points(&[told.late; 10])),
            ("beat.deaths".into(), points(&[told.killed])),
        ]),
        ..SceneRecord::default()
    };
    Trial {
        arm: told.arm.into(),
        repetition: told.repetition,
        outcome: Outcome::Ok,
        scenes: vec![scene],
        ..trials()[0].clone()
    }
}

fn cell(arms: &[&str], all: &[Told]) -> Study {
    study(&Results {
        run: header(arms),
        trials: all.iter().map(trial).collect(),
    })
}

fn twice<'a>(arm: &'a str, still: &'a [f64], late: f64, killed: f64) -> [Told<'a>; 2] {
    [0, 1].map(|repetition| Told {
        arm,
        repetition,
        still,
        late,
        killed,
    })
}

fn ranked(studies: &[(&str, &Study)]) -> Vec<Standing> {
    let played: Vec<Played> = { studies.iter() }
        .map(|(cell, study)| Played {
            cell,
            seconds: 30.0,
            study,
        })
        .collect();
    rank(&played)
}

fn names(standings: &[Standing]) -> Vec<&str> {
    standings.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn seconds_stood_still_and_innocents_make_the_order() {
    let mut all = Vec::new();
    // 2 * (3 + 4) s a minute; then 2 * 10 s for a killed innocent; then nothing, but a slower p99.
    all.extend(twice("nothing", &[3.0, 4.0], 900.0, 0.0));
    all.extend(twice("killer", &[], 5.0, 1.0));
    all.extend(twice("slow", &[], 90.0, 0.0));
    all.extend(twice("fast", &[], 9.0, 0.0));
    let study = cell(&["nothing", "killer", "slow", "fast"], &all);
    let standings = ranked(&[("desktop-zram", &study)]);
    assert_eq!(names(&standings), ["fast", "slow", "nothing", "killer"]);
    let places: Vec<usize> = standings.iter().map(|one| one.place).collect();
    assert_eq!(places, [1, 2, 3, 4]);
    assert_eq!(standings[2].lost_s_per_min, Some(14.0));
    assert_eq!(standings[3].lost_s_per_min, Some(20.0));
    assert_eq!(standings[3].innocents_per_min, Some(2.0));
    assert_eq!(standings[0].label, "the fast");
    assert_eq!(standings[0].work_ratio, Some(1.0));
}

#[test]
fn the_same_figures_share_a_place() {
    let mut all = Vec::new();
    all.extend(twice("a", &[], 9.0, 0.0));
    all.extend(twice("b", &[], 9.0, 0.0));
    all.extend(twice("c", &[2.0], 9.0, 0.0));
    let study = cell(&["c", "a", "b"], &all);
    let standings = ranked(&[("desktop-zram", &study)]);
    let places: Vec<usize> = standings.iter().map(|one| one.place).collect();
    assert_eq!(places, [1, 1, 3]);
}

#[test]
fn a_challenger_with_nothing_to_do_has_the_figures_of_nothing() {
    let both = cell(
        &["nothing", "zswap"],
        &{ twice("nothing", &[3.0], 9.0, 0.0).into_iter() }
            .chain(twice("zswap", &[1.0], 9.0, 0.0))
            .collect::<Vec<_>>(),
    );
    let alone = cell(&["nothing"], &twice("nothing", &[5.0], 9.0, 0.0));
    let standings = ranked(&[("desktop-disk", &both), ("desktop-none", &alone)]);
    assert_eq!(names(&standings), ["zswap", "nothing"]);
    // The mean of 2 and 10 s a minute.
    assert_eq!(standings[0].lost_s_per_min, Some(6.0));
    let of_nothing: Vec<bool> = standings[0]
        .scores
        .iter()
        .map(|one| one.of_nothing)
        .collect();
    assert_eq!(of_nothing, [false, true]);
}

#[test]
fn a_guest_that_did_not_end_well_lost_the_minute_and_one_that_never_ran_has_no_place() {
    let header = header(&["nothing", "panics", "absent"]);
    let mut all: Vec<Trial> = twice("nothing", &[1.0], 9.0, 0.0)
        .iter()
        .map(trial)
        .collect();
    all.extend(twice("panics", &[], 9.0, 0.0).iter().map(trial));
    all[3].outcome = Outcome::Panic {
        message: "oops".into(),
    };
    let study = study(&Results {
        run: header,
        trials: all,
    });
    let standings = ranked(&[("desktop-zram", &study)]);
    assert_eq!(names(&standings), ["nothing", "panics", "absent"]);
    assert_eq!(standings[1].lost_s_per_min, Some(30.0));
    assert_eq!(standings[1].lost_range, Some((0.0, 60.0)));
    assert_eq!(standings[1].failed, 1);
    assert_eq!(
        (standings[2].lost_s_per_min, standings[2].absent),
        (None, 2)
    );
}
