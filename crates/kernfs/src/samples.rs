//! The samples file: one JSON object a line, oldest first.
//!
//! ```text
//! {"t":12.5,"machine":{"release":"6.18.44","page_size":4096,"cpus":2},
//!  "nodes":[{"id":0,"managed":6171023,"free":4711901,"min":10833,"low":16832,"high":22831,
//!            "active_anon":1370,"inactive_anon":57581,"active_file":581649,"inactive_file":351386,
//!            "blocks":[3344,6417,3943],"huge":0}],
//!  "vmstat":{"nr_free_pages":4711901},"meminfo":{"MemTotal":24684092},
//!  "psi":{"memory":{"some":{"avg10":0.0,"avg60":0.0,"avg300":0.0,"total":0}}},
//!  "knobs":{"vm.watermark_scale_factor":10}}
//! ```
//!
//! Every part but `t` may be missing: a reader takes what is there.
use crate::fields::Fields;
use crate::{psi, sample, Root, Sample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;

/// What was seen at one moment. Numbers and names are the kernel's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Seconds of CLOCK_MONOTONIC.
    pub t: f64,
    /// Said once, in the first record of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Memory nodes, by ascending id; nodes without memory are left out.
    #[serde(default)]
    pub nodes: Vec<Node>,
    /// /proc/vmstat, every field.
    #[serde(default)]
    pub vmstat: BTreeMap<String, u64>,
    /// /proc/meminfo, every field: KiB, but `HugePages_*` in huge pages. /proc/sys/fs/dentry-state
    /// and inode-nr as `dentry.nr`, `dentry.unused`, `dentry.negative`, `inode.nr`, `inode.free`.
    #[serde(default)]
    pub meminfo: BTreeMap<String, u64>,
    /// /proc/pressure by resource: `memory`, `cpu`, `io`.
    #[serde(default)]
    pub psi: BTreeMap<String, Pressure>,
    /// Sysctls by dotted name (`vm.watermark_scale_factor`); those that this kernel lacks are absent.
    #[serde(default)]
    pub knobs: BTreeMap<String, i64>,
}

impl Record {
    /// What `sample` says; `machine` is left out.
    #[must_use]
    pub fn of(sample: &Sample) -> Self {
        let all = |fields: &Fields| {
            let pairs = fields.iter();
            pairs
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        };
        let mut meminfo: BTreeMap<String, u64> = all(&sample.meminfo.fields);
        let mut more = |name: &str, value: Option<u64>| {
            if let Some(value) = value {
                meminfo.insert(name.to_owned(), value);
            }
        };
        let dentry = sample.dentry;
        more("dentry.nr", dentry.map(|dentry| dentry.nr_dentry));
        more("dentry.unused", dentry.map(|dentry| dentry.nr_unused));
        more(
            "dentry.negative",
            dentry.and_then(|dentry| dentry.nr_negative),
        );
        more("inode.nr", sample.inode.map(|inode| inode.nr_inodes));
        more("inode.free", sample.inode.map(|inode| inode.nr_free));
        let psi = [
            ("memory", &sample.psi.memory),
            ("cpu", &sample.psi.cpu),
            ("io", &sample.psi.io),
        ];
        let psi = psi
            .into_iter()
            .filter(|(_, pressure)| **pressure != psi::Pressure::default());
        let knobs = sample.knobs.iter();
        Self {
            t: sample.t,
            machine: None,
            nodes: sample.nodes.iter().map(Node::from).collect(),
            vmstat: all(&sample.vmstat.fields),
            meminfo,
            psi: psi
                .map(|(name, pressure)| (name.to_owned(), pressure.into()))
                .collect(),
            knobs: knobs
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        }
    }
}

impl From<&sample::Node> for Node {
    fn from(node: &sample::Node) -> Self {
        Self {
            id: node.id,
            managed: node.managed,
            free: node.free,
            min: node.min,
            low: node.low,
            high: node.high,
            active_anon: node.active_anon,
            inactive_anon: node.inactive_anon,
            active_file: node.active_file,
            inactive_file: node.inactive_file,
            blocks: node.blocks.clone(),
            huge: node.huge,
            stolen: node.stolen,
        }
    }
}

impl From<&psi::Pressure> for Pressure {
    fn from(pressure: &psi::Pressure) -> Self {
        let line = |stall: psi::Stall| PressureLine {
            avg10: stall.avg10,
            avg60: stall.avg60,
            avg300: stall.avg300,
            total: stall.total_us,
        };
        Self {
            some: pressure.some.map(line),
            full: pressure.full.map(line),
        }
    }
}

/// The machine that was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `uname -r`.
    pub release: String,
    /// Bytes of a page.
    pub page_size: u64,
    pub cpus: u64,
}

impl Machine {
    /// The machine that `root` is of; what it does not say is empty or 0.
    #[must_use]
    pub fn of(root: &Root) -> Self {
        let release = std::fs::read_to_string(root.sysctl("kernel.osrelease")).unwrap_or_default();
        let mut online = Vec::new();
        let cpus = std::fs::read(root.path("/sys/devices/system/cpu/online"));
        let cpus = cpus.map(|list| crate::node::parse_list(&list, &mut online));
        Self {
            release: release.trim().to_owned(),
            page_size: rustix::param::page_size() as u64,
            cpus: if matches!(cpus, Ok(Ok(()))) {
                online.len() as u64
            } else {
                0
            },
        }
    }

    /// The release's first number: 6 of `6.18.44`.
    #[must_use]
    pub fn major(&self) -> Option<u32> {
        self.release.split('.').next()?.parse().ok()
    }
}

/// One memory node; pages unless said otherwise, summed over its populated zones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    pub id: u32,
    pub managed: u64,
    pub free: u64,
    pub min: u64,
    pub low: u64,
    pub high: u64,
    pub active_anon: u64,
    pub inactive_anon: u64,
    pub active_file: u64,
    pub inactive_file: u64,
    /// Free blocks by order, 0 first.
    pub blocks: Vec<u64>,
    /// Pages that lie in the huge page pool (hugetlb) of all sizes.
    pub huge: u64,
    /// Pages reclaimed since boot by anyone, where the kernel counts them by node (7.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stolen: Option<u64>,
}

/// `some` and `full` of one file of /proc/pressure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pressure {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub some: Option<PressureLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<PressureLine>,
}

/// Percent of the last 10, 60 and 300 s, and microseconds since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PressureLine {
    pub avg10: f64,
    pub avg60: f64,
    pub avg300: f64,
    pub total: u64,
}

/// Why a samples file cannot be read on.
#[derive(Debug)]
pub struct ReadError {
    /// Counted from 1.
    pub line: u64,
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Reads records off anything that gives lines (unpacked: `.zst` is the caller's).
pub struct Reader<R> {
    input: R,
    line: String,
    number: u64,
    last_t: f64,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: String::new(),
            number: 0,
            last_t: f64::NEG_INFINITY,
        }
    }

    /// # Errors
    /// A line that is no record, time that runs backwards, or the input's own error.
    fn read(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            self.line.clear();
            self.number += 1;
            let fault = |message: String| ReadError {
                line: self.number,
                message,
            };
            match self.input.read_line(&mut self.line) {
                Ok(0) => return Ok(None),
                Ok(_) if self.line.trim().is_empty() => continue,
                Ok(_) => (),
                Err(error) => return Err(fault(error.to_string())),
            }
            let record: Record =
                serde_json::from_str(&self.line).map_err(|error| fault(error.to_string()))?;
            if record.t.is_nan() || record.t < self.last_t {
                return Err(fault(format!(
                    "t is {} s, and was {} s on the line before: samples go by time",
                    record.t, self.last_t
                )));
            }
            self.last_t = record.t;
            return Ok(Some(record));
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Record, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
