//! The orders of a trial's guest: workload, kernel settings and devices.
use super::arm::{Arm, Lru, LRU_GEN};
use super::definition::Experiment;
use protocol::spec::{Disk, GuestSpec, Knob, Root, Scratch, Task, Workload};
use protocol::work::Work;

/// The devices of a guest's disks. Those of disks that the guest has not are not used.
pub struct Devices<'a> {
    pub data: &'a str,
    pub scratch: &'a str,
    pub root: &'a str,
}

impl Experiment {
    /// Workers and scenes with every size in bytes.
    pub fn workload(&self) -> Workload {
        let whole = self.memory_bytes();
        let mut workers = self.workers.clone();
        for worker in workers.values_mut() {
            worker.memory_max = worker.memory_max.resolve(whole);
            for (_, size) in worker.does.sizes() {
                *size = size.resolve(whole);
            }
            if let Work::KnobLoop(knobs) = &mut worker.does {
                for (name, _) in &mut knobs.writes {
                    *name = knob_path(name);
                }
            }
            if let Work::KillDaemon(kill) = &mut worker.does {
                for name in &mut kill.knobs {
                    *name = knob_path(name);
                }
            }
        }
        Workload {
            workers,
            scenes: self.scenes.clone(),
            exhausted_below: self.exhausted_below.resolve(whole),
        }
    }

    /// The kernel files that an arm sets, in order; the choice of LRU comes first.
    pub fn knobs(arm: &Arm) -> Vec<Knob> {
        let lru = arm.lru.map(|lru| Knob {
            path: LRU_GEN.into(),
            value: if lru == Lru::Classic { "0" } else { "7" }.into(),
        });
        let rest = arm.knobs.iter().map(|(name, value)| Knob {
            path: knob_path(name),
            value: value.clone(),
        });
        lru.into_iter().chain(rest).collect()
    }

    /// The orders of one trial's guest.
    pub fn spec(&self, arm: &Arm, seed: u64, devices: &Devices<'_>) -> GuestSpec {
        GuestSpec {
            seed,
            knobs: Experiment::knobs(arm),
            zram_mb: arm.zram_mb.unwrap_or(self.machine.zram_mb),
            disk: Disk {
                device: devices.data.into(),
                read_bps: self.machine.disk_read.resolve(self.memory_bytes()).bytes(),
                read_iops: self.machine.disk_read_iops,
            },
            scratch: (self.machine.scratch_mb > 0).then(|| Scratch {
                device: devices.scratch.into(),
                write_bps: self.machine.disk_write.resolve(self.memory_bytes()).bytes(),
                swap_mb: self.machine.swap_mb,
            }),
            root: self.root.as_ref().map(|_| Root {
                device: devices.root.into(),
                write_bps: self.machine.disk_write.resolve(self.memory_bytes()).bytes(),
            }),
            daemon: arm.daemon.as_ref().map(|daemon| {
                let own = crate::guest::initramfs::DAEMON;
                let program = match daemon.program.as_deref() {
                    None => vec![own.into()],
                    // The first program enters the root, and becomes the daemon there.
                    Some(program) if daemon.in_root => {
                        vec!["/init".into(), "in-root".into(), program.into()]
                    }
                    Some(program) => vec![crate::guest::host_program::place(program)],
                };
                protocol::spec::Daemon {
                    command: [program, daemon.arguments.clone()].concat(),
                    start: daemon.start,
                    foreign: daemon.program.is_some(),
                }
            }),
            sample_ms: self.machine.sample_ms,
            trace: self.machine.trace.clone(),
            task: Task::Scenes {
                workload: self.workload(),
            },
        }
    }
}

/// `vm.swappiness` is `/proc/sys/vm/swappiness`, as with sysctl(8); a path stays one.
fn knob_path(name: &str) -> String {
    if name.starts_with('/') {
        name.to_string()
    } else {
        format!("/proc/sys/{}", name.replace('.', "/"))
    }
}
