//! One patch: a file named `NNNN-name.patch`.
use anyhow::{bail, Context, Result};
use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

/// One patch.
#[derive(Clone, Debug)]
pub struct Patch {
    pub path: PathBuf,
    /// File name.
    pub name: String,
    pub number: u32,
    /// First line of the patch's description, without `[PATCH n/m]`.
    pub subject: String,
    /// Checksum of the whole file.
    pub sha256: String,
    /// Files that the patch changes, creates or removes.
    pub files: Vec<PathBuf>,
    /// The files that the patch creates.
    pub made: Vec<PathBuf>,
    /// The options that the patch adds to Kconfig and that can be switched on, without `CONFIG_`.
    pub options: Vec<String>,
}

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// When the patch cannot be read, changes nothing, or would write outside of the tree.
    pub fn read(path: &Path) -> Result<Patch> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let text = String::from_utf8_lossy(&bytes);
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let number = number_of(&name)
            .with_context(|| format!("{}: not named NNNN-name.patch", path.display()))?;
        let (files, made) = touched(&text);
        if files.is_empty() {
            bail!(
                "{}: changes no file, so it is no patch; remove it from the series",
                path.display()
            );
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
            options: options(&text),
        })
    }

    /// Whether an image can depend on this patch. Patches of selftests and documentation change no
    /// kernel.
    pub fn builds(&self) -> bool {
        let apart = ["Documentation", "tools/testing"];
        let is_apart = |file: &PathBuf| apart.iter().any(|dir| file.starts_with(dir));
        !self.files.iter().all(is_apart)
    }
}

/// The number of a patch's file name; none where it is not named as a patch.
pub(super) fn number_of(name: &str) -> Option<u32> {
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

/// Files that a unified diff touches, and those that it creates. Lines within hunks are counted
/// off, so that a removed line of a header's form is not taken for a header.
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

/// The Boolean options that a diff of Kconfig files adds.
fn options(text: &str) -> Vec<String> {
    let added: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix('+'))
        .collect();
    let is_bool = |line: &str| line.trim_start().starts_with("bool");
    added
        .windows(2)
        .filter_map(|pair| pair[0].strip_prefix("config ").filter(|_| is_bool(pair[1])))
        .map(Into::into)
        .collect()
}

/// Line counts of "@@ -a,b +c,d @@".
fn hunk(line: &str) -> Option<(u64, u64)> {
    let mut fields = line.strip_prefix("@@ -")?.split_whitespace();
    let count = |word: &str| match word.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let minus = count(fields.next()?)?;
    let plus = count(fields.next()?.strip_prefix('+')?)?;
    Some((minus, plus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_the_boolean_ones_that_are_new() {
        let text = "+config NEW\n+\tbool \"New\"\n+\tdefault y\n+config N\n+\tint \"N\"\n config OLD\n \tbool\n";
        assert_eq!(options(text), ["NEW"]);
    }

    #[test]
    fn a_removed_line_of_a_headers_form_is_no_header() {
        let text = "Subject: [PATCH 1/2] mm: a\n long one\n\n--- a/mm/x.c\n+++ b/mm/x.c\n\
                    @@ -1,2 +1,1 @@\n--- a/evil.c\n+++ b/evil.c\n context\n\
                    --- /dev/null\n+++ b/mm/new.c\n@@ -0,0 +1 @@\n+x\n";
        let (files, made) = touched(text);
        assert_eq!(files, [PathBuf::from("mm/x.c"), "mm/new.c".into()]);
        assert_eq!(made, [PathBuf::from("mm/new.c")]);
        assert_eq!(subject(text).unwrap(), "mm: a long one");
    }
}
