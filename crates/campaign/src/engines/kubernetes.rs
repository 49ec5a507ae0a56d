//! Kubernetes: each batch is an indexed Job.
use super::array::{arguments, list};
use super::batch::{prefix, Batch, Engine};
use super::manifest::{job, Pod, LABEL};
use crate::folder::{write, Folder};
use anyhow::{Context, Result};
use cluster::command::{output, until_none};
use names::shown;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The program `kubectl`.
pub struct Kubernetes {
    pub pod: Pod,
    /// Options of kubectl: `--namespace=batch`.
    pub with: Vec<String>,
}

const NAME: &str = "kubernetes";

/// How often Jobs are looked at.
const PERIOD: Duration = Duration::from_secs(3);

impl Engine for Kubernetes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn earlier(&self, folder: &Folder, watch: &dyn Fn() -> Result<()>) -> Result<()> {
        let prefix = prefix(folder);
        for entry in fs::read_dir(folder.engine())? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.starts_with(&prefix) && name.ends_with(".json") {
                let waited = until_none(PERIOD, false, watch, &|| self.left(folder));
                // `run` writes the Jobs where kubectl is missing, too.
                return waited.or_else(|error| match error.is::<crate::Refused>() {
                    true => Ok(()),
                    false => Err(error),
                });
            }
        }
        // No Job was written: nothing can be waited for.
        Ok(())
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        bundle: f64,
        watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let mut files: Vec<PathBuf> = Vec::new();
        for batch in batches {
            let list = list(folder, batch)?;
            let arguments = arguments(folder, batch, &list);
            let seconds = batch.seconds(bundle);
            let manifest = job(batch, &self.pod, &prefix(folder), arguments, seconds);
            let file = folder.engine().join(format!("{}.json", batch.name));
            let text = serde_json::to_vec_pretty(&manifest)?;
            write(&file, |to| to.write_all(&text))?;
            files.push(file);
        }
        for (batch, file) in batches.iter().zip(&files) {
            // A Job that has ended keeps its name.
            let delete = ["delete", "job", &batch.name, "--ignore-not-found"];
            output(self.kubectl().args(delete), NAME)
                .with_context(|| format!("{} is written, and not applied", shown(file)))?;
            output(self.kubectl().arg("apply").arg("-f").arg(file), NAME)?;
            // One after the other: each has all the pods that may run at once.
            until_none(PERIOD, true, watch, &|| self.left(folder))?;
        }
        Ok(())
    }
}

impl Kubernetes {
    fn kubectl(&self) -> Command {
        let mut command = Command::new("kubectl");
        command.args(&self.with);
        command
    }

    /// Whether a Job of the campaign has not ended.
    fn left(&self, folder: &Folder) -> Result<bool> {
        let label = format!("{LABEL}={}", prefix(folder));
        let asked = ["get", "jobs", "--output=json", "--selector", &label];
        let answer = output(self.kubectl().args(asked), NAME)?;
        let jobs: Value = serde_json::from_str(&answer).context("kubectl get jobs")?;
        let jobs = jobs["items"].as_array();
        Ok(jobs.into_iter().flatten().any(|job| !has_ended(job)))
    }
}

fn has_ended(job: &Value) -> bool {
    let conditions = job["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|condition| {
        let kind = condition["type"].as_str().unwrap_or_default();
        matches!(kind, "Complete" | "Failed") && condition["status"] == "True"
    })
}

#[cfg(test)]
mod tests {
    use super::has_ended;
    use serde_json::json;

    #[test]
    fn a_job_has_ended_when_a_condition_says_so() {
        let of = |kind: &str, status: &str| {
            let conditions = [json!({ "type": kind, "status": status })];
            has_ended(&json!({ "status": { "conditions": conditions } }))
        };
        assert!(of("Complete", "True") && of("Failed", "True"));
        assert!(!of("Complete", "False") && !of("FailureTarget", "True"));
        assert!(!has_ended(&json!({ "status": {} })));
    }
}
