//! Files that appear whole, though many machines write into one folder and any of them may die.
use anyhow::{anyhow, Result};
use names::{io_error, shown};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The ending of files that are not finished.
const PARTIAL: &str = ".partial";

/// Writes a file under a name of its own and renames it. Containers on several machines have equal process numbers,
/// so the name also has the host and the time. A file of the same name is replaced.
///
/// # Errors
/// The file system refuses; the error names the file.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    whole(path, true, fill)
}

/// As [`write`], of a file that a crash of the machine may lose: the disk is not waited for.
///
/// # Errors
/// As [`write`].
pub fn write_soon(path: &Path, bytes: &[u8]) -> Result<()> {
    whole(path, false, |to| to.write_all(bytes))
}

fn whole(
    path: &Path,
    now: bool,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let partial = partial_name(path);
    let written = File::create_new(&partial).and_then(|file| {
        let mut to = BufWriter::new(file);
        fill(&mut to)?;
        let file = to.into_inner().map_err(io::IntoInnerError::into_error)?;
        if now {
            file.sync_all()?;
        }
        fs::rename(&partial, path)
    });
    written.map_err(|error| {
        // The error is reported, and there may be nothing to remove.
        let _ = fs::remove_file(&partial);
        anyhow!("{}: cannot write: {}", shown(path), io_error(&error))
    })
}

fn partial_name(path: &Path) -> PathBuf {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    let mut name = path.as_os_str().to_owned();
    let (host, id) = (super::host(), std::process::id());
    name.push(format!(".{host}.{id}.{nanos}{PARTIAL}"));
    name.into()
}

/// Removes files of writers that were killed. Only for a folder in which nobody writes.
///
/// # Errors
/// The folder cannot be read.
pub fn remove_leftovers(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder);
    let entries = entries.map_err(|error| anyhow!("{}: {}", shown(folder), io_error(&error)))?;
    for entry in entries {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(PARTIAL) {
            // Another process may have removed it.
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_nothing_and_a_good_one_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, |to| to.write_all(b"first")).unwrap();
        let failed = write(&path, |to| {
            to.write_all(b"sec")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        fs::write(folder.path().join("a.host.1.2.partial"), "x").unwrap();
        remove_leftovers(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
