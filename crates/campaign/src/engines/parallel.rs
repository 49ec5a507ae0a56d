//! GNU parallel: a process for each element, on this machine or on others by ssh.
use super::array::Array;
use super::batch::{Batch, Engine};
use crate::folder::Folder;
use anyhow::{bail, Result};
use cluster::command::{bound, missing, wait};
use names::shown;
use rustix::process::Signal;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// GNU parallel.
pub struct Parallel {
    /// The program that runs a task, on each machine.
    pub program: PathBuf,
    /// Elements at once, on each machine. None is parallel's own default.
    pub jobs: Option<usize>,
    /// More options of parallel.
    pub with: Vec<String>,
}

const NAME: &str = "parallel";

/// Statuses up to this one count elements that failed, whose tasks are looked at afterwards.
const COUNTED: i32 = 101;

impl Engine for Parallel {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        bundle: f64,
        watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        for batch in batches {
            let array = Array::write(folder, batch, &self.program, "\"$1\"")?;
            let mut command = Command::new("parallel");
            command
                .arg(format!("--timeout={}", batch.seconds(bundle)))
                .arg(format!("--memfree={}M", batch.mebibytes()))
                .args(self.jobs.map(|jobs| format!("--jobs={jobs}")))
                .args(&self.with)
                // The script is a value, not a part of the command: parallel quotes values for the shell, and looks
                // for no `{}` in them.
                .args(["sh", "{1}", "{2}", ":::"])
                .arg(&array.script)
                .args(["::::", "-"])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(File::options().create(true).append(true).open(&array.log)?);
            let started = bound(&mut command, Signal::TERM).spawn();
            let mut child = started.map_err(|error| missing(&error, NAME, NAME))?;
            if let Some(mut lines) = child.stdin.take() {
                let all = 0..batch.elements.len();
                let text: String = all.map(|line| format!("{line}\n")).collect();
                // A program that has ended says why by its status.
                let _ = lines.write_all(text.as_bytes());
            }
            let status = wait(child, watch)?;
            if status.code().is_none_or(|code| code > COUNTED) {
                bail!("parallel: {status}; {} has what it said", shown(&array.log));
            }
        }
        Ok(())
    }
}
