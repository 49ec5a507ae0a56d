//! What an experiment file says of its figures: which tables and charts to show, and what it
//! promises of them.
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    #[serde(default)]
    pub figures: Vec<Figure>,
    #[serde(default)]
    pub charts: Vec<Chart>,
    #[serde(default)]
    pub promises: Vec<Promise>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    #[default]
    Mean,
    Median,
    P90,
    Max,
    Min,
    First,
    Count,
    /// Of a counter: growth over the scene.
    Delta,
    /// Of a counter: growth a second.
    Rate,
}

/// One column of the table: one number of each trial, shown for each arm over the repetitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub title: String,
    pub scene: String,
    /// An observation (`probe.resident`) or a counter (`vmstat.pgscan_direct`), or a sum of
    /// counters joined with `+`.
    pub metric: String,
    /// How a scene's values become one number for the trial.
    #[serde(default)]
    pub statistic: Statistic,
    #[serde(default)]
    pub better: Better,
    /// Shown after the number: "ms", "%", "" for a plain number. "%" multiplies by 100.
    #[serde(default)]
    pub unit: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Higher,
    #[default]
    Lower,
    /// Neither is better.
    Neutral,
}

/// An observation over time, one line an arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    pub title: String,
    pub scene: String,
    /// Observation or gauge.
    pub metric: String,
    #[serde(default)]
    pub unit: String,
    #[serde(default)]
    pub log: bool,
}

/// A bound that the run is checked against. `hotset lab run` fails when one does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    pub title: String,
    /// Arms it is checked for, each alone.
    pub arms: Vec<String>,
    pub scene: String,
    /// An observation (`probe.resident`) or a counter (`vmstat.pgscan_direct`), or a sum of
    /// counters joined with `+`.
    pub metric: String,
    /// How a scene's values become one number for the trial.
    #[serde(default)]
    pub statistic: Statistic,
    /// How the repetitions become one number.
    #[serde(default)]
    pub across: Across,
    /// With one of these the value is the ratio to that arm's, else the value itself.
    #[serde(default)]
    pub relative_to: Relative,
    /// `at_least` or `at_most`, or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Across {
    #[default]
    Mean,
    Median,
    Worst,
}

/// What a promise's value is compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relative {
    /// An absolute bound.
    #[default]
    Nothing,
    /// Ratio to each arm's own baseline.
    Baseline,
    /// Ratio to another scene of the same trial: its metric and statistic stay.
    Scene(String),
}
