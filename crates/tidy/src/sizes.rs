//! Checks the number of lines of a file, and the number of source files side by side in a folder.
use crate::tree::Tree;
use anyhow::Result;
use std::collections::BTreeMap;
use std::path::Path;

/// The most lines of a source file. The goal is about 400; a few more are not worth a split.
const LINES: usize = 420;
/// The most source files in one folder, so that a reader can take in the folder at a glance.
const FILES: usize = 12;

pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut folders: BTreeMap<&Path, usize> = BTreeMap::new();
    for file in tree.with_extension("rs") {
        let lines = tree.text(file)?.lines().count();
        if lines > LINES {
            findings.push(format!(
                "{}: {lines} lines, at most {LINES}",
                file.display()
            ));
        }
        *folders
            .entry(file.parent().unwrap_or(Path::new("")))
            .or_default() += 1;
    }
    for (folder, count) in folders {
        if count > FILES {
            findings.push(format!(
                "{}: {count} source files side by side, at most {FILES}",
                folder.display()
            ));
        }
    }
    Ok(findings)
}
