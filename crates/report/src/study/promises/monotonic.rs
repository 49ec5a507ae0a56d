//! Promises of a whole series: that its numbers rise with `x`.
use super::evidence::{lost, numbers, ran};
use super::judge::{by_interval, NOTHING};
use super::result::{bound, filled, Bound, Found, PromiseResult};
use crate::study::spread::{Domain, Spread};
use crate::study::{stats, Context};
use protocol::plan::{Judge, Promise};

/// Whether a series rises with `x`: the smallest step between the means of neighbours is held
/// against the bound. Judged by the interval, a step counts as downward only where all of the
/// interval of the repetitions' own steps is below the bound.
pub(crate) fn rises(promise: &Promise, series: &str, context: &Context) -> PromiseResult {
    let mut bound = bound(promise);
    if bound.at_least.is_none() && bound.at_most.is_none() {
        bound.at_least = Some(0.0);
    }
    let found = steps(promise, series, bound, context);
    filled(promise, series, bound, found, context)
}

/// The numbers at one `x`, by repetition.
type Place = (f64, Vec<(u32, f64)>);

/// A step from one `x` to the next.
struct Step {
    from: f64,
    to: f64,
    found: Found,
}

fn steps(promise: &Promise, series: &str, bound: Bound, context: &Context) -> Found {
    let (places, mut reasons) = places(promise, series, context);
    let open: Vec<String> = { context.series(series).iter() }
        .filter_map(|(x, arm)| Some(format!("at {x}: {}", ran(arm)?)))
        .collect();
    let steps = places.windows(2).filter_map(|pair| match pair {
        [below, above] => step(promise, below, above, bound),
        _ => None,
    });
    let Some(worst) = steps.reduce(worse) else {
        let undecided = !open.is_empty() && reasons.is_empty();
        reasons.extend(open);
        reasons.extend((!undecided).then(|| NOTHING.to_string()));
        return Found {
            undecided,
            ..Found::missing(reasons.join("; "))
        };
    };
    let mut found = worst.found;
    found.undecided = !open.is_empty() && reasons.is_empty();
    found.unsure &= open.is_empty();
    reasons.extend(open);
    found.holds &= reasons.is_empty();
    reasons.push(format!("the step from {} to {}", worst.from, worst.to));
    reasons.extend(Some(found.why).filter(|why| !why.is_empty()));
    found.why = reasons.join("; ");
    found
}

/// The places of the series by rising `x`, and the reasons for missing ones.
fn places(promise: &Promise, series: &str, context: &Context) -> (Vec<Place>, Vec<String>) {
    let arms = context.series(series);
    let mut reasons = Vec::new();
    let mut places = Vec::new();
    for (x, arm) in &arms {
        let lost = lost(arm);
        reasons.extend(lost.iter().map(|why| format!("at {x}: {why}")));
        let numbers = numbers(promise, &promise.scene, &arm.name, context);
        let gaps = numbers.gaps.iter();
        reasons.extend(gaps.map(|(reason, _)| format!("at {x}: {reason}")));
        places.push((*x, numbers.values));
    }
    if arms.len() < 2 {
        reasons.push(format!("{} arms: there is no step", arms.len()));
    }
    (places, reasons)
}

/// The step between two places, of the repetitions that both have; none where they share none.
fn step(promise: &Promise, below: &Place, above: &Place, bound: Bound) -> Option<Step> {
    let own = above.1.iter().filter_map(|&(repetition, value)| {
        let partner = below.1.iter().find(|&&(other, _)| other == repetition)?;
        Some(value - partner.1)
    });
    let own: Vec<f64> = own.collect();
    let size = stats::mean(&own)?;
    let found = match promise.judge {
        Judge::Value => Found::value(size, bound),
        Judge::Interval => by_interval(promise, size, Spread::of(&own, Domain::Any), bound),
    };
    Some(Step {
        from: below.0,
        to: above.0,
        found,
    })
}

/// The step that breaks the promise, else one that leaves it unsure, else the smaller; the first of
/// equals.
fn worse(one: Step, other: Step) -> Step {
    let rank = |step: &Step| {
        let found = &step.found;
        let kept = u8::from(found.holds) + u8::from(found.holds || found.unsure);
        (kept, u8::from(!found.unsure))
    };
    let order = rank(&other).cmp(&rank(&one));
    match order.is_lt() || (order.is_eq() && other.found.value < one.found.value) {
        true => other,
        false => one,
    }
}
