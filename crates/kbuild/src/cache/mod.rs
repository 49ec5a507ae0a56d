//! The cache directory. An entry of the cache is either whole or absent.
//!
//! ```text
//! source/linux-7.3.4/      a pristine tree
//! kernel/KEY/              linux, config, build.log, meta.json
//! debian/RELEASE/          vmlinuz, config, System.map, modules/, of Debian's own kernel
//! work/NAME/               a tree with its objects, which the next build reuses
//! apt/SUITE/               a private apt root
//! root/                    the lab's roots of programs
//! ```
//! Each entry is made under a name that begins with `.partial-`, and renamed when it is whole.
pub mod files;

use anyhow::{bail, Context, Result};
use progress::{Progress, Step};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::format_bytes;

/// Prefix of the names of unfinished entries.
const PARTIAL: &str = ".partial-";

/// The cache: `$XDG_CACHE_HOME/hotset`, else `~/.cache/hotset`.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The user's cache.
    ///
    /// # Errors
    /// When neither `XDG_CACHE_HOME` nor `HOME` is set.
    pub fn of_user() -> Result<Cache> {
        let absolute = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        match (absolute("XDG_CACHE_HOME"), absolute("HOME")) {
            (Some(cache), _) => Ok(Cache::at(cache.join("hotset"))),
            (None, Some(home)) => Ok(Cache::at(home.join(".cache/hotset"))),
            (None, None) => bail!("neither XDG_CACHE_HOME nor HOME is set: set one of them"),
        }
    }

    pub fn at(root: impl Into<PathBuf>) -> Cache {
        Cache { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A directory of the cache, made if it does not exist.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        let dir = self.root.join(name);
        std::fs::create_dir_all(&dir).with_context(|| {
            format!(
                "{}: cannot make the cache folder; XDG_CACHE_HOME chooses another",
                dir.display()
            )
        })?;
        Ok(dir)
    }
}

/// A lock on an entry of the cache. It is released when dropped, or when the process ends.
pub struct Lock(File);

impl Drop for Lock {
    // The lock is released explicitly, because closing the file is not enough. A child that another
    // thread has forked has the same open file until its exec.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, rustix::fs::FlockOperation::Unlock);
    }
}

/// Takes the lock `DIR/.lock-NAME`. Waits for another process that has it, and reports the wait.
///
/// # Errors
/// When the lock file cannot be made or locked.
pub fn lock(dir: &Path, name: &str, progress: &mut Progress) -> Result<Lock> {
    let mut reported = false;
    let lock = loop {
        if let Some(lock) = try_lock(dir, name)? {
            break lock;
        }
        if !reported {
            reported = true;
            progress(Step::Begin {
                title: format!("Waiting for another hotset that works on {name}"),
                total: None,
                unit: progress::Unit::Steps,
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        progress(Step::Advance {
            done: 0,
            detail: String::new(),
        });
    };
    if reported {
        progress(Step::End {
            text: "The other hotset is done".into(),
        });
    }
    Ok(lock)
}

/// Takes the same lock unless another process has it.
///
/// # Errors
/// As [`lock`].
pub fn try_lock(dir: &Path, name: &str) -> Result<Option<Lock>> {
    use rustix::fs::{flock, FlockOperation};
    let path = dir.join(format!(".lock-{name}"));
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock(file))),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => bail!("{}: cannot lock: {error}", path.display()),
    }
}

/// An unfinished directory beside its final place. It is deleted when dropped.
pub struct Partial(tempfile::TempDir);

impl Partial {
    /// Makes a directory for `name` in `dir`, after deleting unfinished directories of that name.
    /// The caller holds the lock of that name.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn begin(dir: &Path, name: &str) -> Result<Partial> {
        let prefix = format!("{PARTIAL}{name}-");
        let entries = std::fs::read_dir(dir).with_context(|| dir.display().to_string())?;
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                std::fs::remove_dir_all(entry.path())
                    .with_context(|| format!("clearing {}", entry.path().display()))?;
            }
        }
        let made = tempfile::Builder::new()
            .prefix(&prefix)
            .tempdir_in(dir)
            .with_context(|| dir.display().to_string())?;
        Ok(Partial(made))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Moves `from`, which is this directory or one inside, to its final place. Replaces an older
    /// entry.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn finish(self, from: &Path, to: &Path) -> Result<()> {
        let old = self.0.path().with_extension("old");
        if to.exists() {
            std::fs::rename(to, &old).with_context(|| to.display().to_string())?;
        }
        std::fs::rename(from, to)
            .with_context(|| format!("moving {} to {}", from.display(), to.display()))?;
        if old.exists() {
            std::fs::remove_dir_all(&old).with_context(|| old.display().to_string())?;
        }
        Ok(())
    }
}

/// Whether an entry of this name is finished.
pub fn is_finished(name: &str) -> bool {
    !name.starts_with('.')
}

/// Checks that the file system of `dir` has `needed` bytes free. `purpose` is the use of the space,
/// for the message.
///
/// # Errors
/// When there is less space, or the file system cannot be queried.
pub fn need_space(dir: &Path, needed: u64, purpose: &str) -> Result<()> {
    let stat = rustix::fs::statvfs(dir).with_context(|| dir.display().to_string())?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free < needed {
        bail!(
            "{}: {} free, but {purpose} needs about {}. Free some, or set XDG_CACHE_HOME to a \
             folder on a larger disk",
            dir.display(),
            format_bytes(free as f64),
            format_bytes(needed as f64)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_partial_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let partial = Partial::begin(dir.path(), "x").unwrap();
        std::fs::write(partial.path().join("half"), "half").unwrap();
        drop(partial);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn leftovers_of_an_interrupted_process_are_cleared_and_never_finished() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(".partial-x-abc");
        std::fs::create_dir(&left).unwrap();
        assert!(!is_finished(".partial-x-abc"));
        let other = dir.path().join(".partial-y-abc");
        std::fs::create_dir(&other).unwrap();
        let partial = Partial::begin(dir.path(), "x").unwrap();
        assert!(!left.exists());
        assert!(other.exists(), "leftovers of another name stay");
        drop(partial);
    }

    #[test]
    fn finishing_replaces_the_old() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("x");
        std::fs::create_dir(&to).unwrap();
        std::fs::write(to.join("old"), "").unwrap();
        let partial = Partial::begin(dir.path(), "x").unwrap();
        let from = partial.path().join("tree");
        std::fs::create_dir(&from).unwrap();
        std::fs::write(from.join("new"), "").unwrap();
        partial.finish(&from, &to).unwrap();
        assert!(to.join("new").exists() && !to.join("old").exists());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn too_little_space_is_an_error_before_work_starts() {
        let dir = tempfile::tempdir().unwrap();
        need_space(dir.path(), 1, "nothing").unwrap();
        let error = need_space(dir.path(), u64::MAX, "everything").unwrap_err();
        assert!(error.to_string().contains("XDG_CACHE_HOME"), "{error}");
    }
}
