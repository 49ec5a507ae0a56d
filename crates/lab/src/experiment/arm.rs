//! The sides of the comparison: kernels with their settings.
use super::kernel::Kernel;
use protocol::record::Point;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::Deserialize;
use std::fmt;

/// The file that chooses the LRU: a mask of MGLRU's parts, 0 for the classic LRU.
pub const LRU_GEN: &str = "/sys/kernel/mm/lru_gen/enabled";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lru {
    Classic,
    Mglru,
}

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// The name, which is a part of file names: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// The name in tables and legends; the arm's name when left out.
    #[serde(default)]
    pub label: String,
    pub kernel: Kernel,
    /// The kernel's line, `7.3`.
    #[serde(default = "default_version")]
    pub version: String,
    /// Which of the kernel's two reclaim algorithms runs; the kernel's default when left out.
    pub lru: Option<Lru>,
    /// The arm that is the denominator of ratios.
    pub baseline: Option<String>,
    /// Sysctls (`vm.swappiness`) or absolute paths with their values, in the order of writing.
    #[serde(default, deserialize_with = "ordered")]
    pub knobs: Vec<(String, String)>,
    /// Another size of memory for this arm alone. Sizes in percent stay those of the machine, so
    /// that the work is the same, unless `in_proportion`.
    pub memory_mb: Option<u64>,
    /// With `memory_mb`: swap, disks, their speeds and all sizes in percent grow with memory.
    #[serde(default)]
    pub in_proportion: bool,
    /// Another number of processors for this arm alone.
    pub cpus: Option<u32>,
    /// Another size of the zram swap device for this arm alone.
    pub zram_mb: Option<u64>,
    /// The daemon that runs from before the first scene to after the last.
    #[serde(default)]
    pub daemon: Option<Daemon>,
    /// The arm's point on the curves; a sweep sets it.
    pub point: Option<Point>,
    /// The number of the sweep that made the arm, for messages.
    #[serde(skip)]
    pub sweep: Option<usize>,
}

/// A daemon in an arm's guests: `hotsetd`, or another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Daemon {
    /// Its configuration, as in hotsetd.conf(5), over the lab's own: the log goes to the results, and
    /// there is no status socket: nobody asks.
    #[serde(default)]
    pub config: toml::Table,
    /// Whether PID 1 starts the daemon. False where a worker starts it
    /// ([`protocol::work::Work::KillDaemon`]).
    #[serde(default = "yes")]
    pub start: bool,
    /// Another program in place of hotsetd, with its libraries: see [`crate::guest::host_program`].
    pub program: Option<String>,
    /// That program's arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// That program is one of the experiment's root, not of this machine.
    #[serde(default)]
    pub in_root: bool,
}

fn yes() -> bool {
    true
}

impl Daemon {
    /// The configuration file's text.
    pub fn text(&self) -> String {
        let mut table = toml::Table::new();
        table.insert("log".into(), "stderr".into());
        let mut status = toml::Table::new();
        status.insert("socket".into(), "".into());
        table.insert("status".into(), status.into());
        // Tables come last in a file of TOML.
        let (tables, plain): (Vec<_>, Vec<_>) = { table.into_iter() }
            .chain(self.config.clone())
            .partition(|(_, value)| value.is_table());
        let mut whole = toml::Table::new();
        whole.extend(plain);
        whole.extend(tables);
        whole.to_string()
    }
}

pub(super) fn default_version() -> String {
    "7.3".into()
}

/// Reads a table of strings, integers and switches, in the file's order.
pub(super) fn ordered<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(String, String)>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string, an integer or a switch")]
    enum Value {
        Text(String),
        Number(i64),
        Switch(bool),
    }
    struct Table;
    impl<'de> Visitor<'de> for Table {
        type Value = Vec<(String, String)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table of kernel settings")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some((name, value)) = map.next_entry()? {
                let value = match value {
                    Value::Text(text) => text,
                    Value::Number(number) => number.to_string(),
                    Value::Switch(on) => u8::from(on).to_string(),
                };
                entries.push((name, value));
            }
            Ok(entries)
        }
    }
    from.deserialize_map(Table)
}
