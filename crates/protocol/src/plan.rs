//! The tables, charts and promises of an experiment file.
use crate::comparison::Comparison;
pub use crate::statistic::Statistic;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    #[serde(default)]
    pub figures: Vec<Figure>,
    #[serde(default)]
    pub charts: Vec<Chart>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
    #[serde(default)]
    pub promises: Vec<Promise>,
}

/// One column of the table: one number of each trial, shown for each arm over its repetitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub title: String,
    pub scene: String,
    /// An observation (`probe.resident`) or a counter (`vmstat.pgscan_direct`), or a sum of
    /// counters joined with `+`, or a ratio of two such sums: `a/(a+b)`.
    pub metric: String,
    /// How a scene's values become one number for the trial.
    #[serde(default)]
    pub statistic: Statistic,
    #[serde(default)]
    pub better: Better,
    /// Unit shown after the number: "ms", "%", "" for a plain number. "%" multiplies by 100.
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

/// An observation over time, with one line for each arm.
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

/// A number of each trial over the `x` of the arms, with one line for each series, and as a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    pub title: String,
    pub scene: String,
    /// As of a [`Figure`].
    pub metric: String,
    #[serde(default)]
    pub statistic: Statistic,
    #[serde(default)]
    pub unit: String,
    /// Label of the arms' `x`: "vm.swappiness".
    pub x: String,
}

/// A bound that the run is checked against. `hotset lab run` fails when one does not hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    pub title: String,
    /// Arms that the promise is checked for, each alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<String>,
    /// Series whose arms the promise is checked for, besides `arms`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<String>,
    pub scene: String,
    /// An observation (`probe.resident`) or a counter (`vmstat.pgscan_direct`), or a sum of
    /// counters joined with `+`, or a ratio of two such sums.
    pub metric: String,
    /// How a scene's values become one number for the trial.
    #[serde(default)]
    pub statistic: Statistic,
    /// How the repetitions become one number.
    #[serde(default)]
    pub across: Across,
    /// Compares the value with another one: the value is then a ratio.
    #[serde(default)]
    pub relative_to: Relative,
    /// Checks each series as a whole: the number must rise with `x`. The value is the smallest step
    /// from one `x` to the next; `at_least` is 0 by default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub monotonic: bool,
    #[serde(default, skip_serializing_if = "Judge::is_value")]
    pub judge: Judge,
    /// With `judge = "interval"`: the widest interval (upper end less lower end) that decides
    /// anything. A wider one leaves the promise unsure, and an unsure promise is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
    /// Counts an unsure promise as kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_unsure: bool,
    /// The bounds of the value: `at_least`, `at_most`, or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// The part of the repetitions that is compared with the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// The one number that `across` makes of the repetitions.
    #[default]
    Value,
    /// The 95% interval of the repetitions. A promise is broken only where all of it lies outside
    /// the bounds.
    Interval,
}

impl Judge {
    fn is_value(&self) -> bool {
        *self == Judge::Value
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Across {
    #[default]
    Mean,
    Median,
    Worst,
}

/// The value that a promise's value is compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relative {
    /// Nothing: the bounds are absolute.
    #[default]
    Nothing,
    /// Ratio to each arm's own baseline.
    Baseline,
    /// Ratio to another scene of the same trial: its metric and statistic stay.
    Scene(String),
    /// Ratio to the arm of another series that has the same `x`.
    Series(String),
}

/// Splits a metric into the names added above the line, and those below it if it is a ratio. None
/// unless it has the form `a`, `a+b`, `a/b` or `a/(a+b)`.
pub fn parts(metric: &str) -> Option<(Vec<&str>, Option<Vec<&str>>)> {
    let side = |text| {
        let text: &str = str::trim(text);
        let bare = match text.strip_prefix('(') {
            Some(inside) => inside.strip_suffix(')')?,
            None => text,
        };
        let names: Vec<&str> = bare.split('+').map(str::trim).collect();
        let fits = |name: &&str| {
            let odd = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '/');
            !name.is_empty() && !name.contains(odd)
        };
        names.iter().all(fits).then_some(names)
    };
    match metric.split_once('/') {
        None => Some((side(metric)?, None)),
        Some((above, below)) => Some((side(above)?, Some(side(below)?))),
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn metrics_are_names_sums_and_ratios() {
        assert_eq!(parts("a.b"), Some((vec!["a.b"], None)));
        assert_eq!(parts("a + b"), Some((vec!["a", "b"], None)));
        assert_eq!(parts("a/b"), Some((vec!["a"], Some(vec!["b"]))));
        let ratio = Some((vec!["a", "c"], Some(vec!["a", "b"])));
        assert_eq!(parts("(a+c) / (a + b)"), ratio);
        for wrong in ["", "a+", "a b", "a/", "a/b/c", "(a", "a)", "a/(b", "((a))"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }
}
