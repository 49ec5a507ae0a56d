//! HyperQueue: each batch is a task array of one job. Its server hands elements to workers, and again to others when a
//! worker is lost.
use super::array::Array;
use super::batch::{Batch, Engine};
use crate::folder::{write, Folder};
use anyhow::{bail, Result};
use cluster::command::{missing, output, wait};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The program `hq`.
pub struct HyperQueue {
    /// The program that runs a task, on the workers.
    pub program: PathBuf,
    /// More options of `hq submit`.
    pub with: Vec<String>,
}

const NAME: &str = "hyperqueue";
const HQ: &str = "hq";

/// The ending of the files that have the number of a job.
const JOB: &str = "hq";

impl Engine for HyperQueue {
    fn name(&self) -> &'static str {
        NAME
    }

    fn bundle(&self, all: f64) -> f64 {
        // A task costs the server a tenth of a millisecond, and a process some.
        (all / 256.0).clamp(0.2, 2.0)
    }

    fn earlier(&self, folder: &Folder, watch: &dyn Fn() -> Result<()>) -> Result<()> {
        for entry in fs::read_dir(folder.engine())? {
            let path = entry?.path();
            if path.extension().is_none_or(|ending| ending != JOB) {
                continue;
            }
            let job = fs::read_to_string(&path)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            // A server that was started anew numbers its jobs anew.
            let about = output(Command::new(HQ).args(["job", "info", job.trim()]), NAME);
            match about {
                Ok(about) if is_of(&about, &name) => waited(job.trim(), watch)?,
                Ok(_) => {}
                // It answers, and knows no such job.
                Err(_) if server().is_ok() => {}
                Err(error) => return Err(error),
            }
            fs::remove_file(&path)?;
        }
        Ok(())
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        bundle: f64,
        watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let mut jobs = Vec::new();
        for batch in batches {
            let array = Array::write(folder, batch, &self.program, "\"$HQ_TASK_ID\"")?;
            let mut command = Command::new(HQ);
            command
                .args(["--output-mode=quiet", "submit", "--cpus=1"])
                .args(["--stdout=none", "--stderr=none"])
                .arg(format!("--name={}", batch.name))
                .arg(format!("--array=0-{}", batch.elements.len() - 1))
                .arg(format!("--resource=mem={}", batch.mebibytes()))
                .arg(format!("--time-limit={}s", batch.seconds(bundle)))
                .args(&self.with)
                .args(["--", "sh"])
                .arg(&array.script);
            let job = output(&mut command, NAME)?.trim().to_string();
            if job.parse::<u64>().is_err() {
                bail!("hq submit: expected the number of a job, not {job:?}");
            }
            let file = folder.engine().join(format!("{}.{JOB}", batch.name));
            write(&file, |to| to.write_all(job.as_bytes()))?;
            jobs.push((job, file));
        }
        for (job, file) in jobs {
            waited(&job, watch)?;
            fs::remove_file(file)?;
        }
        Ok(())
    }
}

/// Waits for a job. Its status says whether a task failed, which the campaign's folder says better.
fn waited(job: &str, watch: &dyn Fn() -> Result<()>) -> Result<()> {
    let mut command = Command::new(HQ);
    command.args(["--output-mode=quiet", "job", "wait", job]);
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = quiet.spawn().map_err(|error| missing(&error, HQ, NAME))?;
    wait(child, watch)?;
    // Without a server nothing was waited for.
    server()
}

/// Whether the server answers.
fn server() -> Result<()> {
    output(Command::new(HQ).args(["server", "info"]), NAME).map(drop)
}

/// Whether a table about a job has this name.
fn is_of(about: &str, name: &str) -> bool {
    about.split_whitespace().any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn a_job_is_told_by_its_whole_name() {
        let about = "| ID   | 1              |\n| Name | hotset-ab-1-10 |\n";
        assert!(is_of(about, "hotset-ab-1-10"));
        assert!(!is_of(about, "hotset-ab-1-1"));
    }
}
