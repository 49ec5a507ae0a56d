//! Trees of files: listed, compared, copied.
use anyhow::{Context, Result};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files and symbolic links below `dir`, relative to it, sorted. Git's own files and hotset's notes
/// are left out.
///
/// # Errors
/// When a directory cannot be read.
pub fn files_below(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(below) = todo.pop() {
        let here = dir.join(&below);
        for entry in std::fs::read_dir(&here).with_context(|| here.display().to_string())? {
            let entry = entry?;
            let name = entry.file_name();
            if below.as_os_str().is_empty()
                && (name == ".git" || name.to_string_lossy().starts_with(".hotset"))
            {
                continue;
            }
            let path = below.join(&name);
            if entry.file_type()?.is_dir() {
                todo.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Makes `to` a copy of `from`, or with `link` a hard link where the file system allows one.
/// Returns whether `to` had to be written.
///
/// # Errors
/// When a file cannot be read or written.
pub fn put(from: &Path, to: &Path, link: bool) -> Result<bool> {
    let source = std::fs::symlink_metadata(from)?;
    if let Ok(there) = std::fs::symlink_metadata(to) {
        let same_file = (there.dev(), there.ino()) == (source.dev(), source.ino());
        if same_file || same_contents(from, &source, to, &there)? {
            return Ok(false);
        }
        // `to` is never written in place: it may be a hard link to the pristine tree.
        if there.is_dir() {
            std::fs::remove_dir_all(to)?;
        } else {
            std::fs::remove_file(to)?;
        }
    }
    if source.is_symlink() {
        make_parent(to)?;
        std::os::unix::fs::symlink(std::fs::read_link(from)?, to)?;
        return Ok(true);
    }
    let place = |to: &Path| -> std::io::Result<()> {
        if link && std::fs::hard_link(from, to).is_ok() {
            return Ok(());
        }
        std::fs::copy(from, to).map(|_| ())
    };
    match place(to) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            make_parent(to)?;
            place(to)?;
        }
        other => other?,
    }
    Ok(true)
}

fn make_parent(path: &Path) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    Ok(())
}

fn same_contents(
    a: &Path,
    a_data: &std::fs::Metadata,
    b: &Path,
    b_data: &std::fs::Metadata,
) -> Result<bool> {
    if a_data.is_symlink() != b_data.is_symlink() || b_data.is_dir() {
        return Ok(false);
    }
    if a_data.is_symlink() {
        return Ok(std::fs::read_link(a)? == std::fs::read_link(b)?);
    }
    let executable = |data: &std::fs::Metadata| data.mode() & 0o111 != 0;
    Ok(a_data.len() == b_data.len()
        && executable(a_data) == executable(b_data)
        && std::fs::read(a)? == std::fs::read(b)?)
}

/// Removes a file; returns whether it existed.
///
/// # Errors
/// When it cannot be removed.
pub fn remove(path: &Path) -> Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_breaks_its_link_and_gets_a_new_time() {
        let dir = tempfile::tempdir().unwrap();
        let (pristine, patched, to) = (
            dir.path().join("pristine"),
            dir.path().join("patched"),
            dir.path().join("tree/to"),
        );
        std::fs::write(&pristine, "old").unwrap();
        std::fs::write(&patched, "new").unwrap();
        assert!(put(&pristine, &to, true).unwrap());
        assert_eq!(
            std::fs::metadata(&pristine).unwrap().ino(),
            std::fs::metadata(&to).unwrap().ino()
        );
        assert!(!put(&pristine, &to, false).unwrap(), "already the same");
        assert!(put(&patched, &to, false).unwrap());
        assert_eq!(std::fs::read(&pristine).unwrap(), b"old");
        // The old contents return. The time must not, or make would keep the patched object.
        let before = std::fs::metadata(&to).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(put(&pristine, &to, false).unwrap());
        assert!(std::fs::metadata(&to).unwrap().modified().unwrap() > before);
    }
}
