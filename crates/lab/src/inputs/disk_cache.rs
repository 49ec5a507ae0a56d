//! The cached data disks: which of them are in use, and how many are kept.
use anyhow::{Context, Result};
use rustix::fs::{flock, FlockOperation};
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes of data disks that the cache keeps: some thirty of half a gigabyte. One is made again in
/// seconds, and each seed and each size of memory has its own.
pub const KEPT: u64 = 16 << 30;

/// A finished data disk. No hotset removes it from the cache while this exists.
#[derive(Debug)]
pub struct DataDisk {
    path: PathBuf,
    /// Has a shared lock.
    _file: File,
}

impl DataDisk {
    /// The disk at this path, marked as used now; none if there is none.
    ///
    /// # Errors
    /// When the image cannot be opened or locked.
    pub fn find(path: &Path) -> Result<Option<DataDisk>> {
        let context = || path.display().to_string();
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(context),
        };
        flock(&file, FlockOperation::LockShared).with_context(context)?;
        // Another hotset may have removed it before it was locked.
        let opened = file.metadata().with_context(context)?;
        if std::fs::metadata(path).map(|now| now.ino()).ok() != Some(opened.ino()) {
            return Ok(None);
        }
        // A cache of another user may be readable only: its disks are then the first to go.
        let _ = file.set_modified(SystemTime::now());
        Ok(Some(DataDisk {
            path: path.into(),
            _file: file,
        }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the least recently used disks of a folder until it has at most `kept` bytes of them. Disks
/// in use stay.
///
/// # Errors
/// When the folder cannot be read, or an image cannot be removed.
pub fn trim(folder: &Path, kept: u64) -> Result<()> {
    let context = || folder.display().to_string();
    let mut disks: Vec<(PathBuf, Metadata)> = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if path.extension().is_some_and(|it| it == "ext4") {
            if let Ok(metadata) = path.metadata() {
                disks.push((path, metadata));
            }
        }
    }
    disks.sort_by_key(|(_, metadata)| metadata.modified().ok());
    // Images are sparse where the file system cannot allocate.
    let occupied = |metadata: &Metadata| metadata.blocks() * 512;
    let mut total: u64 = disks.iter().map(|(_, metadata)| occupied(metadata)).sum();
    for (path, metadata) in disks {
        if total <= kept {
            break;
        }
        let Ok(file) = File::open(&path) else {
            continue;
        };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
            total -= occupied(&metadata);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{trim, DataDisk};
    use std::fs::File;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, SystemTime};

    /// A disk of 64 KiB that was last used so many hours ago.
    fn disk(folder: &Path, name: &str, hours: u64) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, vec![1; 64 << 10]).unwrap();
        let used = SystemTime::now() - Duration::from_secs(hours * 3600);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(used).unwrap();
        path
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let [old, older, new] =
            [("a.ext4", 2), ("b.ext4", 3), ("c.ext4", 1)].map(|(n, h)| disk(folder.path(), n, h));
        trim(folder.path(), 192 << 10).unwrap();
        assert!(old.exists() && older.exists() && new.exists(), "all fit");
        trim(folder.path(), 160 << 10).unwrap();
        assert!(old.exists() && !older.exists() && new.exists());
        assert!(DataDisk::find(&older).unwrap().is_none());
    }

    #[test]
    fn a_disk_in_use_stays_and_counts_as_used_now() {
        let folder = tempfile::tempdir().unwrap();
        let [held, other] = [("a.ext4", 3), ("b.ext4", 1)].map(|(n, h)| disk(folder.path(), n, h));
        let in_use = DataDisk::find(&held).unwrap().unwrap();
        trim(folder.path(), 0).unwrap();
        assert!(held.exists() && !other.exists());
        drop(in_use);
        let third = disk(folder.path(), "c.ext4", 1);
        trim(folder.path(), 64 << 10).unwrap();
        assert!(held.exists() && !third.exists(), "used a moment ago");
    }

    #[test]
    fn two_may_use_a_disk_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = disk(folder.path(), "a.ext4", 0);
        let first = DataDisk::find(&path).unwrap().unwrap();
        let second = DataDisk::find(first.path()).unwrap().unwrap();
        drop(first);
        trim(folder.path(), 0).unwrap();
        assert!(second.path().exists());
    }

    #[test]
    fn images_that_are_being_made_stay() {
        let folder = tempfile::tempdir().unwrap();
        let partial = disk(folder.path(), "a.partial", 30);
        trim(folder.path(), 0).unwrap();
        assert!(partial.exists());
    }
}
