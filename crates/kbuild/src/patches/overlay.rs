//! A tree's files under some patches.
use crate::patches::patch::Patch;
use crate::process;
use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of a tree that some patches change.
pub struct Overlay {
    scratch: tempfile::TempDir,
    /// Path in the tree, and whether the file exists under the patches.
    files: BTreeMap<PathBuf, bool>,
}

impl Overlay {
    /// An overlay without patches.
    ///
    /// # Errors
    /// When no temporary directory can be made.
    pub fn empty() -> Result<Overlay> {
        Ok(Overlay {
            scratch: tempfile::tempdir().context("making a temporary folder")?,
            files: BTreeMap::new(),
        })
    }

    /// Applies one more patch over `tree`, which is only read.
    ///
    /// # Errors
    /// When the patch does not apply with exact context; the message names patch, file and hunk.
    pub fn apply(&mut self, patch: &Patch, tree: &Path) -> Result<()> {
        for file in &patch.files {
            if self.files.contains_key(file) {
                continue;
            }
            let exists = tree.join(file).is_file();
            if exists {
                let to = self.scratch.path().join(file);
                if let Some(parent) = to.parent() {
                    std::fs::create_dir_all(parent)?;
                }
                std::fs::copy(tree.join(file), &to).with_context(|| file.display().to_string())?;
            }
            self.files.insert(file.clone(), exists);
        }
        if let Some(file) = patch
            .made
            .iter()
            .find(|file| self.scratch.path().join(file).exists())
        {
            bail!(
                "{} makes {}, which is there already",
                patch.name,
                file.display()
            );
        }
        let path = std::fs::canonicalize(&patch.path)?;
        let output = process::output(
            Command::new("patch")
                .args(["-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch"])
                .args(["--reject-file=-", "-d"])
                .arg(self.scratch.path())
                .arg("-i")
                .arg(&path)
                .env("LC_ALL", "C"),
        )?;
        if !output.status.success() {
            let trouble = trouble(&output.out, &output.err);
            bail!(
                "{} does not apply to {}:\n{trouble}",
                patch.name,
                tree.display()
            );
        }
        for file in &patch.files {
            let exists = self.scratch.path().join(file).is_file();
            self.files.insert(file.clone(), exists);
        }
        Ok(())
    }

    /// The path of the patched contents of `file`. None: the patches do not change `file`.
    /// `Some(None)`: the patches remove `file`.
    pub fn look_up(&self, file: &Path) -> Option<Option<PathBuf>> {
        self.files
            .get(file)
            .map(|exists| exists.then(|| self.scratch.path().join(file)))
    }

    /// The files that the patches change or create.
    pub fn existing(&self) -> impl Iterator<Item = &Path> {
        self.files
            .iter()
            .filter(|(_, exists)| **exists)
            .map(|(path, _)| path.as_path())
    }

    /// Applies all patches of a series over a tree.
    ///
    /// # Errors
    /// As [`Overlay::apply`].
    pub fn of(patches: &[Patch], tree: &Path) -> Result<Overlay> {
        let mut overlay = Overlay::empty()?;
        for patch in patches {
            overlay.apply(patch, tree)?;
        }
        Ok(overlay)
    }
}

/// The lines of GNU patch that name the failure, each hunk with its file.
fn trouble(out: &str, err: &str) -> String {
    let mut file = "";
    let mut lines = Vec::new();
    for line in out.lines().chain(err.lines()) {
        if let Some(name) = line.strip_prefix("patching file ") {
            file = name;
        } else if line.starts_with("Hunk #") && line.contains("FAILED") {
            lines.push(format!("  {file}: {line}"));
        } else if line.contains("can't find file")
            || line.contains("malformed")
            || line.starts_with("patch: ")
            || line.contains("Only garbage")
        {
            lines.push(format!("  {line}"));
        }
    }
    if lines.is_empty() {
        // No known message: show the whole output.
        return format!("{out}{err}");
    }
    lines.join("\n")
}
