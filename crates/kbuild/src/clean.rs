//! Clears the cache of sources, kernels and objects that are no longer needed.
use crate::build::request::Request;
use crate::build::Recipe;
use crate::cache::{self, Cache};
use crate::fetch::{debian, source};
use crate::flavour::Flavour;
use crate::{layout, version};
use anyhow::{bail, Context, Result};
use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Age of an unfinished entry whose process is taken to be gone.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// An entry of the cache that can be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub path: PathBuf,
    /// Why it can be removed: "an older kernel of its line", "objects of another source".
    pub why: &'static str,
    /// Bytes that its removal frees, after the items before it are removed: trees share files by
    /// hard links.
    pub bytes: u64,
}

/// Finds the entries of the cache that can be removed.
///
/// * Sources and images that are not the newest of their line.
/// * Kernels and objects that no configuration and series of `kernel_dir` makes from the newest
///   sources with the present compiler.
/// * Unfinished entries of interrupted processes.
/// * With `all`: every entry that hotset can make or fetch again.
///
/// # Errors
/// When a series or a fragment cannot be read, or the compiler cannot be run.
pub fn plan(cache: &Cache, kernel_dir: Option<&Path>, all: bool) -> Result<Vec<Item>> {
    let mut found: Vec<(PathBuf, &'static str)> = Vec::new();
    let folders = ["source", "debian", "kernel", "work", "apt", "disk", "root"];
    for folder in folders {
        for path in entries(&cache.root().join(folder)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(".partial-") && (all || abandoned(&path)) {
                found.push((path, "left by an interrupted hotset"));
            } else if all && cache::is_finished(&name) {
                found.push((path, "can be made or fetched again"));
            }
        }
    }
    if !all {
        let kernel_dir = kernel_dir.map_or_else(layout::kernel_dir, |dir| Ok(dir.into()))?;
        let kept = Kept::find(cache, &kernel_dir)?;
        for (folder, keep, why) in [
            ("source", &kept.sources, "an older kernel of its line"),
            ("debian", &kept.debian, "an older kernel of its line"),
            (
                "kernel",
                &kept.kernels,
                "no present series or configuration makes it",
            ),
            ("work", &kept.build_trees, "objects of another source"),
        ] {
            for path in entries(&cache.root().join(folder)) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if cache::is_finished(&name) && !keep.contains(name.as_ref()) {
                    found.push((path.clone(), why));
                }
            }
        }
    }
    found.sort();
    sized(found)
}

/// Removes the entries that [`plan`] found.
///
/// # Errors
/// When another process holds a lock of the cache, or an entry cannot be removed.
pub fn remove(cache: &Cache, items: &[Item]) -> Result<()> {
    // The locks are held to the end: no process may begin to work on an entry that is being removed.
    let mut locks = Vec::new();
    for dir in lock_dirs(cache) {
        for path in entries(&dir) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(name) = name.strip_prefix(".lock-") else {
                continue;
            };
            match cache::try_lock(&dir, name)? {
                Some(lock) => locks.push(lock),
                None => bail!("another hotset is working on {name}; try again when it is done"),
            }
        }
    }
    for item in items {
        let path = &item.path;
        let gone = match (path.parent(), path.file_name()) {
            // The entry is renamed first: an interrupted removal must not leave an entry that seems whole.
            (Some(folder), Some(name)) if cache::is_finished(&name.to_string_lossy()) => {
                let gone = folder.join(format!(".partial-clean-{}", name.to_string_lossy()));
                std::fs::rename(path, &gone).with_context(|| path.display().to_string())?;
                gone
            }
            _ => path.clone(),
        };
        let removed = if gone.is_dir() {
            std::fs::remove_dir_all(&gone)
        } else {
            std::fs::remove_file(&gone)
        };
        removed.with_context(|| format!("removing {}", gone.display()))?;
    }
    Ok(())
}

fn lock_dirs(cache: &Cache) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = ["source", "debian", "work", "disk", "root"]
        .iter()
        .map(|folder| cache.root().join(folder))
        .collect();
    dirs.extend(entries(&cache.root().join("apt")));
    dirs
}

/// Names of the entries that are needed, by folder of the cache.
#[derive(Default)]
struct Kept {
    sources: BTreeSet<String>,
    debian: BTreeSet<String>,
    kernels: BTreeSet<String>,
    build_trees: BTreeSet<String>,
}

impl Kept {
    fn find(cache: &Cache, kernel_dir: &Path) -> Result<Kept> {
        let mut kept = Kept::default();
        let name = |path: &Path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        for line in version::KNOWN {
            kept.debian
                .extend(debian::cached(cache, line).map(|image| image.release));
            let Some(source) = source::cached(cache, line)? else {
                continue;
            };
            kept.sources.insert(name(&source.dir));
            for (arch, variant) in layout::configurations(kernel_dir)? {
                for flavour in Flavour::ALL {
                    let request = Request {
                        arch: arch.clone(),
                        variant: variant.clone(),
                        kernel_dir: Some(kernel_dir.into()),
                        cache: Some(cache.clone()),
                        ..Request::new(line, flavour)
                    };
                    let dirs = request.series_dirs()?;
                    if flavour == Flavour::Debian || !dirs.iter().all(|dir| dir.is_dir()) {
                        continue;
                    }
                    let recipe = Recipe::of(&request, &mut |_| {})?;
                    kept.kernels.insert(recipe.key());
                    kept.build_trees.insert(recipe.build_tree_name());
                }
            }
        }
        Ok(kept)
    }
}

/// The entries of a directory; none if it does not exist.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn abandoned(path: &Path) -> bool {
    let modified = std::fs::symlink_metadata(path).and_then(|data| data.modified());
    modified.is_ok_and(|time| {
        SystemTime::now()
            .duration_since(time)
            .is_ok_and(|age| age > ABANDONED)
    })
}

/// Adds the bytes that each removal frees. A file with several links frees its blocks only with the
/// last of them.
fn sized(found: Vec<(PathBuf, &'static str)>) -> Result<Vec<Item>> {
    let mut links: HashMap<(u64, u64), u64> = HashMap::new();
    let mut items = Vec::new();
    for (path, why) in found {
        let mut bytes = 0;
        let mut count = |data: &std::fs::Metadata| {
            let seen = links.entry((data.dev(), data.ino())).or_insert(0);
            *seen += 1;
            if data.is_dir() || *seen == data.nlink() {
                bytes += data.blocks() * 512;
            }
        };
        let mut todo = vec![path.clone()];
        while let Some(path) = todo.pop() {
            let data =
                std::fs::symlink_metadata(&path).with_context(|| path.display().to_string())?;
            count(&data);
            if data.is_dir() {
                todo.extend(entries(&path));
            }
        }
        items.push(Item { path, why, bytes });
    }
    Ok(items)
}
