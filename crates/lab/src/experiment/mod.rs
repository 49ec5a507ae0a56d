//! Experiment files: what an experiment consists of, and how it is read.
//!
//! An experiment is one TOML file. A preset deep-merges a table of the same file over it, and
//! `--set` a line of the command line over that; then the whole is checked. Whatever is wrong is
//! told with file, line and field ([`Broken`]).
mod check;
mod find;
mod source;
mod sweep;

pub use find::{find, list};
pub use source::Broken;

use crate::bed::Kind;
use raw::comparison::Comparison;
use raw::plan::{Chart, Curve, Figure, Plan, Promise, Relative};
use raw::record::Point;
use raw::size::Size;
use raw::spec::{Disk, GuestSpec, Knob, Scene, Scratch, Task, Trace, Work, Worker, Workload};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Which LRU runs, as a mask of what MGLRU does.
pub const LRU_GEN: &str = "/sys/kernel/mm/lru_gen/enabled";

/// What the command line changes of an experiment file.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Name of a table below `[presets]`.
    pub preset: Option<String>,
    /// Lines such as `machine.memory_mb=256`.
    pub set: Vec<String>,
}

/// A read and checked experiment.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The file's name without `.toml`.
    pub name: String,
    pub path: PathBuf,
    /// The file's text.
    pub text: String,
    /// Names of the presets that the file has.
    pub presets: Vec<String>,
    pub title: String,
    pub about: String,
    pub repetitions: u32,
    pub seed: u64,
    pub machine: Machine,
    pub files: BTreeMap<String, Size>,
    pub workers: BTreeMap<String, Worker>,
    pub scenes: Vec<Scene>,
    /// See [`Workload::exhausted_below`].
    pub exhausted_below: Size,
    pub arms: Vec<Arm>,
    pub plan: Plan,
}

/// The guest that every arm runs on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Machine {
    pub bed: Kind,
    pub memory_mb: u64,
    /// Sizes of the machine's memory nodes, which sum to `memory_mb`; none for one node. QEMU only.
    pub numa: Vec<Size>,
    /// Whether the guest's clock counts instructions, a nanosecond each. QEMU with one CPU only.
    pub icount: bool,
    pub cpus: u32,
    /// Size of the zram swap device; 0 for a guest without swap.
    pub zram_mb: u64,
    /// Bytes a second that the guest may read from its disk; 0 for no limit.
    pub disk_read: Size,
    /// Read operations a second; 0 for no limit.
    pub disk_read_iops: u64,
    /// Size of a disk that workers may write to, empty at the begin of each trial; 0 for none.
    pub scratch_mb: u64,
    /// Bytes a second that the guest may write to it; 0 for no limit.
    pub disk_write: Size,
    /// Size of a swap file on that disk; 0 for none.
    pub swap_mb: u64,
    /// Period of the gauges' samples, in milliseconds.
    pub sample_ms: u64,
    /// A guest that says nothing for this many seconds has hung. A stock kernel that thrashes has
    /// been seen to stand still for 96 s and come back.
    pub silent_s: u64,
    /// What the kernel is traced for.
    pub trace: Vec<Trace>,
    /// Words for the kernel's command line: `cgroup_disable=memory`.
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
            swap_mb: 0,
            sample_ms: 500,
            silent_s: 180,
            trace: Vec::new(),
            command_line: Vec::new(),
        }
    }
}

/// Which patches a kernel carries: `kernel =` takes the words of [`kbuild::Flavour`].
pub use kbuild::Flavour as Kernel;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lru {
    Classic,
    Mglru,
}

/// One side of the comparison.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Part of file names: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// For tables and legends; the name when left out.
    #[serde(default)]
    pub label: String,
    pub kernel: Kernel,
    /// The kernel's line, `7.3`.
    #[serde(default = "default_version")]
    pub version: String,
    /// Which of the kernel's two reclaim algorithms runs; the kernel's default when left out.
    pub lru: Option<Lru>,
    /// The arm that ratios are taken against.
    pub baseline: Option<String>,
    /// Sysctls (`vm.swappiness`) or absolute paths, in the order in which they are to be written.
    #[serde(default, deserialize_with = "ordered")]
    pub knobs: Vec<(String, String)>,
    /// Another size of memory for this arm alone. Sizes in percent stay those of the machine, so
    /// that the work is the same.
    pub memory_mb: Option<u64>,
    /// Another size of the zram swap device for this arm alone.
    pub zram_mb: Option<u64>,
    /// The daemon that runs from before the first scene to after the last.
    #[serde(default)]
    pub daemon: Option<Daemon>,
    /// Where the arm stands on the curves; a sweep sets it.
    pub point: Option<Point>,
    /// The number of the sweep that the arm was made of, for messages.
    #[serde(skip)]
    pub sweep: Option<usize>,
}

/// A daemon in an arm's guests: `hotsetd`, or another.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Daemon {
    /// Its configuration, as in hotsetd.conf(5), over the lab's own: the log goes to the results, and
    /// there is no status socket, since User-Mode Linux is built without any.
    #[serde(default)]
    pub config: toml::Table,
    /// False where a worker starts it ([`Work::KillDaemon`]).
    #[serde(default = "yes")]
    pub start: bool,
    /// Another program in its place, with its libraries: see [`crate::foreign`].
    pub program: Option<String>,
    /// That program's arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
}

fn yes() -> bool {
    true
}

impl Daemon {
    /// The configuration file's text.
    pub fn text(&self) -> String {
        let mut table = toml::Table::new();
        table.insert("log".into(), "stderr".into());
        let mut status = toml::Table::new();
        status.insert("socket".into(), "".into());
        table.insert("status".into(), status.into());
        // Tables come last in a file of TOML.
        let (tables, plain): (Vec<_>, Vec<_>) = { table.into_iter() }
            .chain(self.config.clone())
            .partition(|(_, value)| value.is_table());
        let mut whole = toml::Table::new();
        whole.extend(plain);
        whole.extend(tables);
        whole.to_string()
    }
}

fn default_version() -> String {
    "7.3".into()
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    title: String,
    #[serde(default)]
    about: String,
    #[serde(default = "default_repetitions")]
    repetitions: u32,
    #[serde(default = "default_seed")]
    seed: u64,
    #[serde(default)]
    machine: Machine,
    #[serde(default)]
    files: BTreeMap<String, Size>,
    workers: BTreeMap<String, Worker>,
    scenes: Vec<Scene>,
    #[serde(default)]
    exhausted_below: Size,
    #[serde(default)]
    arms: Vec<Arm>,
    #[serde(default)]
    sweeps: Vec<sweep::Sweep>,
    #[serde(default)]
    figures: Vec<Figure>,
    #[serde(default)]
    charts: Vec<Chart>,
    #[serde(default)]
    curves: Vec<Curve>,
    #[serde(default)]
    comparisons: Vec<Comparison>,
    #[serde(default)]
    promises: Vec<Promise>,
}

fn default_repetitions() -> u32 {
    5
}

fn default_seed() -> u64 {
    1
}

impl Experiment {
    /// Reads, merges and checks an experiment file.
    pub fn load(path: &Path, changes: &Changes) -> Result<Experiment, Broken> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Broken::unreadable(path, error))?;
        Experiment::parse(path, &text, changes)
    }

    /// The same of a text that is already read; `path` is for messages and for the name.
    pub fn parse(path: &Path, text: &str, changes: &Changes) -> Result<Experiment, Broken> {
        let pieces = source::Pieces::new(path, text, &changes.set)?;
        let (tree, presets) = pieces.merge(changes.preset.as_deref())?;
        let form: Form = pieces.read(&tree)?;
        let mut arms = form.arms;
        for (place, sweep) in form.sweeps.iter().enumerate() {
            arms.extend(sweep.arms(place));
        }
        for arm in &mut arms {
            if arm.label.is_empty() {
                arm.label.clone_from(&arm.name);
            }
        }
        let experiment = Experiment {
            name: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            path: path.to_path_buf(),
            text: text.to_string(),
            presets,
            title: form.title,
            about: form.about,
            repetitions: form.repetitions,
            seed: form.seed,
            machine: form.machine,
            files: form.files,
            workers: form.workers,
            scenes: form.scenes,
            exhausted_below: form.exhausted_below,
            arms,
            plan: Plan {
                figures: form.figures,
                charts: form.charts,
                curves: form.curves,
                comparisons: form.comparisons,
                promises: form.promises,
            },
        };
        check::all(&experiment).map_err(|fault| pieces.broken(&tree, &fault))?;
        Ok(experiment)
    }

    fn memory_bytes(&self) -> u64 {
        self.machine.memory_mb << 20
    }

    /// Sizes of the memory nodes in MiB.
    pub fn nodes_mb(&self) -> Vec<u64> {
        let whole = self.memory_bytes();
        let sizes = self.machine.numa.iter();
        sizes
            .map(|size| size.resolve(whole).bytes() >> 20)
            .collect()
    }

    /// Every arm on another line of kernels, `6.12` for instance.
    pub fn on_line(&mut self, line: kbuild::Line) {
        for arm in &mut self.arms {
            arm.version = line.to_string();
        }
    }

    /// Files of the data disk, in bytes.
    pub fn file_sizes(&self) -> BTreeMap<String, u64> {
        let whole = self.memory_bytes();
        let sizes = self.files.iter();
        sizes
            .map(|(name, size)| (name.clone(), size.resolve(whole).bytes()))
            .collect()
    }

    /// Whether a worker has a real database.
    pub fn has_database(&self) -> bool {
        let mut workers = self.workers.values();
        workers.any(|worker| matches!(worker.does, Work::MakeDatabase(_) | Work::LookUp(_)))
    }

    /// Workers and scenes with every size in bytes.
    pub fn workload(&self) -> Workload {
        let whole = self.memory_bytes();
        let mut workers = self.workers.clone();
        for worker in workers.values_mut() {
            worker.memory_max = worker.memory_max.resolve(whole);
            for (_, size) in sizes_of(&mut worker.does) {
                *size = size.resolve(whole);
            }
            if let Work::KnobLoop { writes, .. } = &mut worker.does {
                for (name, _) in writes {
                    *name = knob_path(name);
                }
            }
            if let Work::KillDaemon { knobs, .. } = &mut worker.does {
                for name in knobs {
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

    /// Kernel files that an arm sets, in order: the choice of LRU first.
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

    /// What the guest of one trial is told.
    pub fn spec(&self, arm: &Arm, seed: u64, device: &str, scratch: &str) -> GuestSpec {
        GuestSpec {
            seed,
            knobs: Experiment::knobs(arm),
            zram_mb: arm.zram_mb.unwrap_or(self.machine.zram_mb),
            disk: Disk {
                device: device.into(),
                read_bps: self.machine.disk_read.resolve(self.memory_bytes()).bytes(),
                read_iops: self.machine.disk_read_iops,
            },
            scratch: (self.machine.scratch_mb > 0).then(|| Scratch {
                device: scratch.into(),
                write_bps: self.machine.disk_write.resolve(self.memory_bytes()).bytes(),
                swap_mb: self.machine.swap_mb,
            }),
            daemon: arm.daemon.as_ref().map(|daemon| {
                let own = crate::initramfs::DAEMON;
                let foreign = daemon.program.as_deref().map(crate::foreign::place);
                let program = foreign.clone().unwrap_or_else(|| own.into());
                raw::spec::Daemon {
                    command: { [program].into_iter() }
                        .chain(daemon.arguments.iter().cloned())
                        .collect(),
                    start: daemon.start,
                    foreign: foreign.is_some(),
                }
            }),
            sample_ms: self.machine.sample_ms,
            trace: self.machine.trace.clone(),
            task: Task::Play {
                workload: self.workload(),
            },
        }
    }

    /// Leaves only the named arms, and those of the named series, and of promises and ratios only what these suffice for.
    ///
    /// # Errors
    /// When an arm is not known.
    pub fn only(&mut self, names: &[String]) -> anyhow::Result<()> {
        let of_series = |name: &String| {
            let arms = self.arms.iter().filter(|arm| {
                let point = arm.point.as_ref();
                point.is_some_and(|point| point.series == *name)
            });
            let arms: Vec<String> = arms.map(|arm| arm.name.clone()).collect();
            match arms.is_empty() {
                true => vec![name.clone()],
                false => arms,
            }
        };
        let names: Vec<String> = names.iter().flat_map(of_series).collect();
        let known: Vec<&String> = self.arms.iter().map(|arm| &arm.name).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(name)) {
            anyhow::bail!("no arm is called {name:?}; {}", source::there_are(&known));
        }
        let before = self.arms.clone();
        self.arms.retain(|arm| names.contains(&arm.name));
        for arm in &mut self.arms {
            arm.baseline = arm.baseline.take().filter(|name| names.contains(name));
        }
        for comparison in &mut self.plan.comparisons {
            comparison.to.retain(|name| names.contains(name));
        }
        self.plan
            .comparisons
            .retain(|comparison| names.contains(&comparison.from) && !comparison.to.is_empty());
        let arms = &self.arms;
        for promise in &mut self.plan.promises {
            let relative = promise.relative_to == Relative::Baseline;
            promise.arms.retain(|name| {
                let arm = arms.iter().find(|arm| arm.name == *name);
                arm.is_some_and(|arm| !relative || arm.baseline.is_some())
            });
        }
        // A series with some of its points is not what a promise was made of.
        let whole = |series: &String| {
            let of = |arm: &&Arm| {
                arm.point
                    .as_ref()
                    .is_some_and(|point| point.series == *series)
            };
            before.iter().filter(of).count() == arms.iter().filter(of).count()
        };
        for promise in &mut self.plan.promises {
            promise.series.retain(whole);
            if promise.relative_to == Relative::Baseline {
                promise.series.retain(|series| {
                    let mut of = arms.iter().filter(|arm| {
                        let point = arm.point.as_ref();
                        point.is_some_and(|point| point.series == *series)
                    });
                    of.all(|arm| arm.baseline.is_some())
                });
            }
            if let Relative::Series(other) = &promise.relative_to {
                if !whole(other) {
                    promise.series.clear();
                    promise.arms.clear();
                }
            }
        }
        self.plan
            .promises
            .retain(|promise| !promise.arms.is_empty() || !promise.series.is_empty());
        Ok(())
    }

    /// The longest that the scenes of one trial are meant to take, in seconds.
    pub fn scene_seconds(&self) -> f64 {
        self.scenes.iter().map(|scene| scene.seconds).sum()
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

/// Every size in a piece of work, with the name of its field.
fn sizes_of(work: &mut Work) -> Vec<(&'static str, &mut Size)> {
    match work {
        Work::Hog { size, rate, .. } => vec![("size", size), ("rate", rate)],
        Work::Touch { size, .. } => vec![("size", size)],
        Work::Fixed { size, read, .. } => vec![("size", size), ("read", read)],
        Work::Ask { amount, .. } => vec![("amount", amount)],
        Work::Churn { size, .. }
        | Work::Tree { size, .. }
        | Work::HugePages { size, .. }
        | Work::Pipes { size, .. }
        | Work::Forks { size, .. } => vec![("size", size)],
        Work::Compile { memory, object, .. } => vec![("memory", memory), ("object", object)],
        Work::AppCycle(apps) => apps.sizes(),
        Work::Access(access) => access.rule.sizes(),
        Work::MakeDatabase(make) => vec![("size", &mut make.size)],
        Work::LookUp(look_up) => vec![("cache", &mut look_up.cache)],
        Work::Stream { .. }
        | Work::Probe { .. }
        | Work::ReadOnce { .. }
        | Work::Pass { .. }
        | Work::Squeeze { .. }
        | Work::Age { .. }
        | Work::Names {}
        | Work::CopyTree { .. }
        | Work::KnobLoop { .. }
        | Work::KillDaemon { .. } => vec![],
    }
}

/// A table of strings, integers and switches whose order counts.
fn ordered<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string, an integer or a switch")]
    enum Value {
        Text(String),
        Number(i64),
        Switch(bool),
    }
    struct Table;
    impl<'de> Visitor<'de> for Table {
        type Value = Vec<(String, String)>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table of kernel settings")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some((name, value)) = map.next_entry()? {
                let value = match value {
                    Value::Text(text) => text,
                    Value::Number(number) => number.to_string(),
                    Value::Switch(on) => u8::from(on).to_string(),
                };
                entries.push((name, value));
            }
            Ok(entries)
        }
    }
    from.deserialize_map(Table)
}
