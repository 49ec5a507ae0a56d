//! The kernel's own style check.
use crate::check::verdict::Verdict;
use crate::process;
use anyhow::Result;
use progress::{Progress, Step, Unit};
use std::path::Path;
use std::process::Command;

/// checkpatch types that are ignored, each with the reason.
const NOT_APPLIED: [(&str, &str); 1] = [(
    "FILE_PATH_CHANGES",
    "asks for an entry in MAINTAINERS, which a series kept outside of the kernel cannot have",
)];

/// Runs `tree`'s checkpatch on a patch.
///
/// # Errors
/// When perl cannot be run.
pub fn checkpatch(tree: &Path, patch: &Path, progress: &mut Progress) -> Result<Verdict> {
    let script = tree.join("scripts/checkpatch.pl");
    if !script.is_file() {
        return Ok(Verdict::failed(format!(
            "{}: no such file; the tree has no checkpatch",
            script.display()
        )));
    }
    progress(Step::Begin {
        title: "Running checkpatch".into(),
        total: None,
        unit: Unit::Steps,
    });
    let ignored: Vec<&str> = NOT_APPLIED.iter().map(|(name, _)| *name).collect();
    let output = process::output(
        Command::new("perl")
            .arg(&script)
            .arg(format!("--root={}", tree.display()))
            .args(["--no-summary", "--terse", "--show-types", "--color=never"])
            .arg(format!("--ignore={}", ignored.join(",")))
            .arg(patch)
            .current_dir(tree)
            // checkpatch takes a patch that a git repository tracks for a source file.
            .env("GIT_DIR", "/none")
            .env("LC_ALL", "C"),
    )?;
    progress(Step::End {
        text: "checkpatch: done".into(),
    });
    let complaints: Vec<&str> = output
        .out
        .lines()
        .filter(|line| line.contains("ERROR:") || line.contains("WARNING:"))
        .collect();
    Ok(if !complaints.is_empty() {
        Verdict::failed(complaints.join("\n"))
    } else if !output.status.success() {
        Verdict::failed(format!("{}{}", output.out, output.err))
    } else {
        Verdict::ok("")
    })
}
