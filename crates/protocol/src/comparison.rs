//! An experiment file's comparison with published measurements.
use crate::statistic::Statistic;
use serde::{Deserialize, Serialize};

/// A published table: its rows in its own order and wording, and the run's values beside them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The title in the source.
    pub title: String,
    /// The authors and the place of the publication.
    pub source: String,
    pub scene: String,
    /// The arm that stands for the source's baseline.
    pub from: String,
    /// The arm that stands for the subject of the source, and further arms, all compared with
    /// `from`.
    pub to: Vec<String>,
    pub rows: Vec<ComparisonRow>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonRow {
    pub title: String,
    /// As of a [`crate::plan::Figure`].
    pub metric: String,
    #[serde(default)]
    pub statistic: Statistic,
    #[serde(default)]
    pub unit: String,
    #[serde(default)]
    pub change: Change,
    #[serde(default)]
    pub published: Published,
}

/// The kind of comparison of two arms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Their ratio less one.
    #[default]
    Relative,
    /// Their difference.
    Difference,
}

/// The source's own numbers, shares as shares (6.6% less is -0.066).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// The source's own change; without it, the change follows from `from` and `to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
}

impl Published {
    /// The change in the source, or the one that follows from its numbers.
    pub fn change(&self, how: Change) -> Option<f64> {
        let (from, to) = (self.from, self.to);
        self.change.or_else(|| match how {
            Change::Difference => Some(to? - from?),
            Change::Relative => Some(to? / from.filter(|from| *from != 0.0)? - 1.0),
        })
    }
}
