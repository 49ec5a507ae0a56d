//! The numbers that a promise is held against, and the reasons for missing ones.
use crate::study::figures::Gap;
use crate::study::measure::{self, Measure};
use crate::study::{ArmStudy, Context};
use protocol::plan::Promise;

/// How many of an arm's trials failed, as text.
pub(crate) fn lost(arm: &ArmStudy) -> Option<String> {
    let text = || format!("{} of {} trials failed", arm.failed, arm.planned);
    (arm.failed > 0).then(text)
}

/// How many of an arm's trials ran, as text, where some never ran.
pub(crate) fn ran(arm: &ArmStudy) -> Option<String> {
    let text = || format!("{} of {} trials", arm.planned - arm.absent, arm.planned);
    (arm.absent > 0).then(text)
}

pub(crate) fn in_trials((reason, trials): &(String, usize), ok: u32) -> String {
    let gap = Gap {
        reason: reason.clone(),
        trials: *trials,
        of: ok as usize,
    };
    gap.to_string()
}

pub(crate) struct Numbers {
    pub values: Vec<(u32, f64)>,
    pub gaps: Vec<(String, usize)>,
}

pub(crate) fn numbers(promise: &Promise, scene: &str, arm: &str, context: &Context) -> Numbers {
    let measure = Measure {
        scene,
        metric: &promise.metric,
        statistic: promise.statistic,
    };
    let mut found = Numbers {
        values: Vec::new(),
        gaps: Vec::new(),
    };
    for trial in context.ok(arm) {
        match measure::number(trial, measure, context.known) {
            Ok(number) => found.values.push((trial.repetition, number)),
            Err(why) => {
                let why = why.to_string();
                match found.gaps.iter_mut().find(|(w, _)| *w == why) {
                    Some((_, n)) => *n += 1,
                    None => found.gaps.push((why, 1)),
                }
            }
        }
    }
    found
}
