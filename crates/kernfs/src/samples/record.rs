//! One recorded sample: a line of a samples file.
use crate::files::dentry::{DentryState, InodeNr};
use crate::files::knobs::Knob;
use crate::files::machine::Machine;
use crate::files::psi;
use crate::parse::fields::Fields;
use crate::sampling::sample;
use crate::{Sample, Sources};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use watermarks::Watermarks;

/// The figures of one moment. Numbers and names are the kernel's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`Record::SCHEMA`]. Files of other makers may lack it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub schema: String,
    /// Seconds of CLOCK_MONOTONIC.
    pub t: f64,
    /// Present in the first record of a file only.
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
    /// The name and version of the format of a line. The version grows when a field goes or changes its meaning.
    pub const SCHEMA: &'static str = "hotset.record.1";

    /// The record of `sample`, without `machine`.
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
            schema: Self::SCHEMA.to_owned(),
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

impl Record {
    /// Fills `sample` with the figures of this record. Files that no record holds stay as they are, and
    /// [`Sample::fresh`] is empty.
    ///
    /// # Errors
    /// A name that no file of the kernel can have, or more names than any has.
    pub fn restore(&self, sample: &mut Sample) -> Result<(), String> {
        let numbers = |names: &BTreeMap<String, u64>, into: &mut Fields, skip: &[&str]| {
            into.begin();
            for (name, value) in names {
                if !skip.iter().any(|prefix| name.starts_with(prefix)) {
                    let put = into.put(name.as_bytes(), *value);
                    put.map_err(|why| format!("the field {name:?}: {why}"))?;
                }
            }
            into.end();
            Ok::<(), String>(())
        };
        sample.t = self.t;
        sample.fresh = Sources::default();
        numbers(&self.vmstat, &mut sample.vmstat.fields, &[])?;
        let meminfo = &mut sample.meminfo.fields;
        numbers(&self.meminfo, meminfo, &["dentry.", "inode."])?;
        let count = |name: &str| self.meminfo.get(name).copied();
        sample.dentry = count("dentry.nr").map(|nr_dentry| DentryState {
            nr_dentry,
            nr_unused: count("dentry.unused").unwrap_or(0),
            nr_negative: count("dentry.negative"),
        });
        sample.inode = count("inode.nr").map(|nr_inodes| InodeNr {
            nr_inodes,
            nr_free: count("inode.free").unwrap_or(0),
        });
        let pressure = |name| self.psi.get(name).map(psi::Pressure::from);
        sample.psi = sample::Psi {
            memory: pressure("memory").unwrap_or_default(),
            cpu: pressure("cpu").unwrap_or_default(),
            io: pressure("io").unwrap_or_default(),
        };
        for knob in Knob::ALL {
            let value = self.knobs.get(knob.name()).copied();
            sample.knobs.set(*knob, value);
        }
        sample.nodes.clear();
        for node in &self.nodes {
            node.restore(sample.nodes.grow());
        }
        Ok(())
    }
}

impl Node {
    fn restore(&self, into: &mut sample::Node) {
        let mut blocks = std::mem::take(&mut into.blocks);
        blocks.clone_from(&self.blocks);
        *into = sample::Node {
            id: self.id,
            managed: self.managed,
            free: self.free,
            watermarks: self.watermarks,
            boost: self.boost,
            reserved: self.reserved,
            active_anon: self.active_anon,
            inactive_anon: self.inactive_anon,
            active_file: self.active_file,
            inactive_file: self.inactive_file,
            huge: self.huge,
            stolen: self.stolen,
            blocks,
            ..sample::Node::default()
        };
    }
}

impl From<&sample::Node> for Node {
    fn from(node: &sample::Node) -> Self {
        Self {
            id: node.id,
            managed: node.managed,
            free: node.free,
            watermarks: node.watermarks,
            boost: node.boost,
            reserved: node.reserved,
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

impl From<&Pressure> for psi::Pressure {
    fn from(pressure: &Pressure) -> Self {
        let stall = |line: PressureLine| psi::Stall {
            avg10: line.avg10,
            avg60: line.avg60,
            avg300: line.avg300,
            total_us: line.total,
        };
        Self {
            some: pressure.some.map(stall),
            full: pressure.full.map(stall),
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

/// One memory node; pages where no unit is given, summed over its populated zones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    pub id: u32,
    pub managed: u64,
    pub free: u64,
    #[serde(flatten)]
    pub watermarks: Watermarks,
    /// The part of each watermark that is a boost after a fallback of the buddy allocator.
    #[serde(skip_serializing_if = "is_zero")]
    pub boost: u64,
    /// The part of `free` that only allocations for lower zones can have.
    #[serde(skip_serializing_if = "is_zero")]
    pub reserved: u64,
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

fn is_zero(pages: &u64) -> bool {
    *pages == 0
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
