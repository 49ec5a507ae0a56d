//! A machine of files: a root directory with the kernel's files, which the test changes.
#![allow(dead_code)] // Each test file uses its own part of it.
use std::path::{Path, PathBuf};

/// One node of 4 GB with one zone.
pub struct FakeMachine {
    root: tempfile::TempDir,
    pub free: u64,
    pub file: u64,
    pub steal_kswapd: u64,
    pub steal_direct: u64,
    pub allocstall: u64,
    pub compact_stall: u64,
    /// Free blocks by order.
    pub blocks: Vec<u64>,
}

pub const MANAGED: u64 = 1_000_000;
pub const MIN: u64 = 4_000;

impl FakeMachine {
    pub fn new() -> FakeMachine {
        let machine = FakeMachine {
            root: tempfile::tempdir().unwrap(),
            free: 300_000,
            file: 500_000,
            steal_kswapd: 0,
            steal_direct: 0,
            allocstall: 0,
            compact_stall: 0,
            blocks: vec![100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 200],
        };
        for (path, text) in [
            ("proc/sys/kernel/osrelease", "6.12.0-test\n"),
            (
                "proc/sys/kernel/random/boot_id",
                "11111111-2222-3333-4444-555555555555\n",
            ),
            ("proc/sys/vm/watermark_scale_factor", "10\n"),
            ("proc/sys/vm/vfs_cache_pressure", "100\n"),
            ("proc/sys/vm/compaction_proactiveness", "20\n"),
            ("proc/sys/vm/swappiness", "60\n"),
            ("proc/sys/vm/compact_memory", ""),
            (
                "proc/sys/fs/dentry-state",
                "50000\t40000\t45\t0\t10000\t0\n",
            ),
            ("proc/sys/fs/inode-nr", "40000\t1000\n"),
            ("sys/devices/system/node/node0/compact", ""),
            ("sys/devices/system/node/node0/reclaim", ""),
            (
                "sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
                "2097152\n",
            ),
        ] {
            machine.put(path, text);
        }
        machine.write();
        machine
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// A file in one piece, as the kernel's are.
    pub fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let new = path.with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, path).unwrap();
    }

    pub fn wsf(&self) -> u64 {
        let text = self.read("proc/sys/vm/watermark_scale_factor");
        text.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The low watermark as the kernel sets it: the gap is a quarter of min or the scale factor's.
    pub fn low(&self) -> u64 {
        MIN + (MANAGED * self.wsf() / 10_000).max(MIN / 4)
    }

    pub fn high(&self) -> u64 {
        2 * self.low() - MIN
    }

    /// Writes the kernel's files as the figures are.
    pub fn write(&self) {
        let (free, file) = (self.free, self.file);
        self.put(
            "proc/vmstat",
            &format!(
                "nr_free_pages {free}\nnr_active_file {}\nnr_inactive_file {}\npgsteal_kswapd {}\n\
             pgsteal_direct {}\nallocstall_normal {}\ncompact_stall {}\ncompact_fail 0\n\
             compact_success 0\nworkingset_refault_anon 0\nworkingset_refault_file 0\noom_kill 0\n",
                file / 2,
                file / 2,
                self.steal_kswapd,
                self.steal_direct,
                self.allocstall,
                self.compact_stall,
            ),
        );
        let blocks: Vec<_> = self
            .blocks
            .iter()
            .map(|count| format!("{count:6}"))
            .collect();
        let blocks = blocks.join(" ");
        self.put(
            "proc/buddyinfo",
            &format!("Node 0, zone   Normal {blocks} \n"),
        );
        let (low, high) = (self.low(), self.high());
        self.put(
            "proc/zoneinfo",
            &format!(
                "Node 0, zone   Normal\n  per-node stats\n      nr_inactive_anon 1000\n      \
             nr_active_anon 100000\n      nr_inactive_file {}\n      nr_active_file {}\n  \
             pages free     {free}\n        boost    0\n        min      {MIN}\n        \
             low      {low}\n        high     {high}\n        spanned  {MANAGED}\n        \
             present  {MANAGED}\n        managed  {MANAGED}\n        \
             protection: (0, 0)\n      nr_free_pages {free}\n  pagesets\n    cpu: 0\n              \
             count:    0\n              high:     0\n              batch:    1\n  \
             node_unreclaimable:  0\n  start_pfn:           1\n",
                file / 2,
                file / 2,
            ),
        );
        let kib = |pages: u64| pages * 4;
        self.put(
            "proc/meminfo",
            &format!(
            "MemTotal: {} kB\nMemFree: {} kB\nActive: {} kB\nInactive: {} kB\nUnevictable: 0 kB\n\
             SwapTotal: 0 kB\nSwapFree: 0 kB\nSlab: 100000 kB\nSReclaimable: 60000 kB\n\
             SUnreclaim: 40000 kB\nKernelStack: 5000 kB\nPageTables: 5000 kB\nVmallocUsed: 0 kB\n\
             Percpu: 1000 kB\nHugePages_Total: 0\nHugePages_Free: 0\nHugepagesize: 2048 kB\n\
             Hugetlb: 0 kB\n",
            kib(MANAGED), kib(free), kib(100_000 + file / 2), kib(1000 + file / 2),
        ),
        );
    }

    /// The effect of `pages` of allocations: kswapd wakes below low and keeps up as far as
    /// `reclaim` goes. Below min there are stalls.
    pub fn allocate(&mut self, pages: u64, reclaim: u64) {
        let (low, high) = (self.low(), self.high());
        self.free = self.free.saturating_sub(pages);
        if self.free < low {
            let got = reclaim.min(high.saturating_sub(self.free));
            self.free += got;
            self.steal_kswapd += got;
        }
        if self.free < MIN {
            self.allocstall += 50;
            self.steal_direct += MIN - self.free;
            self.free = MIN;
        }
        self.write();
    }
}
