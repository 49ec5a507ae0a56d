//! What can be known of a run before its kernels are built: output, kernels, sources and traces.
use super::options::Options;
use crate::experiment::Experiment;
use crate::inputs;
use crate::inputs::recorded::Recorded;
use crate::results::{resume, Results};
use anyhow::{bail, Context, Result};
use names::shown;
use std::path::Path;

/// Something that another command line mends.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Misuse(pub String);

/// Checks everything that needs neither a build nor a boot.
///
/// # Errors
/// The output folder has files or cannot be written, or has no such run to resume; an arm names a kernel
/// that cannot be had; a recorded trace is missing.
pub fn check(experiment: &Experiment, options: &Options) -> Result<()> {
    let out = &options.out;
    if out.exists() && !out.is_dir() {
        bail!(Misuse(format!("--output: {}: it is no folder", shown(out))));
    }
    writable(out)?;
    match (options.resume, options.force) {
        (true, _) => resume::check(out, experiment, &options.command)?,
        (false, false) => Results::vacant(out)?,
        (false, true) => {}
    }
    obtainable(experiment, options)
}

/// Checks the kernels and traces that the experiment names.
///
/// # Errors
/// An arm names a kernel that cannot be had, or a recorded trace is missing.
pub fn obtainable(experiment: &Experiment, options: &Options) -> Result<()> {
    let arch = experiment.machine.bed.arch();
    for (place, arm) in experiment.arms.iter().enumerate() {
        let same = |other: &&crate::experiment::Arm| {
            other.kernel == arm.kernel && other.version == arm.version
        };
        if experiment.arms[..place].iter().find(same).is_none() {
            let checked = inputs::obtainable::check(arm, arch, options.tree.as_deref());
            checked.map_err(|error| Misuse(format!("arm {:?}: {error:#}", arm.name)))?;
        }
    }
    Recorded::of(experiment).map(|_| ())
}

/// Checks that a folder can be made or written to: by the nearest folder above it that exists.
fn writable(dir: &Path) -> Result<()> {
    let whole = std::path::absolute(dir).with_context(|| shown(dir).to_string())?;
    let Some(above) = whole.ancestors().find(|above| above.exists()) else {
        return Ok(());
    };
    if !above.is_dir() {
        bail!(Misuse(format!(
            "--output: {}: it is no folder",
            shown(above)
        )));
    }
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    rustix::fs::access(above, access).map_err(|error| {
        let reason = names::io_error(&error.into());
        anyhow::anyhow!("--output: {}: cannot be written: {reason}", shown(above))
    })
}
