//! Memory of a machine of files, as protection samples it.
#![allow(dead_code)] // Each test file uses its own part of this one.
use crate::common::{FakeMachine, MANAGED};

/// What protection samples, in pages.
#[derive(Clone, Debug)]
pub struct Memory {
    pub free: u64,
    pub file: u64,
    pub dirty: u64,
    pub anon: u64,
    pub swap_total: u64,
    pub swap_free: u64,
    pub swapped_out: u64,
    pub file_restores: u64,
    pub stolen: u64,
    /// Pages of the huge page pools.
    pub huge: u64,
}

impl Memory {
    /// Memory to spare.
    pub fn plenty() -> Memory {
        Memory {
            free: 300_000,
            file: 500_000,
            dirty: 0,
            anon: 200_000,
            swap_total: 200_000,
            swap_free: 200_000,
            swapped_out: 0,
            file_restores: 0,
            stolen: 0,
            huge: 0,
        }
    }

    /// Swap is full, free pages are under the high watermark and clean pages under their floor of 15%.
    pub fn exhausted(machine: &FakeMachine) -> Memory {
        Memory {
            free: machine.low() - 100,
            file: 140_000,
            anon: 800_000,
            swap_free: 500,
            ..Memory::plenty()
        }
    }

    /// A task takes memory, at 80 MB a second of ten-millisecond steps, and reclaim takes the file pages for it.
    pub fn take(&mut self, machine: &FakeMachine) {
        self.stolen += 1_000;
        self.file = self.file.saturating_sub(200);
        self.write(machine);
    }

    /// Writes the kernel's files.
    pub fn write(&self, machine: &FakeMachine) {
        let (low, high) = (machine.low(), machine.high());
        let lists = format!(
            "nr_inactive_anon {}\nnr_active_anon {}\nnr_inactive_file {}\nnr_active_file {}\n",
            self.anon / 2,
            self.anon - self.anon / 2,
            self.file / 2,
            self.file - self.file / 2
        );
        machine.put(
            "proc/vmstat",
            &format!(
                "nr_free_pages {}\n{lists}nr_dirty {}\nnr_writeback 0\npswpin 0\npswpout {}\n\
                 pgsteal_kswapd {}\npgsteal_direct 0\nallocstall_normal {}\n\
                 workingset_refault_anon 0\nworkingset_refault_file 0\n\
                 workingset_activate_file 0\nworkingset_restore_anon 0\nworkingset_restore_file {}\noom_kill 0\n",
                self.free,
                self.dirty,
                self.swapped_out,
                self.stolen,
                self.stolen / 100,
                self.file_restores
            ),
        );
        machine.put(
            "proc/zoneinfo",
            &format!(
                "Node 0, zone   Normal\n  per-node stats\n{lists}  pages free     {}\n        \
                 boost    0\n        min      4000\n        low      {low}\n        high     \
                 {high}\n        spanned  {MANAGED}\n        present  {MANAGED}\n        managed  \
                 {MANAGED}\n        protection: (0, 0)\n      nr_free_pages {}\n  pagesets\n    \
                 cpu: 0\n              count:    0\n              high:     0\n              \
                 batch:    1\n  node_unreclaimable:  0\n  start_pfn:           1\n",
                self.free, self.free
            ),
        );
        machine.put(
            "proc/meminfo",
            &format!(
                "MemTotal: {} kB\nMemFree: {} kB\nActive: 0 kB\nInactive: 0 kB\nUnevictable: 0 kB\n\
                 SwapTotal: {} kB\nSwapFree: {} kB\nSlab: 100000 kB\nSReclaimable: 60000 kB\n\
                 SUnreclaim: 40000 kB\nKernelStack: 5000 kB\nPageTables: 5000 kB\n\
                 VmallocUsed: 0 kB\nHugePages_Total: {}\nHugepagesize: 2048 kB\nHugetlb: {} kB\n",
                MANAGED * 4,
                self.free * 4,
                self.swap_total * 4,
                self.swap_free * 4,
                self.huge / 512,
                self.huge * 4
            ),
        );
    }
}
