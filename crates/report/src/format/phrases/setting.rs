//! Sentences on two settings of one machine: which figures differ, and how surely.
use super::figure;
use crate::format::number;
use crate::format::table::Tone;
use crate::study::{difference, Difference, FigureStudy, Interval, Study};
use protocol::plan::Better;

/// The setting and its baseline, with their places, where the run compares two settings of one machine.
pub struct Pair {
    pub setting: usize,
    pub baseline: usize,
}

/// The two settings of a run without guests; none for an experiment of the lab.
pub fn pair(study: &Study) -> Option<Pair> {
    if !study.run.bed.is_this_machine() || study.arms.len() != 2 {
        return None;
    }
    let setting = study.arms.iter().position(|arm| arm.baseline.is_some())?;
    Some(Pair {
        setting,
        baseline: 1 - setting,
    })
}

impl Pair {
    pub fn difference(&self, figure: &FigureStudy) -> Difference {
        difference(&figure.cells[self.setting], &figure.cells[self.baseline])
    }
}

/// A share as percent, rounded up: a bound must not claim more than it holds.
fn percent(bound: f64) -> String {
    let percent = (bound * 100.0).max(0.1);
    match percent < 10.0 {
        true => format!("{:.1}%", (percent * 10.0).ceil() / 10.0),
        false => format!("{}%", number::plain(percent.ceil())),
    }
}

fn interval(ends: Interval) -> String {
    format!("[{}]", number::range(ends.low, ends.high, ""))
}

/// The ratio and its verdict, for a cell of a table.
pub fn short(found: Difference, better: Better) -> (String, Option<(String, Tone)>) {
    match found {
        Difference::Found {
            ratio,
            interval: ends,
        } => {
            let (word, tone) = match (better, ratio < 1.0) {
                (Better::Neutral, true) => ("less", Tone::Plain),
                (Better::Neutral, false) => ("more", Tone::Plain),
                (Better::Lower, true) | (Better::Higher, false) => ("better", Tone::Good),
                _ => ("worse", Tone::Bad),
            };
            let text = format!("{} {word}", number::times(ratio));
            (text, Some((interval(ends), tone)))
        }
        Difference::NotFound {
            ratio,
            bound: Some(bound),
        } => {
            let text = format!("none found; <{}", percent(bound));
            (number::times(ratio), Some((text, Tone::Faint)))
        }
        Difference::NotFound { ratio, bound: None } => {
            (number::times(ratio), Some(("unclear".into(), Tone::Faint)))
        }
        Difference::NoneAtAll => ("none".into(), None),
        Difference::TooFew { ratio } => (
            number::times(ratio),
            Some(("too few pairs".into(), Tone::Faint)),
        ),
        Difference::NoRatio => ("–".into(), Some(("baseline 0".into(), Tone::Faint))),
        Difference::NoValue => ("–".into(), None),
    }
}

/// A sentence on one figure.
fn sentence(study: &Study, pair: &Pair, found: &FigureStudy) -> String {
    let title = &found.figure.title;
    let label = study.label(&study.arms[pair.setting].name);
    match pair.difference(found) {
        Difference::Found {
            ratio,
            interval: ends,
        } => {
            let word = match (found.figure.better, ratio < 1.0) {
                (Better::Neutral, _) => "",
                (Better::Lower, true) | (Better::Higher, false) => ", better",
                _ => ", worse",
            };
            let (times, ends) = (number::times(ratio), interval(ends));
            format!("{title}: {times} under {label} {ends}{word}.")
        }
        Difference::NotFound {
            bound: Some(bound), ..
        } => format!(
            "{title}: no difference found; 95% sure that it is under {}.",
            percent(bound)
        ),
        Difference::NotFound { bound: None, .. } => {
            format!("{title}: no difference found, and the runs do not bound it.")
        }
        Difference::NoneAtAll => format!("{title}: none under either setting."),
        Difference::TooFew { ratio } => format!(
            "{title}: {} under {label}; fewer than four pairs say nothing.",
            number::times(ratio)
        ),
        Difference::NoRatio => format!("{title}: 0 under the baseline, so that there is no ratio."),
        Difference::NoValue => format!("{title}: no value."),
    }
}

/// The result: the sentence on the first figure, and those on other figures that differ.
pub fn summary(study: &Study, pair: &Pair) -> Vec<String> {
    let mut shown = figure::shown(study);
    let first = shown.next().map(|found| sentence(study, pair, found));
    let mut out = vec![first.unwrap_or_else(|| "No run ended well.".into())];
    let others: Vec<&FigureStudy> = shown
        .filter(|it| it.figure.better != Better::Neutral)
        .collect();
    let differs = |it: &&&FigureStudy| matches!(pair.difference(it), Difference::Found { .. });
    out.extend({ others.iter().filter(differs) }.map(|it| sentence(study, pair, it)));
    out
}
