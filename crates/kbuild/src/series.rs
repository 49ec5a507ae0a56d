//! Patch series: files named `NNNN-what.patch`, applied in order of their numbers.
use crate::proc;
use anyhow::{bail, Context, Result};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// One patch.
#[derive(Clone, Debug)]
pub struct Patch {
    pub path: PathBuf,
    /// File name.
    pub name: String,
    pub number: u32,
    /// First line of what it says about itself, without `[PATCH n/m]`.
    pub subject: String,
    /// Checksum of the whole file.
    pub sha256: String,
    /// Files that it changes, makes or removes.
    pub files: Vec<PathBuf>,
    /// Those of them that it makes.
    pub made: Vec<PathBuf>,
}

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// When it cannot be read, changes nothing, or would write outside of the tree.
    pub fn read(path: &Path) -> Result<Patch> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let text = String::from_utf8_lossy(&bytes);
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let number = number_of(&name)
            .with_context(|| format!("{}: not named NNNN-what.patch", path.display()))?;
        let (files, made) = touched(&text);
        if files.is_empty() {
            bail!("{}: changes no file; not a patch?", path.display());
        }
        let outside = |file: &PathBuf| {
            file.components()
                .any(|part| !matches!(part, Component::Normal(_)))
        };
        if let Some(file) = files.iter().find(|file| outside(file)) {
            bail!(
                "{}: changes {}, outside of the tree",
                path.display(),
                file.display()
            );
        }
        Ok(Patch {
            path: path.to_path_buf(),
            subject: subject(&text).unwrap_or_else(|| name.clone()),
            name,
            number,
            sha256: format!("{:x}", Sha256::digest(&bytes)),
            files,
            made,
        })
    }

    /// Whether an image can differ by it. The tests' and the documentation's patches are none of
    /// what a kernel is built from.
    pub fn builds(&self) -> bool {
        let apart = ["Documentation", "tools/testing"];
        let is_apart = |file: &PathBuf| apart.iter().any(|dir| file.starts_with(dir));
        !self.files.iter().all(is_apart)
    }
}

/// Reads the patches of a directory in their order. A cover letter (number 0) is passed over.
///
/// # Errors
/// When the directory is not there, holds no patch, or two of the same number.
pub fn load(dir: &Path) -> Result<Vec<Patch>> {
    let none = || {
        format!(
            "{}: no patch (NNNN-what.patch) there. Give the directory of a series with \
             --series-dir, or build --vanilla",
            dir.display()
        )
    };
    let entries = std::fs::read_dir(dir).with_context(none)?;
    let mut patches = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if number_of(&name).is_some_and(|number| number > 0) {
            patches.push(Patch::read(&path)?);
        }
    }
    if patches.is_empty() {
        bail!(none());
    }
    patches.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
    for pair in patches.windows(2) {
        if pair[0].number == pair[1].number {
            bail!(
                "{}: {} and {} have the same number",
                dir.display(),
                pair[0].name,
                pair[1].name
            );
        }
    }
    Ok(patches)
}

/// Short checksum over what an image is built from, in order: which series this is.
pub fn id(patches: &[Patch]) -> String {
    let mut hash = Sha256::new();
    for patch in patches.iter().filter(|patch| patch.builds()) {
        hash.update(&patch.sha256);
    }
    format!("{:x}", hash.finalize())[..12].to_string()
}

fn number_of(name: &str) -> Option<u32> {
    let (number, rest) = name.split_once('-')?;
    (number.len() == 4 && rest.ends_with(".patch")).then_some(())?;
    number.parse().ok()
}

fn subject(text: &str) -> Option<String> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("Subject:"));
    let mut subject = lines.next()?.strip_prefix("Subject:")?.trim().to_string();
    for line in lines.take_while(|line| line.starts_with([' ', '\t'])) {
        subject.push(' ');
        subject.push_str(line.trim());
    }
    match subject
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((_, rest)) => Some(rest.trim().to_string()),
        None => Some(subject),
    }
}

/// Files that a unified diff touches, and those of them that it makes. Lines within hunks are
/// counted off, so that a removed line that looks like a header is not taken for one.
fn touched(text: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut made = Vec::new();
    let mut old: Option<String> = None;
    let (mut minus, mut plus) = (0u64, 0u64);
    let stripped = |name: &str| -> Option<PathBuf> {
        let name = name.split('\t').next().unwrap_or(name).trim_end();
        (name != "/dev/null").then(|| {
            let rest = name.split_once('/').map_or(name, |(_, rest)| rest);
            PathBuf::from(rest)
        })
    };
    let mut add = |path: Option<PathBuf>| {
        if let Some(path) = path {
            if !files.contains(&path) {
                files.push(path);
            }
        }
    };
    for line in text.lines() {
        if minus > 0 || plus > 0 {
            match line.as_bytes().first() {
                Some(b'-') => minus = minus.saturating_sub(1),
                Some(b'+') => plus = plus.saturating_sub(1),
                Some(b'\\') => {}
                _ => {
                    minus = minus.saturating_sub(1);
                    plus = plus.saturating_sub(1);
                }
            }
        } else if let Some(name) = line.strip_prefix("--- ") {
            old = Some(name.to_string());
        } else if let (Some(name), Some(before)) = (line.strip_prefix("+++ "), old.take()) {
            let (before, after) = (stripped(&before), stripped(name));
            if before.is_none() {
                made.extend(after.clone());
            }
            add(before);
            add(after);
        } else if let Some(name) = line
            .strip_prefix("rename from ")
            .or_else(|| line.strip_prefix("rename to "))
        {
            add(Some(PathBuf::from(name)));
        } else if let Some((a, b)) = hunk(line) {
            (minus, plus) = (a, b);
        }
    }
    (files, made)
}

/// Line counts of "@@ -a,b +c,d @@".
fn hunk(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("@@ -")?.split_whitespace();
    let count = |word: &str| match word.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let minus = count(words.next()?)?;
    let plus = count(words.next()?.strip_prefix('+')?)?;
    Some((minus, plus))
}

/// What a tree's files are under some patches: only those that differ.
pub struct Overlay {
    scratch: tempfile::TempDir,
    /// Path in the tree, and whether it exists under the patches.
    files: BTreeMap<PathBuf, bool>,
}

impl Overlay {
    /// No patches over a tree.
    ///
    /// # Errors
    /// When no temporary directory can be made.
    pub fn empty() -> Result<Overlay> {
        Ok(Overlay {
            scratch: tempfile::tempdir().context("making a temporary directory")?,
            files: BTreeMap::new(),
        })
    }

    /// Lays one more patch over `tree`, which is only read.
    ///
    /// # Errors
    /// When it does not apply with exact context; the message names patch, file and hunk.
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
        let said = proc::say(
            Command::new("patch")
                .args(["-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch"])
                .args(["--reject-file=-", "-d"])
                .arg(self.scratch.path())
                .arg("-i")
                .arg(&path)
                .env("LC_ALL", "C"),
        )?;
        if !said.status.success() {
            let trouble = trouble(&said.out, &said.err);
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

    /// Where the patched contents of `file` are: `None` when patches leave it alone,
    /// `Some(None)` when they remove it.
    pub fn look_up(&self, file: &Path) -> Option<Option<PathBuf>> {
        self.files
            .get(file)
            .map(|exists| exists.then(|| self.scratch.path().join(file)))
    }

    /// The files that patches leave different from the tree's, or make.
    pub fn existing(&self) -> impl Iterator<Item = &Path> {
        self.files
            .iter()
            .filter(|(_, exists)| **exists)
            .map(|(path, _)| path.as_path())
    }

    /// All patches of a series over a tree.
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

/// The lines of GNU patch that say what failed, each hunk with its file.
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
        // Nothing that we know: show what there is.
        return format!("{out}{err}");
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_line_that_looks_like_a_header_is_not_one() {
        let text = "Subject: [PATCH 1/2] mm: a\n long one\n\n--- a/mm/x.c\n+++ b/mm/x.c\n\
                    @@ -1,2 +1,1 @@\n--- a/evil.c\n+++ b/evil.c\n context\n\
                    --- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+x\n";
        let (files, made) = touched(text);
        assert_eq!(files, [PathBuf::from("mm/x.c"), "mm/new.c".into()]);
        assert_eq!(made, [PathBuf::from("mm/new.c")]);
        assert_eq!(subject(text).unwrap(), "mm: a long one");
    }
}
