//! The plan of a campaign: its traces, its pairs of a policy and a size, and its tasks with what each will need.
mod divide;
mod needs;
mod rates;

pub use divide::Task;
pub use needs::{Limits, Needs};
pub use rates::Rates;

use crate::file::{found, Definition, Trace};
use anyhow::Result;
use cluster::refused;
use serde::{Deserialize, Serialize};
use sim::registry::Choice;
use sim::sweep::size::Size;
use std::path::{Path, PathBuf};

/// A campaign as it was planned. It never changes afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub schema: u32,
    /// What the campaign's file said.
    pub definition: Definition,
    /// The folder of the campaign's file: names of traces are from here.
    pub base: PathBuf,
    /// Policies, each once, as `hotset sim` prints them.
    pub policies: Vec<String>,
    /// Sizes, each once, as they were written.
    pub sizes: Vec<String>,
    pub object_bytes: u64,
    pub rates: Rates,
    pub traces: Vec<Trace>,
    /// Tasks, by trace. A task's number is its place, from 0.
    pub tasks: Vec<Task>,
}

/// The version of the plan's fields.
pub const SCHEMA: u32 = 1;

impl Plan {
    /// Plans the campaign of a file. `progress` is told how many traces were looked at.
    ///
    /// # Errors
    /// The file is wrong, or a trace cannot be opened.
    pub fn of(file: &Path, progress: &dyn Fn(u64)) -> Result<Plan> {
        let definition = Definition::read(file)?;
        let base = std::path::absolute(file)?;
        let base = base.parent().unwrap_or(Path::new("/")).to_path_buf();
        let policies = definition.choices().map_err(|wrong| refused!("{wrong}"))?;
        let sizes = definition.sizes().map_err(|wrong| refused!("{wrong}"))?;
        let object_bytes = definition
            .object_bytes()
            .map_err(|wrong| refused!("{wrong}"))?;
        let memory = definition
            .tasks
            .memory()
            .map_err(|wrong| refused!("{wrong}"))?;
        let traces = found(&definition.traces, &base)?;
        let rates = Rates::measured(&policies)?;
        let mut tasks = Vec::new();
        for (number, trace) in traces.iter().enumerate() {
            let mut needs = Needs::of(trace, &base, &policies, &rates)?;
            needs.memory = memory.unwrap_or(needs.memory);
            divide::divide(
                number,
                &needs,
                sizes.len(),
                definition.tasks.seconds,
                &mut tasks,
            );
            progress(number as u64 + 1);
        }
        Ok(Plan {
            schema: SCHEMA,
            policies: policies.iter().map(Choice::to_string).collect(),
            sizes: sizes.into_iter().map(|(name, _)| name).collect(),
            definition,
            base,
            object_bytes,
            rates,
            traces,
            tasks,
        })
    }

    /// Pairs of a policy and a size.
    pub fn pairs(&self) -> usize {
        self.policies.len() * self.sizes.len()
    }

    /// The pairs of a task, by number: the pair `p * sizes + s` is policy `p` at size `s`.
    pub fn pairs_of(&self, task: &Task) -> impl Iterator<Item = usize> {
        (task.part as usize - 1..self.pairs()).step_by(task.of as usize)
    }

    /// The policies, ready to be built.
    ///
    /// # Errors
    /// The plan names a policy that this version does not have.
    pub fn choices(&self) -> Result<Vec<Choice>> {
        let choices = self.policies.iter().map(|name| Choice::parse(name));
        Ok(choices.collect::<Result<_, _>>()?)
    }

    /// The sizes in the order of their names.
    ///
    /// # Errors
    /// As [`Definition::sizes`].
    pub fn asked(&self) -> Result<Vec<Size>> {
        let sizes = self
            .definition
            .sizes()
            .map_err(|wrong| refused!("{wrong}"))?;
        Ok(sizes.into_iter().map(|(_, size)| size).collect())
    }

    /// A task's name for people: its trace, and its part where there are several.
    pub fn name(&self, task: usize) -> String {
        let Task {
            trace, part, of, ..
        } = self.tasks[task];
        let name = &self.traces[trace].name;
        match of {
            1 => name.clone(),
            of => format!("{name} (part {part} of {of})"),
        }
    }

    /// The first key of the campaign's file that another file has otherwise. None where both ask the same.
    pub fn differs(&self, other: &Definition) -> Option<&'static str> {
        let mine = &self.definition;
        let keys = [
            ("policies", mine.policies == other.policies),
            ("sizes", mine.sizes == other.sizes),
            ("object_size", mine.object_size == other.object_size),
            ("traces", mine.traces == other.traces),
            ("tasks", mine.tasks == other.tasks),
        ];
        keys.into_iter().find(|(_, same)| !same).map(|(key, _)| key)
    }
}
