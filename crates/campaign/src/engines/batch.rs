//! What an engine gets, and what it does.
use crate::folder::Folder;
use crate::plan::Limits;
use anyhow::Result;

/// Tasks with equal limits, which an engine gets at once.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The name of the array and of its files. It begins with the campaign's [`prefix`].
    pub name: String,
    /// From 1.
    pub attempt: u32,
    /// The limits of each task.
    pub limits: Limits,
    /// The tasks of each element of the array.
    pub elements: Vec<Vec<usize>>,
}

impl Batch {
    /// Seconds in which each element has ended: its first task may take its whole time, and all others together what
    /// a bundle does. Processes also begin and end.
    pub fn seconds(&self, bundle: f64) -> u64 {
        self.limits.seconds + (bundle * 8.0).ceil() as u64 + 30
    }

    /// The memory of an element in MiB.
    pub fn mebibytes(&self) -> u64 {
        // The task's own limit must be met first: it leaves a word, a scheduler's kill does not.
        (self.limits.memory >> 20) + 64
    }
}

/// How the names of a campaign's arrays begin.
pub fn prefix(folder: &Folder) -> String {
    format!("hotset-{}", &folder.hash[..8])
}

/// What runs tasks. It schedules, limits and ends them; what became of them is in the campaign's folder.
pub trait Engine {
    /// The name as `--on` takes it.
    fn name(&self) -> &'static str;

    /// Predicted seconds up to which tasks are bundled into one process, of a campaign with so many seconds. A
    /// cluster with 64 processors or fewer has work for each.
    fn bundle(&self, all: f64) -> f64 {
        (all / 64.0).clamp(1.0, 10.0)
    }

    /// The most elements of an array.
    ///
    /// # Errors
    /// The engine does not answer.
    fn longest_array(&self) -> Result<usize> {
        Ok(10_000)
    }

    /// Waits for what was submitted by a run that did not wait until its end. Tasks of it would run twice.
    ///
    /// # Errors
    /// The engine does not answer.
    fn earlier(&self, _folder: &Folder, _watch: &dyn Fn() -> Result<()>) -> Result<()> {
        Ok(())
    }

    /// Submits the batches and waits until none of them is left. `bundle`: predicted seconds up to which
    /// tasks share an element, at most what [`Engine::bundle`] said. `watch` is called about every second.
    ///
    /// # Errors
    /// The engine does not take the batches, or does not answer.
    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        bundle: f64,
        watch: &dyn Fn() -> Result<()>,
    ) -> Result<()>;
}
