//! Ranks the challengers of a league. docs/design/league.md has the yardstick.
use crate::study::{stats, Study};
use serde::Serialize;

/// Titles of the figures that every scene of the league has.
pub const TITLES: [&str; 6] = [STILL, P99, LONGEST, RESIDENT, WORK, KILL];
/// The beginning of the titles of the figures that count killed innocents.
pub const INNOCENTS: &str = "Innocents killed";
const STILL: &str = "Seconds stood still";
const P99: &str = "Delay, p99";
const LONGEST: &str = "Delay, longest";
const RESIDENT: &str = "Working set in memory";
const WORK: &str = "Work done";
const KILL: &str = "Exhaustion to the kill";

/// Seconds that count as lost for an innocent process that is killed: the time in which a person sees it,
/// starts the program again and finds the place.
pub const INNOCENT_S: f64 = 10.0;
/// Seconds lost a minute where a guest did not end well.
const FAILED: f64 = 60.0;
/// The challenger that others are held to.
const NOTHING: &str = "nothing";

/// A cell of the league that was run.
pub struct Played<'a> {
    pub cell: &'a str,
    /// The length of the pressure.
    pub seconds: f64,
    pub study: &'a Study,
}

/// A challenger's figures in one cell: means over the repetitions that ended well.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Score {
    pub cell: String,
    /// Whether the challenger has nothing to do in the cell. The figures are then those of `nothing`.
    pub of_nothing: bool,
    /// The repetition, and the seconds lost a minute in it.
    pub lost: Vec<(u32, f64)>,
    pub still_s_per_min: Option<f64>,
    pub p99_ms: Option<f64>,
    pub longest_ms: Option<f64>,
    pub resident: Option<f64>,
    pub work: Option<f64>,
    /// Work done against that of `nothing`.
    pub work_ratio: Option<f64>,
    pub innocents_per_min: Option<f64>,
    pub kill_ms: Option<f64>,
    pub failed: u32,
    pub absent: u32,
}

/// A challenger's place, and its means over the cells.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// From 1. Challengers with the same figures share a place.
    pub place: usize,
    pub name: String,
    pub label: String,
    pub kernel: String,
    /// Seconds lost a minute: stood still, and [`INNOCENT_S`] for each innocent killed. None: a cell has no
    /// trial.
    pub lost_s_per_min: Option<f64>,
    /// The least and the most of one repetition over all cells.
    pub lost_range: Option<(f64, f64)>,
    pub still_s_per_min: Option<f64>,
    pub p99_ms: Option<f64>,
    pub longest_ms: Option<f64>,
    pub resident: Option<f64>,
    pub work_ratio: Option<f64>,
    pub innocents_per_min: Option<f64>,
    pub kill_ms: Option<f64>,
    pub failed: u32,
    pub absent: u32,
    pub scores: Vec<Score>,
}

/// The standings, the best first.
pub fn rank(played: &[Played]) -> Vec<Standing> {
    let mut names: Vec<(&str, &str, &str)> = Vec::new();
    for arm in played.iter().flat_map(|one| &one.study.arms) {
        if !names.iter().any(|(name, ..)| *name == arm.name) {
            names.push((&arm.name, &arm.label, &arm.kernel));
        }
    }
    let standings = names.into_iter().map(|(name, label, kernel)| {
        let scores = played.iter().filter_map(|one| score(one, name));
        standing(name, label, kernel, scores.collect(), played.len())
    });
    let mut standings: Vec<Standing> = standings.collect();
    standings.sort_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    for at in 0..standings.len() {
        let same = at > 0 && key(&standings[at - 1]) == key(&standings[at]);
        standings[at].place = if same {
            standings[at - 1].place
        } else {
            at + 1
        };
    }
    standings
}

/// The order: seconds lost a minute to a tenth, then the p99 of the delay.
fn key(standing: &Standing) -> (u64, f64) {
    let lost = standing.lost_s_per_min;
    let tenths = lost.map_or(u64::MAX, |lost| (lost * 10.0).round() as u64);
    (tenths, standing.p99_ms.unwrap_or(f64::MAX))
}

/// A challenger's score in a cell; that of `nothing` where it does not play, if `nothing` does.
fn score(played: &Played, name: &str) -> Option<Score> {
    let plays = |name: &str| played.study.arm(name).is_some();
    if plays(name) {
        return Some(own_score(played, name));
    }
    plays(NOTHING).then(|| Score {
        of_nothing: true,
        ..own_score(played, NOTHING)
    })
}

fn own_score(played: &Played, name: &str) -> Score {
    let study = played.study;
    let per_minute = 60.0 / played.seconds;
    let mean_of = |title: &str, name: &str| mean(numbers(study, title, name).map(|(_, x)| x));
    let killed = |repetition: u32| -> f64 {
        let figures = study.figures.iter().map(|one| one.figure.title.as_str());
        let innocents = figures.filter(|title| title.starts_with(INNOCENTS));
        let of = |title| numbers(study, title, name).filter(move |(other, _)| *other == repetition);
        innocents.flat_map(of).map(|(_, killed)| killed).sum()
    };
    let still = numbers(study, STILL, name);
    let by_repetition: Vec<(u32, f64, f64)> = still
        .map(|(repetition, still)| (repetition, still, killed(repetition)))
        .collect();
    let mut lost: Vec<(u32, f64)> = { by_repetition.iter() }
        .map(|(repetition, still, killed)| {
            (*repetition, (still + INNOCENT_S * killed) * per_minute)
        })
        .collect();
    let failures = study.failures.iter().filter(|failure| failure.arm == name);
    lost.extend(failures.map(|failure| (failure.repetition, FAILED)));
    lost.sort_by_key(|(repetition, _)| *repetition);
    let arm = study.arm(name);
    let work = mean_of(WORK, name);
    let ratio = |work: f64| {
        mean_of(WORK, NOTHING)
            .filter(|of| *of > 0.0)
            .map(|of| work / of)
    };
    Score {
        cell: played.cell.into(),
        of_nothing: false,
        lost,
        still_s_per_min: mean(by_repetition.iter().map(|(_, still, _)| still * per_minute)),
        p99_ms: mean_of(P99, name),
        longest_ms: mean_of(LONGEST, name),
        resident: mean_of(RESIDENT, name),
        work,
        work_ratio: work.and_then(ratio),
        innocents_per_min: mean(by_repetition.iter().map(|(.., killed)| killed * per_minute)),
        kill_ms: mean_of(KILL, name),
        failed: arm.map_or(0, |arm| arm.failed),
        absent: arm.map_or(0, |arm| arm.absent),
    }
}

/// The repetition and the number of each trial that gave one.
fn numbers<'a>(study: &'a Study, title: &str, arm: &str) -> impl Iterator<Item = (u32, f64)> + 'a {
    let figure = { study.figures.iter() }.find(|one| one.figure.title == title);
    let cell = figure.and_then(|one| one.cells.iter().find(|cell| cell.arm == arm));
    cell.into_iter()
        .flat_map(|cell| cell.trials.iter().copied())
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    stats::mean(&values)
}

fn standing(name: &str, label: &str, kernel: &str, scores: Vec<Score>, cells: usize) -> Standing {
    let over = |value: &dyn Fn(&Score) -> Option<f64>| mean(scores.iter().filter_map(value));
    let of_cell = |score: &Score| mean(score.lost.iter().map(|(_, lost)| *lost));
    // A challenger without a trial in some cell has no place among those that were in all.
    let whole = scores.len() == cells && scores.iter().all(|score| !score.lost.is_empty());
    let ratios: Vec<f64> = scores.iter().filter_map(|score| score.work_ratio).collect();
    let logs = ratios
        .iter()
        .filter(|ratio| **ratio > 0.0)
        .map(|ratio| ratio.ln());
    // The geometric mean: half the work in one cell and twice as much in another is as much.
    let work_ratio = match ratios.contains(&0.0) {
        true => Some(0.0),
        false => mean(logs).map(f64::exp),
    };
    Standing {
        place: 0,
        name: name.into(),
        label: label.into(),
        kernel: kernel.into(),
        lost_s_per_min: if whole { over(&of_cell) } else { None },
        lost_range: if whole { range(&scores) } else { None },
        still_s_per_min: over(&|score| score.still_s_per_min),
        p99_ms: over(&|score| score.p99_ms),
        longest_ms: { scores.iter() }
            .filter_map(|score| score.longest_ms)
            .reduce(f64::max),
        resident: over(&|score| score.resident),
        work_ratio,
        innocents_per_min: over(&|score| score.innocents_per_min),
        kill_ms: over(&|score| score.kill_ms),
        failed: scores.iter().map(|score| score.failed).sum(),
        absent: scores.iter().map(|score| score.absent).sum(),
        scores,
    }
}

/// The least and the most of one repetition, over the repetitions that every cell has. None with fewer
/// than two.
fn range(scores: &[Score]) -> Option<(f64, f64)> {
    let first = scores.first()?;
    let of = |score: &Score, repetition: u32| {
        let mut lost = score.lost.iter();
        lost.find(|(other, _)| *other == repetition)
            .map(|(_, lost)| *lost)
    };
    let means: Vec<f64> = { first.lost.iter() }
        .filter_map(|(repetition, _)| {
            let lost: Option<Vec<f64>> = { scores.iter() }
                .map(|score| of(score, *repetition))
                .collect();
            mean(lost?.into_iter())
        })
        .collect();
    if means.len() < 2 {
        return None;
    }
    let least = means.iter().copied().reduce(f64::min)?;
    let most = means.iter().copied().reduce(f64::max)?;
    Some((least, most))
}
