//! The result of a promise.
use crate::study::spread::Spread;
use crate::study::Context;
use protocol::plan::{Across, Judge, Promise, Statistic};
use serde::Serialize;

/// A promise and its result for one arm or series.
#[derive(Clone, Debug, Serialize)]
pub struct PromiseResult {
    pub title: String,
    pub arm: String,
    /// Scene, metric and statistic measured.
    pub scene: String,
    pub metric: String,
    pub statistic: Statistic,
    pub across: Across,
    /// The name of the baseline's arm, `scene NAME` or `series NAME`, where the value is a ratio.
    pub relative_to: Option<String>,
    /// The value is the smallest step along the curve of a series, and `arm` is that series.
    pub monotonic: bool,
    pub judge: Judge,
    /// None where no trial gave a number, or where there is no number to relate it to.
    pub value: Option<f64>,
    /// Where the promise is judged by its interval. Only a confidence interval decides; a range
    /// leaves the promise unsure.
    pub spread: Option<Spread>,
    /// The unit of the value and the bound, of a figure that shows the same metric; empty for
    /// ratios and where no figure does.
    pub unit: String,
    pub bound: Bound,
    pub holds: bool,
    /// The interval is too wide for a decision, or there is none. With `holds`, the plan allows it.
    pub unsure: bool,
    /// Trials that never ran can still decide the promise. It does not hold until they have.
    pub undecided: bool,
    /// Nothing in the run recorded the metric, or the scene was not run. Such a promise does not
    /// hold, and is not called broken.
    pub unmeasured: bool,
    /// The reason why the promise does not hold, or a note; empty when value and bound suffice.
    pub why: String,
}

/// Whether a promise is kept, broken or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Kept,
    /// The trials do not decide, which the plan allows.
    KeptUnsure,
    Unsure,
    Undecided,
    Unmeasured,
    Broken,
}

impl PromiseResult {
    pub fn standing(&self) -> Standing {
        match (self.holds, self.unsure) {
            (true, false) => Standing::Kept,
            (true, true) => Standing::KeptUnsure,
            (false, _) if self.undecided => Standing::Undecided,
            (false, _) if self.unmeasured => Standing::Unmeasured,
            (false, true) => Standing::Unsure,
            (false, false) => Standing::Broken,
        }
    }
}

/// The range of the value, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bound {
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

impl Bound {
    pub(crate) fn admits(&self, value: f64) -> bool {
        self.at_least.is_none_or(|b| value >= b) && self.at_most.is_none_or(|b| value <= b)
    }
}

/// The finding for one arm, before it is known whether all its trials gave a number.
#[derive(Default)]
pub(crate) struct Found {
    pub value: Option<f64>,
    pub spread: Option<Spread>,
    pub holds: bool,
    pub unsure: bool,
    pub undecided: bool,
    pub why: String,
}

impl Found {
    pub(crate) fn missing(why: impl Into<String>) -> Found {
        Found {
            why: why.into(),
            ..Found::default()
        }
    }

    pub(crate) fn value(value: f64, bound: Bound) -> Found {
        Found {
            value: Some(value),
            holds: bound.admits(value),
            ..Found::default()
        }
    }
}

pub(crate) fn bound(promise: &Promise) -> Bound {
    Bound {
        at_least: promise.at_least,
        at_most: promise.at_most,
    }
}

/// The result of an absolute promise for one arm or series, measured by the run.
pub(crate) fn filled(
    promise: &Promise,
    arm: &str,
    bound: Bound,
    found: Found,
    context: &Context,
) -> PromiseResult {
    PromiseResult {
        title: promise.title.clone(),
        arm: arm.to_string(),
        scene: promise.scene.clone(),
        metric: promise.metric.clone(),
        statistic: promise.statistic,
        across: promise.across,
        relative_to: None,
        monotonic: promise.monotonic,
        judge: promise.judge,
        value: found.value,
        spread: found.spread,
        unit: context.unit(promise).to_string(),
        bound,
        holds: found.holds,
        unsure: found.unsure,
        undecided: found.undecided,
        unmeasured: false,
        why: found.why,
    }
}
