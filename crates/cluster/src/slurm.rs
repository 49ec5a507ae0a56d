//! Slurm's job arrays.
use crate::command::{output, until_none};
use crate::refused;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The name as `--on` takes it.
pub const NAME: &str = "slurm";

/// The number of an array's element, as its script finds it.
pub const ELEMENT: &str = "\"$SLURM_ARRAY_TASK_ID\"";

/// How often squeue is asked.
const PERIOD: Duration = Duration::from_secs(2);

/// An array: `script` runs once for each of `elements`, in the folder `dir`.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    pub name: &'a str,
    /// As sbatch's `--array` takes them: `0-9`, or `0,4,5`.
    pub elements: String,
    pub script: &'a Path,
    pub dir: &'a Path,
    /// The file of its output.
    pub output: String,
    /// More options of sbatch.
    pub options: Vec<String>,
}

impl Array<'_> {
    /// Submits the array.
    ///
    /// # Errors
    /// There is no sbatch, or it refuses.
    pub fn submit(&self) -> Result<()> {
        let mut command = Command::new("sbatch");
        command
            .arg("--parsable")
            .args(&self.options)
            // The last one counts, and what is waited for goes by these.
            .arg(format!("--job-name={}", self.name))
            .arg(format!("--array={}", self.elements))
            .arg(format!("--output={}", self.output))
            .arg(self.script)
            .current_dir(self.dir);
        output(&mut command, NAME).map(|_| ())
    }
}

/// Waits until this user has no job whose name `is_ours`, and calls `watch` meanwhile. `reached`: Slurm has just answered.
///
/// # Errors
/// As `watch`, or Slurm does not answer.
pub fn wait(
    is_ours: &dyn Fn(&str) -> bool,
    reached: bool,
    watch: &dyn Fn() -> Result<()>,
) -> Result<()> {
    until_none(PERIOD, reached, watch, &|| has_any(is_ours))
}

/// Whether this user has a job whose name `is_ours`.
///
/// # Errors
/// Slurm does not answer.
pub fn has_any(is_ours: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--me", "--format=%j"]);
    let names = output(&mut command, NAME)?;
    Ok(names.lines().any(|line| is_ours(line.trim())))
}

/// The most elements of an array: their numbers are below it.
///
/// # Errors
/// Slurm does not answer, or takes no arrays.
pub fn longest_array() -> Result<usize> {
    longest(&output(
        Command::new("scontrol").args(["show", "config"]),
        NAME,
    )?)
}

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
