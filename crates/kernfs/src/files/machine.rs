//! The machine as a whole: /proc/sys/kernel/osrelease and /sys/devices/system/cpu/online.
use crate::Root;
use serde::{Deserialize, Serialize};

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
    /// The machine below `root`. A missing file leaves its field empty or 0.
    #[must_use]
    pub fn of(root: &Root) -> Self {
        let release = std::fs::read_to_string(root.sysctl("kernel.osrelease")).unwrap_or_default();
        let mut online = Vec::new();
        let cpus = std::fs::read(root.path("/sys/devices/system/cpu/online"));
        let cpus = cpus.map(|list| super::node::parse_list(&list, &mut online));
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
