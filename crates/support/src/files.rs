//! Short files of the machine as sections.
use crate::Section;
use kernfs::Root;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Most bytes of a file: no file of interest is longer.
const MOST_BYTES: usize = 256 << 10;

/// A file, or why it cannot be read.
pub fn file(root: &Root, path: &str) -> Section {
    Section::new(path, text(&root.path(path)))
}

/// Many files of one value each, a line for each. Those that cannot be read are left out.
pub fn values(root: &Root, title: &str, paths: &[PathBuf]) -> Section {
    let mut lines = String::new();
    for path in paths {
        let Ok(bytes) = fs::read(path) else { continue };
        let below = path.strip_prefix(root.directory()).unwrap_or(path);
        let value = String::from_utf8_lossy(&bytes)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "/{} {value}", below.display());
    }
    Section::new(title, lines)
}

/// The files of a folder by name; empty where it cannot be read.
pub fn folder(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn text(path: &Path) -> String {
    match fs::read(path) {
        Ok(mut bytes) => {
            bytes.truncate(MOST_BYTES);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Err(error) => format!("(cannot be read: {})", names::io_error(&error)),
    }
}
