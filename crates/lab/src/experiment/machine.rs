//! The guest machine of an experiment, and the root of its programs.
use super::arm::Arm;
use crate::bed::Kind;
use protocol::size::Size;
use protocol::spec::Trace;
use serde::Deserialize;

/// The guest that every arm runs on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machine {
    pub bed: Kind,
    pub memory_mb: u64,
    /// Sizes of the memory nodes, which sum to `memory_mb`; empty for one node. QEMU only.
    pub numa: Vec<Size>,
    /// Whether the guest's clock counts instructions, a nanosecond each. QEMU only. Several CPUs take turns, and the
    /// clock counts the instructions of all.
    pub icount: bool,
    pub cpus: u32,
    /// Size of the zram swap device; 0 for a guest without swap.
    pub zram_mb: u64,
    /// Bytes a second that the guest may read from its disk; 0 for no limit.
    pub disk_read: Size,
    /// Read operations a second; 0 for no limit.
    pub disk_read_iops: u64,
    /// The size of a disk that workers may write to; 0 for none. The disk is empty at the beginning of
    /// each trial.
    pub scratch_mb: u64,
    /// Bytes a second that the guest may write to that disk; 0 for no limit.
    pub disk_write: Size,
    /// Files at the top of that disk that are kept with the results.
    pub keep: Vec<String>,
    /// Size of a swap file on that disk; 0 for none.
    pub swap_mb: u64,
    /// Period of the gauges' samples, in milliseconds.
    pub sample_ms: u64,
    /// The silence, in seconds, after which a guest has hung. A stock kernel that thrashes can stand
    /// still for 96 s and recover.
    pub silent_s: u64,
    /// The kernel's events that are traced.
    pub trace: Vec<Trace>,
    /// Parameters for the kernel's command line, `cgroup_disable=memory` for instance.
    pub command_line: Vec<String>,
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            bed: Kind::Uml,
            memory_mb: 512,
            numa: Vec::new(),
            icount: false,
            cpus: 1,
            zram_mb: 0,
            disk_read: Size::Bytes(0),
            disk_read_iops: 0,
            scratch_mb: 0,
            disk_write: Size::Bytes(0),
            keep: Vec::new(),
            swap_mb: 0,
            sample_ms: 500,
            silent_s: 180,
            trace: Vec::new(),
            command_line: Vec::new(),
        }
    }
}

impl Machine {
    /// The machine that an arm's sizes in percent are taken of. An arm whose memory alone differs has the
    /// same work as the others.
    pub fn of(&self, arm: &Arm) -> Machine {
        let mut machine = match arm.memory_mb {
            Some(mb) if arm.in_proportion => self.grown_to(mb),
            _ => self.clone(),
        };
        machine.cpus = arm.cpus.unwrap_or(self.cpus);
        machine
    }

    /// A machine with this memory, and with swap, disks and their speeds in proportion.
    fn grown_to(&self, memory_mb: u64) -> Machine {
        let times = memory_mb as f64 / self.memory_mb as f64;
        let grown = |number: u64| (number as f64 * times) as u64;
        Machine {
            memory_mb,
            zram_mb: grown(self.zram_mb),
            disk_read: self.disk_read.times(times),
            disk_read_iops: grown(self.disk_read_iops),
            scratch_mb: grown(self.scratch_mb),
            disk_write: self.disk_write.times(times),
            swap_mb: grown(self.swap_mb),
            ..self.clone()
        }
    }
}

/// A root file system of Debian's packages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// Names of packages. What they depend on, and Debian's essential packages, come with them.
    pub packages: Vec<String>,
    /// Debian's release.
    #[serde(default = "default_suite")]
    pub suite: String,
    /// Commands for the root's /bin/sh, run once in the root as its superuser, without a network.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// Free space in MiB that programs may write to in each trial.
    #[serde(default = "default_free_mb")]
    pub free_mb: u64,
}

impl Root {
    /// A root with these packages, and nothing else.
    pub fn of(packages: Vec<String>) -> Root {
        Root {
            packages,
            suite: default_suite(),
            prepare: Vec::new(),
            free_mb: default_free_mb(),
        }
    }
}

fn default_suite() -> String {
    "bookworm".into()
}

fn default_free_mb() -> u64 {
    256
}
