//! A machine that is written down, a record a second.
use explain::{episode, points, Story};
use flight::{Cgroup, Group, Process, Record};
use kernfs::samples::{Node, Pressure, PressureLine};
use watermarks::Watermarks;

pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// A machine of one node.
pub struct Machine {
    pub records: Vec<Record>,
    total: u64,
    swap: u64,
    processes: Vec<Process>,
    pub crowd: Option<Group>,
    pub cgroup: Option<Cgroup>,
    pub shmem: u64,
    pub slab: u64,
    pub hugetlb: u64,
    vmstat: std::collections::BTreeMap<String, u64>,
    waited_us: u64,
}

impl Machine {
    pub fn new(total: u64, swap: u64) -> Machine {
        Machine {
            records: Vec::new(),
            total,
            swap,
            processes: Vec::new(),
            crowd: None,
            cgroup: None,
            shmem: 0,
            slab: 100 * MIB,
            hugetlb: 0,
            vmstat: Default::default(),
            waited_us: 0,
        }
    }

    /// Sets the memory of a process; with 0 it ends.
    pub fn process(&mut self, pid: i32, name: &str, bytes: u64) {
        let start_s = self.records.len() as f64;
        let old = self.processes.iter().position(|one| one.pid == pid);
        match old {
            Some(at) if bytes == 0 => {
                self.processes.remove(at);
            }
            Some(at) => self.processes[at].kib = bytes >> 10,
            None => self.processes.push(Process {
                pid,
                name: name.into(),
                uid: 1000,
                kib: bytes >> 10,
                start_s,
                unit: "/user.slice/app.scope".into(),
                ..Process::default()
            }),
        }
    }

    /// A cgroup of 512 MiB that reaches its limit, with one process.
    pub fn at_its_limit() -> Machine {
        let mut machine = Machine::new(8 * GIB, 0);
        machine.process(300, "java", 400 * MIB);
        machine.unit(300, "/system.slice/app.service");
        machine.cgroup = Some(Cgroup {
            name: "system.slice/app.service".into(),
            kib: 500 << 10,
            max: 512 << 10,
            ..Cgroup::default()
        });
        machine.calm(60);
        // A program that starts and takes nothing more: the machine's memory is not what ends.
        for step in 0..20 {
            machine.process(200, "browser", step * 100 * MIB);
            machine.seconds(1, 0.0);
        }
        machine.counter("workingset_nodes", 200);
        machine.cgroup.as_mut().unwrap().kib = 511 << 10;
        machine.process(300, "java", 510 * MIB);
        machine.seconds(10, 0.7);
        machine
    }

    /// Free memory, and compaction that fails.
    pub fn in_pieces() -> Machine {
        let mut machine = Machine::new(8 * GIB, 0);
        machine.process(100, "database", GIB);
        machine.calm(60);
        for _ in 0..10 {
            // As of a guest (preset pieces of the experiment freezes).
            machine.counter("compact_stall", 5);
            machine.counter("allocstall_movable", 47);
            machine.seconds(1, 0.5);
        }
        machine
    }

    /// The story of its last event.
    pub fn story(&self) -> Story {
        let points = points::of(&self.records, 4096);
        let episodes = episode::find(&points);
        let chosen = episode::choose(&episodes, None).expect("an episode");
        explain::tell(&self.records, 4096, chosen)
    }

    pub fn unit(&mut self, pid: i32, unit: &str) {
        let found = self.processes.iter_mut().find(|one| one.pid == pid);
        found.unwrap().unit = unit.into();
    }

    /// Adds to a counter of /proc/vmstat.
    pub fn counter(&mut self, name: &str, more: u64) {
        *self.vmstat.entry(name.into()).or_default() += more;
    }

    pub fn calm(&mut self, seconds: u64) {
        self.seconds(seconds, 0.0);
    }

    /// So many seconds, with a share of the time in which every task waits.
    pub fn seconds(&mut self, seconds: u64, full: f64) {
        for _ in 0..seconds {
            self.waited_us += (full * 1e6) as u64;
            if let Some(cgroup) = &mut self.cgroup {
                cgroup.some += (full * 1e6) as u64;
            }
            self.record();
        }
    }

    fn record(&mut self) {
        let number = self.records.len() as u64;
        let crowd: u64 = self.crowd.iter().map(|crowd| crowd.kib << 10).sum();
        let anon = self.processes.iter().map(|one| one.kib << 10).sum::<u64>() + crowd;
        let used = anon + self.shmem + self.slab + self.hugetlb + 200 * MIB;
        let swapped = used.saturating_sub(self.total - 100 * MIB).min(self.swap);
        let free = (self.total + swapped).saturating_sub(used).max(50 * MIB);
        let line = Some(PressureLine {
            total: self.waited_us,
            ..PressureLine::default()
        });
        let mut record = Record {
            number,
            unix_s: 1.7e9 + number as f64,
            boot: "12345678".into(),
            processes: self.processes.clone(),
            groups: self.crowd.iter().cloned().collect(),
            cgroups: self.cgroup.iter().cloned().collect(),
            ..Record::default()
        };
        record.sample.t = number as f64;
        record.sample.vmstat = self.vmstat.clone();
        for (name, bytes) in [
            ("MemTotal", self.total),
            ("MemFree", free / 2),
            ("MemAvailable", free.saturating_sub(40 * MIB)),
            ("AnonPages", anon),
            ("Shmem", self.shmem),
            ("SUnreclaim", self.slab),
            ("Hugetlb", self.hugetlb),
            ("SwapTotal", self.swap),
            ("SwapFree", self.swap - swapped),
        ] {
            record.sample.meminfo.insert(name.into(), bytes >> 10);
        }
        let huge = self.hugetlb / (2 * MIB);
        record.sample.meminfo.insert("HugePages_Total".into(), huge);
        record.sample.meminfo.insert("HugePages_Free".into(), huge);
        let pressure = Pressure {
            some: line,
            full: line,
        };
        record.sample.psi.insert("memory".into(), pressure);
        record.sample.nodes.push(Node {
            managed: self.total / 4096,
            free: free / 2 / 4096,
            watermarks: Watermarks {
                min: 4000,
                low: 5000,
                high: 6000,
            },
            inactive_file: free / 2 / 4096,
            ..Node::default()
        });
        self.records.push(record);
    }
}
