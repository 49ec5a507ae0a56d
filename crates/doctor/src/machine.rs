//! The machine in a line.
use crate::read;
use kernfs::Root;
use serde::Serialize;
use std::fmt;
use units::{counted, format_bytes};

/// How large the machine is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// `uname -r`; empty where it cannot be read.
    pub release: String,
    /// CPUs that are online; 0 where that cannot be read.
    pub cpus: u64,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Swap, bytes.
    pub swap_bytes: u64,
}

impl Machine {
    /// The machine below `root`.
    #[must_use]
    pub fn of(root: &Root) -> Self {
        let machine = kernfs::samples::Machine::of(root);
        let meminfo = read::meminfo(root);
        let bytes = |kib: Option<u64>| kib.unwrap_or(0) * 1024;
        Self {
            release: machine.release,
            cpus: machine.cpus,
            memory_bytes: bytes(meminfo.mem_total()),
            swap_bytes: bytes(meminfo.swap_total()),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let release = match self.release.as_str() {
            "" => "of an unknown release",
            release => release,
        };
        let memory = format_bytes(self.memory_bytes as f64);
        write!(
            to,
            "Linux {release}, {}, {memory} of memory",
            counted(self.cpus, "CPU")
        )?;
        match self.swap_bytes {
            0 => write!(to, ", no swap"),
            bytes => write!(to, ", {} of swap", format_bytes(bytes as f64)),
        }
    }
}
