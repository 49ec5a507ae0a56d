//! A process of a machine of files.
#![allow(dead_code)] // Each test file uses its own part of this one.
use crate::common::FakeMachine;

/// A process below /proc. Memory is in bytes.
pub struct FakeProcess {
    pid: u32,
    name: String,
    parent: u32,
    session: u32,
    uid: u32,
    anon: Option<u64>,
    swap: u64,
    shared: u64,
    tables: u64,
    groups: usize,
    contained: bool,
    adj: i32,
    cgroup: String,
    killed: bool,
    young: bool,
    maps: String,
}

impl FakeProcess {
    pub fn new(pid: u32, name: &str) -> FakeProcess {
        FakeProcess {
            pid,
            name: name.to_owned(),
            parent: 1,
            session: 900,
            uid: 1000,
            anon: Some(0),
            swap: 0,
            shared: 0,
            tables: 0,
            groups: 0,
            contained: false,
            adj: 0,
            cgroup: "/user.slice/user-1000.slice/app.slice".to_owned(),
            killed: false,
            young: false,
            maps: String::new(),
        }
    }

    pub fn memory(self, bytes: u64) -> FakeProcess {
        FakeProcess {
            anon: Some(bytes),
            ..self
        }
    }

    pub fn swap(self, swap: u64) -> FakeProcess {
        FakeProcess { swap, ..self }
    }

    /// Memory of memfd and MAP_SHARED, bytes.
    pub fn shared(self, shared: u64) -> FakeProcess {
        FakeProcess { shared, ..self }
    }

    /// Page tables, bytes.
    pub fn tables(self, tables: u64) -> FakeProcess {
        FakeProcess { tables, ..self }
    }

    /// Belongs to so many groups.
    pub fn groups(self, groups: usize) -> FakeProcess {
        FakeProcess { groups, ..self }
    }

    pub fn uid(self, uid: u32) -> FakeProcess {
        FakeProcess { uid, ..self }
    }

    /// Lives in a namespace of pids.
    pub fn contained(self) -> FakeProcess {
        FakeProcess {
            contained: true,
            ..self
        }
    }

    pub fn adj(self, adj: i32) -> FakeProcess {
        FakeProcess { adj, ..self }
    }

    pub fn parent(self, parent: u32) -> FakeProcess {
        FakeProcess { parent, ..self }
    }

    pub fn session(self, session: u32) -> FakeProcess {
        FakeProcess { session, ..self }
    }

    pub fn cgroup(self, cgroup: &str) -> FakeProcess {
        FakeProcess {
            cgroup: cgroup.to_owned(),
            ..self
        }
    }

    /// Has a SIGKILL pending.
    pub fn dying(self) -> FakeProcess {
        FakeProcess {
            killed: true,
            ..self
        }
    }

    /// Started just now, at any time of a sample.
    pub fn young(self) -> FakeProcess {
        FakeProcess {
            young: true,
            ..self
        }
    }

    /// The text of /proc/PID/maps.
    pub fn maps(self, maps: &str) -> FakeProcess {
        FakeProcess {
            maps: maps.to_owned(),
            ..self
        }
    }

    pub fn kernel_thread(self) -> FakeProcess {
        FakeProcess { anon: None, ..self }
    }

    /// Writes the process's files.
    pub fn write(&self, machine: &FakeMachine) {
        let (pid, name) = (self.pid, &self.name);
        let put = |file: &str, text: &str| machine.put(&format!("proc/{pid}/{file}"), text);
        let memory = self.anon.map_or(String::new(), |anon| {
            format!(
                "VmRSS:\t{} kB\nRssAnon:\t{} kB\nRssFile:\t9999 kB\nRssShmem:\t{} kB\n\
                 VmPTE:\t{} kB\nVmSwap:\t{} kB\n",
                ((anon + self.shared) >> 10) + 9_999,
                anon >> 10,
                self.shared >> 10,
                self.tables >> 10,
                self.swap >> 10
            )
        });
        let groups = "1000000 ".repeat(self.groups);
        let inner = if self.contained { "\t7" } else { "" };
        let pending = u64::from(self.killed) << 8;
        put(
            "status",
            &format!(
                "Name:\t{name}\nState:\tS (sleeping)\nPid:\t{pid}\nPPid:\t{}\nUid:\t{}\t0\t0\t0\n\
                 Groups:\t{groups}\nNSpid:\t{pid}{inner}\n{memory}SigPnd:\t{pending:016x}\nShdPnd:\t0000000000000000\n",
                self.parent, self.uid
            ),
        );
        let start = if self.young { u64::MAX / 2 } else { 1000 };
        put("maps", &self.maps);
        // The name could be mistaken for fields.
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
