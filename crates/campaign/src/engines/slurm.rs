//! Slurm: each batch is a job array. Its controller finds nodes, limits memory and time, and runs an element again
//! whose node failed.
use super::array::Array;
use super::batch::{prefix, Batch, Engine};
use crate::folder::Folder;
use anyhow::Result;
use cluster::slurm;
use std::path::PathBuf;

/// Slurm's commands.
pub struct Slurm {
    /// The program that runs a task, on the nodes.
    pub program: PathBuf,
    /// More options of sbatch.
    pub with: Vec<String>,
}

impl Engine for Slurm {
    fn name(&self) -> &'static str {
        slurm::NAME
    }

    fn bundle(&self, all: f64) -> f64 {
        // Its scheduler looks for work every three seconds, unless it is configured otherwise.
        (all / 64.0).clamp(10.0, 60.0)
    }

    fn longest_array(&self) -> Result<usize> {
        slurm::longest_array()
    }

    fn earlier(&self, folder: &Folder, watch: &dyn Fn() -> Result<()>) -> Result<()> {
        let prefix = prefix(folder);
        slurm::wait(&|name| name.starts_with(&prefix), false, watch)
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        bundle: f64,
        watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        for batch in batches {
            let files = Array::write(folder, batch, &self.program, slurm::ELEMENT)?;
            let mut options = vec![
                "--cpus-per-task=1".to_string(),
                format!("--mem={}M", batch.mebibytes()),
                format!("--time={}", batch.seconds(bundle).div_ceil(60)),
            ];
            options.extend(self.with.iter().cloned());
            let array = slurm::Array {
                name: &batch.name,
                elements: format!("0-{}", batch.elements.len() - 1),
                script: &files.script,
                dir: folder.path(),
                output: "/dev/null".into(),
                options,
            };
            array.submit()?;
        }
        let is_ours = |name: &str| batches.iter().any(|batch| batch.name == name);
        slurm::wait(&is_ours, true, watch)
    }
}
