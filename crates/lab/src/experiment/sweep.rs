//! `[[sweeps]]`: one arm for each value of a knob, written once.
use super::arm::{default_version, ordered, Arm, Daemon, Lru};
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
    /// The sysctl (`vm.swappiness`) or absolute path that is swept, [`MEMORY`] or [`CPUS`].
    pub knob: String,
    pub values: Vec<i64>,
    /// Set in every arm, before the swept one.
    #[serde(default, deserialize_with = "ordered")]
    pub knobs: Vec<(String, String)>,
    /// The daemon of every arm.
    #[serde(default)]
    pub daemon: Option<Daemon>,
    /// The baseline: the sweep whose arm of the same value is the denominator of ratios.
    pub baseline: Option<String>,
}

/// Sweeps the machine's memory, and everything else of the machine in proportion.
pub const MEMORY: &str = "machine.memory_mb";
/// Sweeps the machine's processors.
pub const CPUS: &str = "machine.cpus";

impl Sweep {
    /// A value with its unit, where the knob is one of the machine's.
    fn shown(&self, value: i64) -> String {
        match (self.knob.as_str(), value) {
            (MEMORY, mb) => format!("{mb} MiB"),
            (CPUS, 1) => "1 CPU".into(),
            (CPUS, cpus) => format!("{cpus} CPUs"),
            _ => value.to_string(),
        }
    }

    /// The arms, in the order of the values. `place` is the sweep's own among the file's.
    pub fn arms(&self, place: usize) -> Vec<Arm> {
        let label = match self.label.as_str() {
            "" => &self.name,
            label => label,
        };
        let of_machine = |field: &str, value: i64| (self.knob == field).then_some(value);
        let knob = |value: &i64| match self.knob.as_str() {
            MEMORY | CPUS => None,
            knob => Some((knob.to_string(), value.to_string())),
        };
        let arm = |value: &i64| Arm {
            name: format!("{}-{value}", self.name),
            label: format!("{label}, {}", self.shown(*value)),
            kernel: self.kernel.clone(),
            version: self.version.clone(),
            lru: self.lru,
            baseline: self.baseline.as_ref().map(|name| format!("{name}-{value}")),
            knobs: self.knobs.iter().cloned().chain(knob(value)).collect(),
            // A value that is out of range is found by the check of arms.
            memory_mb: of_machine(MEMORY, *value).map(|mb| mb.try_into().unwrap_or(0)),
            in_proportion: self.knob == MEMORY,
            cpus: of_machine(CPUS, *value).map(|cpus| cpus.try_into().unwrap_or(0)),
            zram_mb: None,
            daemon: self.daemon.clone(),
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
