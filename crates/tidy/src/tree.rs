//! The files of the tree: those that git tracks, and those that git neither tracks nor ignores.
use anyhow::{ensure, Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Tree {
    pub root: PathBuf,
    /// Relative to `root`, sorted.
    pub files: Vec<PathBuf>,
}

impl Tree {
    /// # Errors
    /// `root` is in no git checkout, or git is missing.
    pub fn read(root: &Path) -> Result<Tree> {
        let output = Command::new("git")
            .arg("-C")
            .arg(root)
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .output()
            .context("running git ls-files")?;
        ensure!(
            output.status.success(),
            "git ls-files in {}: {}",
            root.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let mut files: Vec<PathBuf> = String::from_utf8(output.stdout)
            .context("a file's name is not UTF-8")?
            .split_terminator('\0')
            .map(PathBuf::from)
            // Skips a file that was removed from the disk but not from git's index.
            .filter(|file| root.join(file).is_file())
            .collect();
        files.sort();
        files.dedup();
        Ok(Tree {
            root: root.to_owned(),
            files,
        })
    }

    /// # Errors
    /// The file cannot be read, or is not UTF-8.
    pub fn text(&self, file: &Path) -> Result<String> {
        std::fs::read_to_string(self.root.join(file))
            .with_context(|| format!("reading {}", file.display()))
    }

    /// Files with this ending, without the dot.
    pub fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a PathBuf> {
        self.files
            .iter()
            .filter(move |file| file.extension().is_some_and(|found| found == extension))
    }
}
