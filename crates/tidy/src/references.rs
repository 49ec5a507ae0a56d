//! References to documents that a reader of the tree lacks: issues, plans, other checkouts.
use crate::tree::Tree;
use anyhow::Result;
use std::path::Path;

/// Phrases that no file may contain, with the reasons.
const PHRASES: [(&str, &str); 7] = [
    ("the seed's", "readers have no seed document"),
    ("shared/", "readers have no shared folder"),
    ("/work/", "a path of one machine"),
    ("DESIGN.md", "readers have no such file"),
    ("reference/kernel.md", "readers have no such file"),
    ("docs.google", "name the document"),
    ("(issue ", "readers have no list of issues"),
];

/// Endings of files with text for readers.
const EXTENSIONS: [&str; 9] = [
    "rs", "md", "toml", "5", "8", "conf", "service", "config", "patch",
];

pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let extension = file
            .extension()
            .and_then(|found| found.to_str())
            .unwrap_or("");
        let ours = file == Path::new("crates/tidy/src/references.rs");
        let notebook = file.starts_with("docs/measurements");
        if ours || notebook || !EXTENSIONS.contains(&extension) {
            continue;
        }
        for (number, line) in tree.text(file)?.lines().enumerate() {
            let place = || format!("{}:{}", file.display(), number + 1);
            for (phrase, why) in PHRASES {
                if names(line, phrase) {
                    findings.push(format!("{}: {phrase:?}: {why}", place()));
                }
            }
            if names_an_issue(line) {
                findings.push(format!("{}: readers have no list of issues", place()));
            }
        }
    }
    Ok(findings)
}

/// Whether a line holds the phrase other than as the tail of a longer path or word.
fn names(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '/' || letter == '_')
    })
}

/// Whether a line names an issue, as `issue 5` or `Issue 12, line 3`.
fn names_an_issue(line: &str) -> bool {
    let lower = line.to_lowercase();
    lower
        .match_indices("issue ")
        .any(|(at, word)| lower[at + word.len()..].starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{names, names_an_issue};

    #[test]
    fn the_tail_of_a_longer_path_is_another_path() {
        assert!(names("see /work/main", "/work/"));
        assert!(!names("crates/guest/src/work/", "/work/"));
    }

    #[test]
    fn only_numbers_of_issues_are_found() {
        assert!(names_an_issue("# Issue 5, line 2"));
        assert!(!names_an_issue("CPUs issue loads"));
    }
}
