//! Every promise of a plan, checked for each of its arms.
use super::judge::result;
use super::monotonic::rises;
use super::result::PromiseResult;
use crate::study::Context;
use protocol::plan::Promise;

pub(crate) fn study(promises: &[Promise], context: &Context) -> Vec<PromiseResult> {
    let mut results = Vec::new();
    for promise in promises {
        if promise.monotonic {
            let rises = |series: &String| rises(promise, series, context);
            results.extend(promise.series.iter().map(rises));
            continue;
        }
        let of_series = promise.series.iter().flat_map(|series| {
            let arms = context.series(series).into_iter();
            let names: Vec<&str> = arms.map(|(_, arm)| arm.name.as_str()).collect();
            // A series that the run does not have must not pass for one that holds.
            match names.is_empty() {
                true => vec![series.as_str()],
                false => names,
            }
        });
        let mut arms: Vec<&str> = promise.arms.iter().map(String::as_str).collect();
        arms.extend(of_series);
        if arms.is_empty() {
            arms.push("");
        }
        results.extend(arms.iter().map(|arm| result(promise, arm, context)));
    }
    results
}
