//! `[[sweeps]]`: one arm for each value of a knob, written once.
use super::arm::{default_version, ordered, Arm, Lru};
use super::kernel::Kernel;
use protocol::record::Point;
use serde::Deserialize;

/// Arms that differ in one knob alone. An arm is called `NAME-VALUE`, its series is NAME and its
/// `x` the value.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    pub name: String,
    /// The label of the series in legends; the name when left out.
    #[serde(default)]
    pub label: String,
    pub kernel: Kernel,
    #[serde(default = "default_version")]
    pub version: String,
    pub lru: Option<Lru>,
    /// The sysctl (`vm.swappiness`) or absolute path that is swept.
    pub knob: String,
    pub values: Vec<i64>,
    /// Set in every arm, before the swept one.
    #[serde(default, deserialize_with = "ordered")]
    pub knobs: Vec<(String, String)>,
    /// The baseline: the sweep whose arm of the same value is the denominator of ratios.
    pub baseline: Option<String>,
}

impl Sweep {
    /// The arms, in the order of the values. `place` is the sweep's own among the file's.
    pub fn arms(&self, place: usize) -> Vec<Arm> {
        let label = match self.label.as_str() {
            "" => &self.name,
            label => label,
        };
        let arm = |value: &i64| Arm {
            name: format!("{}-{value}", self.name),
            label: format!("{label}, {value}"),
            kernel: self.kernel.clone(),
            version: self.version.clone(),
            lru: self.lru,
            baseline: self.baseline.as_ref().map(|name| format!("{name}-{value}")),
            knobs: [&self.knobs[..], &[(self.knob.clone(), value.to_string())]].concat(),
            memory_mb: None,
            zram_mb: None,
            daemon: None,
            point: Some(Point {
                series: self.name.clone(),
                label: label.to_string(),
                x: *value as f64,
            }),
            sweep: Some(place),
        };
        self.values.iter().map(arm).collect()
    }
}
