//! The directory that stands for `/`.
use std::path::{Path, PathBuf};

/// The directory that holds `proc` and `sys`: `/` on a machine, a directory of recorded files in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Default for Root {
    fn default() -> Self {
        Self::new("/")
    }
}

impl Root {
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(directory.into())
    }

    /// The directory itself.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// `path` (absolute, as on a machine: `/proc/vmstat`) below this root.
    #[must_use]
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The file of a sysctl by dotted name: `vm.swappiness` is `/proc/sys/vm/swappiness`.
    #[must_use]
    pub fn sysctl(&self, name: &str) -> PathBuf {
        self.0.join("proc/sys").join(name.replace('.', "/"))
    }
}
