//! Slurm: each batch is a job array. Its controller finds nodes, limits memory and time, and runs an element again
//! whose node failed.
use super::array::Array;
use super::batch::{prefix, Batch, Engine};
use super::command::{output, until_none};
use crate::error::refused;
use crate::folder::Folder;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Slurm's commands.
pub struct Slurm {
    /// The program that runs a task, on the nodes.
    pub program: PathBuf,
    /// More options of sbatch.
    pub with: Vec<String>,
}

const NAME: &str = "slurm";

/// How often squeue is asked.
const PERIOD: Duration = Duration::from_secs(2);

impl Engine for Slurm {
    fn name(&self) -> &'static str {
        NAME
    }

    fn bundle(&self, all: f64) -> f64 {
        // Its scheduler looks for work every three seconds, unless it is configured otherwise.
        (all / 64.0).clamp(10.0, 60.0)
    }

    fn longest_array(&self) -> Result<usize> {
        let config = output(Command::new("scontrol").args(["show", "config"]), NAME)?;
        longest(&config)
    }

    fn earlier(&self, folder: &Folder, watch: &dyn Fn() -> Result<()>) -> Result<()> {
        let prefix = prefix(folder);
        until_none(PERIOD, watch, &|| {
            Ok(queued()?.iter().any(|name| name.starts_with(&prefix)))
        })
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        bundle: f64,
        watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        for batch in batches {
            let array = Array::write(folder, batch, &self.program, "\"$SLURM_ARRAY_TASK_ID\"")?;
            let mut command = Command::new("sbatch");
            command
                .args(["--parsable", "--cpus-per-task=1", "--output=/dev/null"])
                .arg(format!("--job-name={}", batch.name))
                .arg(format!("--array=0-{}", batch.elements.len() - 1))
                .arg(format!("--mem={}M", batch.mebibytes()))
                .arg(format!("--time={}", batch.seconds(bundle).div_ceil(60)))
                .args(&self.with)
                .arg(&array.script)
                .current_dir(folder.path());
            output(&mut command, NAME)?;
        }
        let names: Vec<&str> = batches.iter().map(|batch| batch.name.as_str()).collect();
        until_none(PERIOD, watch, &|| {
            Ok(queued()?.iter().any(|name| names.contains(&name.as_str())))
        })
    }
}

/// The most elements of an array: indices are below `MaxArraySize`.
fn longest(config: &str) -> Result<usize> {
    let line = config.lines().find(|line| line.starts_with("MaxArraySize"));
    let number = line.and_then(|line| line.split('=').nth(1)?.trim().parse().ok());
    match number.context("scontrol show config names no MaxArraySize")? {
        0 => Err(refused!(
            "--on slurm: job arrays are off here; set MaxArraySize in slurm.conf"
        )),
        longest => Ok(longest),
    }
}

/// The names of this user's jobs that have not ended.
fn queued() -> Result<Vec<String>> {
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--me", "--format=%j"]);
    let names = output(&mut command, NAME)?;
    Ok(names.lines().map(|line| line.trim().to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::longest;

    #[test]
    fn a_cluster_without_job_arrays_is_refused() {
        let config =
            |size: &str| format!("MailProg = /bin/mail\nMaxArraySize            = {size}\n");
        assert_eq!(longest(&config("1001")).unwrap(), 1001);
        let wrong = longest(&config("0")).unwrap_err();
        assert!(wrong.is::<crate::Refused>(), "{wrong}");
        assert!(wrong.to_string().contains("set MaxArraySize"), "{wrong}");
        assert!(longest("MailProg = /bin/mail\n").is_err());
    }
}
