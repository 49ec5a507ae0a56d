//! The functions that make one number of a scene's values.
use serde::{Deserialize, Serialize};

/// The function that makes one number of the trial of one scene's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    #[default]
    Mean,
    Median,
    P90,
    P99,
    Max,
    Min,
    First,
    Count,
    /// Of an observation: the sum, 0 without a value.
    Sum,
    /// Of a counter: growth over the scene.
    Delta,
    /// Of a counter: growth a second.
    Rate,
}
