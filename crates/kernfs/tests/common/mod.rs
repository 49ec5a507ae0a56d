//! The roots under fixtures/kernfs, and copies of them that a test may break.
#![allow(dead_code)]
use std::path::{Path, PathBuf};

pub const ALL: [&str; 13] = [
    "4.18",
    "4.18-two-nodes",
    "5.15-sparse-nodes",
    "6.1",
    "6.1-debian-two-nodes",
    "6.12",
    "6.12-debian",
    "6.12-many-orders",
    "6.12-two-nodes",
    "6.18",
    "7.3",
    "7.3-eight-nodes",
    "7.3-two-nodes",
];

/// Read file by file from machines that were at work, so that files need not agree to the page.
pub const RECORDED: [&str; 5] = [
    "6.1-debian-two-nodes",
    "6.12-debian",
    "6.12-two-nodes",
    "6.18",
    "7.3-two-nodes",
];

pub fn fixture(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/kernfs")
        .join(name);
    assert!(path.is_dir(), "{}: no such fixture", path.display());
    path
}

pub fn text(name: &str, file: &str) -> String {
    let path = fixture(name).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A copy in a directory that goes with the value.
pub fn copy(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy_into(&fixture(name), dir.path());
    dir
}

fn copy_into(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy_into(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// Every file below a directory.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}
