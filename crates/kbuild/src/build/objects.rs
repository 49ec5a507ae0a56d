//! Objects of earlier builds: which are out of date, and which cannot be trusted.
use crate::cache::files::{files_below, remove};
use anyhow::{Context, Result};
use progress::{Progress, Step};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The number of objects that depend on the files `changed` (full paths), by kbuild's records of
/// each object's sources.
///
/// # Errors
/// When a directory cannot be read.
pub(crate) fn dependents(objects: &Path, changed: &[PathBuf]) -> Result<u64> {
    if changed.is_empty() {
        return Ok(0);
    }
    let changed: HashSet<&str> = changed.iter().filter_map(|path| path.to_str()).collect();
    let mut count = 0;
    for path in files_below(objects)? {
        if path.to_string_lossy().ends_with(".o.cmd") {
            let text = std::fs::read(objects.join(path))?;
            let text = String::from_utf8_lossy(&text);
            count += u64::from(text.split_whitespace().any(|word| changed.contains(word)));
        }
    }
    Ok(count)
}

/// The mark that stands in a build tree while make runs.
///
/// Where a mark stands already, that build was interrupted, and the objects that it wrote cannot be
/// trusted.
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes the mark in `dir`. If the mark stands there already, removes the objects that were written
    /// since. After a restart of the machine, which may have lost earlier writes too, removes all objects.
    ///
    /// # Errors
    /// When a file cannot be read, written or removed.
    pub(crate) fn begin(
        dir: &Path,
        objects: &Path,
        whole: &Path,
        progress: &mut Progress,
    ) -> Result<Unfinished> {
        let mark = dir.join("unclean");
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        if let Ok(left) = std::fs::read_to_string(&mark) {
            let since = std::fs::metadata(&mark)?.modified()?;
            let mut removed = 0;
            for path in files_below(objects)? {
                let path = objects.join(path);
                let changed = std::fs::symlink_metadata(&path)?.modified()?;
                if left != boot || boot.is_empty() || changed >= since {
                    removed += u64::from(remove(&path)?);
                }
            }
            // The remaining objects are no whole kernel: a missing object may be configured.
            remove(whole)?;
            progress(Step::Note {
                text: format!(
                    "The last build here was interrupted: cleared {removed} of its files"
                ),
            });
        }
        // The mark is not rewritten in place: its time is the start of make.
        remove(&mark)?;
        std::fs::write(&mark, boot).with_context(|| mark.display().to_string())?;
        Ok(Unfinished(mark))
    }

    /// Make ended by itself, so its objects are good.
    ///
    /// # Errors
    /// When the mark cannot be removed.
    pub(crate) fn finish(self) -> Result<()> {
        std::fs::remove_file(&self.0).with_context(|| self.0.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_out_of_date_are_counted_by_kbuilds_records() {
        let dir = tempfile::tempdir().unwrap();
        let mm = dir.path().join("mm");
        std::fs::create_dir(&mm).unwrap();
        for (name, header) in [("a", "x.h"), ("b", "x.h"), ("c", "x.hh")] {
            let text = format!("deps_{name}.o := \\\n  /src/{header} \\\n\n");
            std::fs::write(mm.join(format!(".{name}.o.cmd")), text).unwrap();
        }
        let count = |path: &str| dependents(dir.path(), &[path.into()]).unwrap();
        assert_eq!((count("/src/x.h"), count("/src/y.h")), (2, 0));
    }
}
