//! Memory and processes of a machine of files.
#![allow(dead_code)] // Each test file uses its own part of it.
use crate::common::{FakeMachine, MANAGED};

/// What protection looks at. Pages.
#[derive(Clone, Debug)]
pub struct Memory {
    pub free: u64,
    pub file: u64,
    pub dirty: u64,
    pub anon: u64,
    pub swap_total: u64,
    pub swap_free: u64,
    pub swapped_out: u64,
    pub stolen: u64,
}

impl Memory {
    pub fn plenty() -> Memory {
        Memory {
            free: 300_000,
            file: 500_000,
            dirty: 0,
            anon: 200_000,
            swap_total: 200_000,
            swap_free: 200_000,
            swapped_out: 0,
            stolen: 0,
        }
    }

    /// Swap full, free pages under high, clean pages under 15%.
    pub fn exhausted(machine: &FakeMachine) -> Memory {
        Memory {
            free: machine.low() - 100,
            file: 140_000,
            anon: 800_000,
            swap_free: 500,
            ..Memory::plenty()
        }
    }

    /// Somebody takes memory, and reclaim keeps up.
    pub fn take(&mut self, machine: &FakeMachine) {
        self.stolen += 1_000;
        self.write(machine);
    }

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
                 workingset_activate_file 0\noom_kill 0\n",
                self.free,
                self.dirty,
                self.swapped_out,
                self.stolen,
                self.stolen / 100
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
                 VmallocUsed: 0 kB\nHugePages_Total: 0\nHugepagesize: 2048 kB\n",
                MANAGED * 4,
                self.free * 4,
                self.swap_total * 4,
                self.swap_free * 4
            ),
        );
    }
}

/// One process.
pub struct Person {
    pid: u32,
    name: String,
    parent: u32,
    session: u32,
    uid: u32,
    anon: Option<u64>,
    swap: u64,
    adj: i32,
    cgroup: String,
    killed: bool,
    young: bool,
    maps: &'static str,
}

impl Person {
    pub fn new(pid: u32, name: &str) -> Person {
        Person {
            pid,
            name: name.to_owned(),
            parent: 1,
            session: 900,
            uid: 1000,
            anon: Some(0),
            swap: 0,
            adj: 0,
            cgroup: "/user.slice/user-1000.slice/app.slice".to_owned(),
            killed: false,
            young: false,
            maps: "",
        }
    }

    pub fn memory(self, bytes: u64) -> Person {
        Person {
            anon: Some(bytes),
            ..self
        }
    }

    pub fn swap(self, swap: u64) -> Person {
        Person { swap, ..self }
    }

    pub fn adj(self, adj: i32) -> Person {
        Person { adj, ..self }
    }

    pub fn parent(self, parent: u32) -> Person {
        Person { parent, ..self }
    }

    pub fn session(self, session: u32) -> Person {
        Person { session, ..self }
    }

    pub fn cgroup(self, cgroup: &str) -> Person {
        Person {
            cgroup: cgroup.to_owned(),
            ..self
        }
    }

    pub fn dying(self) -> Person {
        Person {
            killed: true,
            ..self
        }
    }

    /// Started just now, whenever that is looked at.
    pub fn young(self) -> Person {
        Person {
            young: true,
            ..self
        }
    }

    /// What it has mapped.
    pub fn maps(self, maps: &'static str) -> Person {
        Person { maps, ..self }
    }

    pub fn kernel_thread(self) -> Person {
        Person { anon: None, ..self }
    }

    pub fn write(&self, machine: &FakeMachine) {
        let (pid, name) = (self.pid, &self.name);
        let put = |file: &str, words: &str| machine.put(&format!("proc/{pid}/{file}"), words);
        let memory = self.anon.map_or(String::new(), |anon| {
            format!(
                "VmRSS:\t{} kB\nRssAnon:\t{} kB\nVmSwap:\t{} kB\n",
                (anon >> 10) + 9_999,
                anon >> 10,
                self.swap >> 10
            )
        });
        let pending = u64::from(self.killed) << 8;
        put(
            "status",
            &format!(
                "Name:\t{name}\nState:\tS (sleeping)\nPid:\t{pid}\nPPid:\t{}\nUid:\t{}\t0\t0\t0\n\
                 {memory}SigPnd:\t{pending:016x}\nShdPnd:\t0000000000000000\n",
                self.parent, self.uid
            ),
        );
        let start = if self.young { u64::MAX / 2 } else { 1000 };
        put("maps", self.maps);
        // A name that tries to look like fields.
        put(
            "stat",
            &format!(
                "{pid} ({name}) 1 2) S {} {pid} {} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {} 0 0\n",
                self.parent,
                self.session,
                start + u64::from(pid)
            ),
        );
        put("oom_score_adj", &format!("{}\n", self.adj));
        put("cgroup", &format!("0::{}\n", self.cgroup));
    }
}
