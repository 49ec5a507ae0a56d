//! An experiment, read and checked.
use super::arm::Arm;
use super::machine::{Machine, Root};
use super::places::Places;
use super::text::source::Broken;
use protocol::plan::Plan;
use protocol::size::Size;
use protocol::spec::{Scene, Worker};
use protocol::work::Work;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
    /// The root of workers that are programs.
    pub root: Option<Root>,
    pub workers: BTreeMap<String, Worker>,
    pub scenes: Vec<Scene>,
    /// See [`protocol::spec::Workload::exhausted_below`].
    pub exhausted_below: Size,
    pub arms: Vec<Arm>,
    pub plan: Plan,
    /// What is probably a mistake in the file, and does not hinder a run.
    pub notes: Vec<Broken>,
    pub places: Places,
}

impl Experiment {
    /// The experiment as an arm's guests see it.
    pub fn of(&self, arm: &Arm) -> Experiment {
        Experiment {
            machine: self.machine.of(arm),
            ..self.clone()
        }
    }

    /// The processors of the arm that has most.
    pub fn most_cpus(&self) -> u32 {
        let cpus = self.arms.iter().filter_map(|arm| arm.cpus);
        cpus.fold(self.machine.cpus, u32::max)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
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

    /// Every arm on another line of kernels, `6.12` for instance. A tree and an image are of the line
    /// that they are of.
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

    /// The planned length of all scenes of one trial, in seconds.
    pub fn scene_seconds(&self) -> f64 {
        self.scenes.iter().map(|scene| scene.seconds).sum()
    }
}
