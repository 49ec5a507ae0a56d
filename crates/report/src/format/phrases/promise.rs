//! Sentences on one promise.
use super::figure::spread;
use crate::format::number;
use crate::format::table::Tone;
use crate::study::measure;
use crate::study::promises::{PromiseResult, Standing};
use protocol::plan::{Across, Judge};

/// The standing of a promise in a word or two.
pub fn standing(promise: &PromiseResult) -> (&'static str, Tone) {
    match promise.standing() {
        Standing::Kept => ("kept", Tone::Good),
        Standing::KeptUnsure => ("unsure, allowed", Tone::Plain),
        Standing::Unsure => ("UNSURE", Tone::Bad),
        Standing::Undecided => ("not decided", Tone::Bad),
        Standing::Unmeasured => ("NOT MEASURED", Tone::Bad),
        Standing::Broken => ("BROKEN", Tone::Bad),
    }
}

/// The measure of the promise: `mean of probe.resident, scene exhaustion; mean of the trials`.
pub fn measured(p: &PromiseResult) -> String {
    let across = match p.across {
        Across::Mean => "mean",
        Across::Median => "median",
        Across::Worst => "worst",
    };
    let relative = match &p.relative_to {
        Some(other) => format!(", relative to {other}"),
        None => String::new(),
    };
    let how = match (p.monotonic, p.judge) {
        (true, _) => "smallest step along the curve".to_string(),
        (_, Judge::Interval) => "95 % interval over the trials".to_string(),
        (_, Judge::Value) => format!("{across} of the trials"),
    };
    format!(
        "{} of {}, scene {}; {how}{relative}",
        measure::statistic_name(p.statistic),
        p.metric,
        p.scene
    )
}

fn in_unit(x: f64, p: &PromiseResult) -> String {
    match p.relative_to {
        Some(_) => {
            let bounds: Vec<f64> = p
                .bound
                .at_least
                .into_iter()
                .chain(p.bound.at_most)
                .collect();
            number::times_promised(x, &bounds)
        }
        None => number::value(x, &p.unit),
    }
}

/// The value, and its spread where that decides the promise.
pub fn value(p: &PromiseResult) -> String {
    let value = p.value.map_or("–".into(), |v| in_unit(v, p));
    match &p.spread {
        Some(found) => format!("{value} {}", spread(found, &p.unit)),
        None => value,
    }
}

/// The bounds as text, such as `at least 95 %`.
pub fn bound(p: &PromiseResult) -> String {
    let shown = |bound: f64| match p.relative_to {
        Some(_) => number::bound_times(bound),
        None => number::value(bound, &p.unit),
    };
    let least = p.bound.at_least.map(|b| format!("at least {}", shown(b)));
    let most = p.bound.at_most.map(|b| format!("at most {}", shown(b)));
    let both: Vec<String> = least.into_iter().chain(most).collect();
    match both.is_empty() {
        true => "none".into(),
        false => both.join(", "),
    }
}
