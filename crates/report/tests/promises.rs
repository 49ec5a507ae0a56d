//! Promises that hold, and promises that are broken, unsure or not measured.
mod common;

use common::{run, trials};
use protocol::plan::{Across, Judge, Promise, Relative, Statistic};
use protocol::record::{Outcome, Trial};
use report::study::promises::Standing;
use report::{study, PromiseResult, Results};

const SCANS: &str = "vmstat.pgscan_direct";

fn promise(arm: &str) -> Promise {
    Promise {
        title: "scans".into(),
        arms: vec![arm.into()],
        scene: "exhaustion".into(),
        metric: SCANS.into(),
        statistic: Statistic::Delta,
        across: Across::Mean,
        relative_to: Relative::Nothing,
        ..Promise::default()
    }
}

/// Sets the arm's counter, one value a repetition.
fn set(trials: &mut [Trial], arm: &str, values: [f64; 3]) {
    for trial in trials.iter_mut().filter(|t| t.arm == arm) {
        let scene = trial.scenes.iter_mut().find(|s| s.name == "exhaustion");
        let counters = &mut scene.unwrap().counters;
        counters.insert(SCANS.into(), values[trial.repetition as usize]);
    }
}

fn judge(promise: Promise, trials: Vec<Trial>) -> PromiseResult {
    let mut run = run();
    run.plan.promises = vec![promise];
    let study = study(&Results { run, trials });
    assert_eq!(study.promises.len(), 1);
    assert_eq!(study.all_hold(), study.promises[0].holds);
    study.promises[0].clone()
}

/// The arm's values against the baseline's.
fn ratio(
    own: [f64; 3],
    base: [f64; 3],
    across: Across,
    least: Option<f64>,
    most: Option<f64>,
) -> PromiseResult {
    let mut all = trials();
    set(&mut all, "classic-on", own);
    set(&mut all, "classic-vanilla", base);
    let promise = Promise {
        across,
        relative_to: Relative::Baseline,
        at_least: least,
        at_most: most,
        ..promise("classic-on")
    };
    judge(promise, all)
}

#[test]
fn mean_median_and_worst_of_an_absolute_bound() {
    let judged = |across, least, most| {
        let mut all = trials();
        set(&mut all, "classic-on", [1.0, 2.0, 9.0]);
        let promise = Promise {
            across,
            at_least: least,
            at_most: most,
            ..promise("classic-on")
        };
        let result = judge(promise, all);
        (result.value, result.holds)
    };
    assert_eq!(judged(Across::Mean, None, Some(4.0)), (Some(4.0), true));
    assert_eq!(judged(Across::Mean, None, Some(3.9)), (Some(4.0), false));
    assert_eq!(judged(Across::Median, None, Some(2.0)), (Some(2.0), true));
    assert_eq!(judged(Across::Worst, None, Some(8.0)), (Some(9.0), false));
    assert_eq!(judged(Across::Worst, Some(1.0), None), (Some(1.0), true));
    assert_eq!(judged(Across::Worst, Some(1.5), None), (Some(1.0), false));
    assert_eq!(
        judged(Across::Worst, Some(0.0), Some(8.0)),
        (Some(9.0), false)
    );
    assert_eq!(
        judged(Across::Worst, Some(2.0), Some(20.0)),
        (Some(1.0), false)
    );
}

#[test]
fn ratios_to_the_baseline() {
    let base = [10.0, 20.0, 60.0];
    let mean = ratio([3.0, 3.0, 3.0], base, Across::Mean, None, Some(0.1));
    assert_eq!((mean.value, mean.holds), (Some(0.1), true));
    let median = ratio([3.0, 3.0, 3.0], base, Across::Median, None, Some(0.1));
    assert_eq!((median.value, median.holds), (Some(0.15), false));
    let worst = ratio([3.0, 3.0, 3.0], base, Across::Worst, None, Some(0.3));
    assert_eq!((worst.value, worst.holds), (Some(0.3), true));
    assert_eq!(worst.relative_to.as_deref(), Some("classic-vanilla"));
}

#[test]
fn a_baseline_of_zero() {
    let zero = [0.0; 3];
    for across in [Across::Mean, Across::Median, Across::Worst] {
        let both = ratio(zero, zero, across, None, Some(1.0));
        assert!(both.holds && both.value.is_none(), "{both:?}");
        assert!(both.why.contains("baseline 0"), "{}", both.why);
        assert!(!ratio(zero, zero, across, Some(1.0), None).holds);
        let more = ratio([1.0; 3], zero, across, None, Some(1.0));
        assert!(
            !more.holds && more.why.contains("n/a (baseline 0)"),
            "{more:?}"
        );
        assert!(ratio([1.0; 3], zero, across, Some(2.0), None).holds);
    }
}

#[test]
fn ratios_to_another_scene_are_taken_within_each_trial() {
    let mut all = trials();
    for trial in all.iter_mut().filter(|t| t.arm == "classic-on") {
        let times = f64::from(trial.repetition + 1);
        for (scene, value) in [("calm", 10.0 * times), ("exhaustion", 20.0 * times)] {
            let scene = trial.scenes.iter_mut().find(|s| s.name == scene).unwrap();
            scene.counters.insert(SCANS.into(), value);
        }
    }
    let promise = Promise {
        relative_to: Relative::Scene("calm".into()),
        across: Across::Worst,
        at_most: Some(2.0),
        ..promise("classic-on")
    };
    let result = judge(promise, all);
    assert_eq!((result.value, result.holds), (Some(2.0), true));
}

#[test]
fn a_trial_that_failed_breaks_its_arms_promises() {
    let easy = |arm: &str| Promise {
        at_least: Some(0.0),
        ..promise(arm)
    };
    let panicked = judge(easy("mglru-off"), trials());
    assert!(!panicked.holds);
    assert_eq!(panicked.why, "1 of 3 trials failed");

    let mut none = trials();
    for trial in none.iter_mut().filter(|t| t.arm == "classic-on") {
        trial.outcome = Outcome::Hang { silent_s: 60 };
    }
    let hung = judge(easy("classic-on"), none);
    assert!(!hung.holds && hung.value.is_none());
    assert!(hung.why.contains("3 of 3 trials failed"), "{}", hung.why);
}

/// The trials that an interrupted run lacks can still keep or break a promise.
#[test]
fn a_trial_that_never_ran_leaves_its_arms_promises_undecided() {
    let lacking = |arm: &str| {
        let mut some = trials();
        set(&mut some, "classic-on", [1.0, 2.0, 9.0]);
        set(&mut some, "classic-vanilla", [1.0, 2.0, 9.0]);
        some.retain(|t| !(t.arm == arm && t.repetition == 2));
        some
    };
    let standing = |promise: Promise, arm| {
        let result = judge(promise, lacking(arm));
        assert!(!result.holds, "{result:?}");
        (result.standing(), result.why)
    };
    for most in [9.0, 0.5] {
        let mean = Promise {
            at_most: Some(most),
            ..promise("classic-on")
        };
        let found = standing(mean, "classic-on");
        assert_eq!(found, (Standing::Undecided, "2 of 3 trials".into()));
    }
    // No later trial mends the worst.
    let worst = Promise {
        across: Across::Worst,
        at_most: Some(0.5),
        ..promise("classic-on")
    };
    assert_eq!(standing(worst.clone(), "classic-on").0, Standing::Broken);
    let so_far = Promise {
        at_most: Some(9.0),
        ..worst
    };
    assert_eq!(standing(so_far, "classic-on").0, Standing::Undecided);
    let ratio = Promise {
        relative_to: Relative::Baseline,
        at_most: Some(9.0),
        ..promise("classic-on")
    };
    let (found, why) = standing(ratio, "classic-vanilla");
    assert_eq!(found, Standing::Undecided);
    assert!(why.contains("2 of 3 trials of the baseline"), "{why}");
    let none: Vec<Trial> = { trials().into_iter() }
        .filter(|t| t.arm != "classic-on")
        .collect();
    let easy = Promise {
        at_least: Some(0.0),
        ..promise("classic-on")
    };
    let found = judge(easy, none);
    assert_eq!(found.standing(), Standing::Undecided);
    assert_eq!(found.why, "0 of 3 trials");
}

#[test]
fn a_value_missing_in_one_trial_breaks_the_promise() {
    let promise = Promise {
        metric: "late.read_ms".into(),
        statistic: Statistic::Max,
        at_most: Some(1e9),
        ..promise("classic-off")
    };
    let result = judge(promise, trials());
    assert!(!result.holds && result.value.is_some());
    assert_eq!(result.why, "late never finished a read in 2 of 3 trials");
}

#[test]
fn promises_that_cannot_be_judged_do_not_hold() {
    let unknown = judge(
        Promise {
            at_most: Some(1e9),
            ..promise("nobody")
        },
        trials(),
    );
    assert!(!unknown.holds && unknown.why.contains("no arm nobody"));
    let unbounded = judge(promise("classic-on"), trials());
    assert!(!unbounded.holds && unbounded.why.contains("neither at_least nor at_most"));
    let mut nameless = promise("x");
    nameless.arms.clear();
    assert!(!judge(nameless, trials()).holds);
    let scene = Promise {
        scene: "epilogue".into(),
        at_most: Some(1e9),
        ..promise("classic-on")
    };
    let scene = judge(scene, trials());
    assert!(
        !scene.holds && scene.why.contains("scene epilogue never ran"),
        "{scene:?}"
    );
    // The run's own baseline has none.
    let own = Promise {
        relative_to: Relative::Baseline,
        at_most: Some(1.0),
        ..promise("classic-vanilla")
    };
    assert_eq!(judge(own, trials()).why, "the arm has no baseline");
}

/// Four trials an arm, of which the arm and its baseline have these values.
fn four_trials(own: [f64; 4]) -> Vec<Trial> {
    let mut all = trials();
    let last = all.iter().filter(|t| t.repetition == 2).cloned();
    let fourth: Vec<Trial> = last.map(|t| Trial { repetition: 3, ..t }).collect();
    all.extend(fourth);
    for (arm, values) in [("classic-on", own), ("classic-vanilla", [100.0; 4])] {
        for trial in all.iter_mut().filter(|t| t.arm == arm) {
            let mut scenes = trial.scenes.iter_mut();
            let scene = scenes.find(|s| s.name == "exhaustion").unwrap();
            let value = values[trial.repetition as usize];
            scene.counters.insert(SCANS.into(), value);
        }
    }
    all
}

/// Within 3 % of the baseline, judged by the interval.
fn within(width: f64, may_be_unsure: bool) -> Promise {
    Promise {
        relative_to: Relative::Baseline,
        judge: Judge::Interval,
        width: Some(width),
        may_be_unsure,
        at_least: Some(0.97),
        at_most: Some(1.03),
        ..promise("classic-on")
    }
}

fn interval(own: [f64; 4], width: f64, may_be_unsure: bool) -> PromiseResult {
    judge(within(width, may_be_unsure), four_trials(own))
}

#[test]
fn an_interval_breaks_a_promise_only_where_all_of_it_is_outside() {
    // The mean, 1.04, is outside. The interval is not, and is narrow enough for a decision.
    let noisy = interval([102.0, 104.0, 106.0, 104.0], 0.2, false);
    assert!(noisy.value.unwrap() > 1.03, "{noisy:?}");
    let ends = noisy.spread.unwrap().interval().unwrap();
    assert!(ends.low < 1.03, "{noisy:?}");
    assert!(noisy.holds && !noisy.unsure, "{noisy:?}");
    let off = interval([110.0, 111.0, 112.0, 111.0], 0.2, false);
    assert_eq!(off.standing(), Standing::Broken, "{off:?}");
    let below = interval([90.0, 89.0, 90.0, 90.0], 0.2, true);
    assert_eq!(below.standing(), Standing::Broken, "{below:?}");
}

#[test]
fn an_interval_too_wide_leaves_a_promise_unsure() {
    let wide = interval([80.0, 100.0, 125.0, 100.0], 0.2, false);
    assert_eq!(wide.standing(), Standing::Unsure, "{wide:?}");
    assert!(!wide.holds && !wide.why.is_empty(), "{wide:?}");
    let allowed = interval([80.0, 100.0, 125.0, 100.0], 0.2, true);
    assert_eq!(allowed.standing(), Standing::KeptUnsure, "{allowed:?}");
    assert!(allowed.holds);
    // An interval that is all outside decides, whatever its width.
    let far = interval([300.0, 400.0, 500.0, 400.0], 0.2, false);
    assert_eq!(far.standing(), Standing::Broken, "{far:?}");
}

#[test]
fn fewer_than_four_trials_leave_a_promise_judged_by_interval_unsure() {
    for repetitions in 1..=4 {
        let mut some = four_trials([100.0; 4]);
        some.retain(|trial| trial.repetition < repetitions);
        // Another arm's failed trial is no concern of this promise.
        let mut run = run();
        run.repetitions = repetitions;
        run.plan.promises = vec![within(0.2, false)];
        let trials = some;
        let study = study(&Results { run, trials });
        let expected = match repetitions {
            4 => Standing::Kept,
            _ => Standing::Unsure,
        };
        let found = &study.promises[0];
        assert_eq!(found.standing(), expected, "{repetitions}: {found:?}");
    }
}

#[test]
fn an_unsure_promise_is_not_called_broken() {
    let mut run = run();
    run.plan.promises = vec![Promise {
        judge: Judge::Interval,
        at_least: Some(0.0),
        ..promise("classic-on")
    }];
    let trials = trials();
    let study = study(&Results { run, trials });
    assert_eq!(study.promises[0].standing(), Standing::Unsure);
    assert!(!study.all_hold());
    let text = report::terminal(&study, 100, false);
    assert!(
        text.contains("UNSURE") && !text.contains("BROKEN"),
        "{text}"
    );
    assert!(!report::format::markdown::markdown(&study).contains("BROKEN"));
}

#[test]
fn a_promise_whose_metric_nothing_recorded_is_listed_as_not_measured() {
    let absent = Promise {
        metric: "direct_reclaim.p99_ms".into(),
        statistic: Statistic::Max,
        at_most: Some(1.0),
        ..promise("classic-on")
    };
    let mut run = run();
    run.plan.promises = vec![absent];
    let trials = trials();
    let study = study(&Results { run, trials });
    assert_eq!(study.promises[0].standing(), Standing::Unmeasured);
    assert!(
        !study.all_hold(),
        "a promise that was not measured does not hold"
    );
    let text = report::terminal(&study, 100, false);
    assert!(
        text.contains("NOT MEASURED") && !text.contains("BROKEN"),
        "{text}"
    );
}

#[test]
fn a_worker_that_never_finished_a_read_breaks_its_promise() {
    let mut all = trials();
    for scene in all.iter_mut().flat_map(|trial| &mut trial.scenes) {
        scene.observations.remove("probe.read_ms");
    }
    let stuck = Promise {
        metric: "probe.read_ms".into(),
        statistic: Statistic::Max,
        at_most: Some(1e9),
        ..promise("classic-on")
    };
    assert_eq!(judge(stuck, all).standing(), Standing::Broken);
}

#[test]
fn no_promises_break_none() {
    let mut run = run();
    run.plan.promises.clear();
    assert!(study(&Results {
        run,
        trials: trials()
    })
    .all_hold());
}
