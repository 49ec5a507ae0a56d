//! Clears the cache of what today's kernels are not made of.
use crate::build::Recipe;
use crate::cache::{self, Cache};
use crate::flavour::Flavour;
use crate::request::Request;
use crate::{debian, rooms, source, version};
use anyhow::{bail, Context, Result};
use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Something unfinished that is older was left by a process that is gone.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Something of the cache that can go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub path: PathBuf,
    /// Why it can go: "an older Linux 7.3", "objects of another source".
    pub why: &'static str,
    /// What its going frees, with what goes before it: trees share files by hard links.
    pub bytes: u64,
}

/// What can go: sources and images that are not the newest of their line, kernels and objects that
/// no configuration and series of `kernel_dir` makes from the newest sources with today's compiler,
/// and what interrupted processes left. With `all`, everything that hotset can make or fetch again.
///
/// # Errors
/// When a series or a fragment cannot be read, or the compiler not be asked.
pub fn plan(cache: &Cache, kernel_dir: Option<&Path>, all: bool) -> Result<Vec<Item>> {
    let mut found: Vec<(PathBuf, &'static str)> = Vec::new();
    let rooms = ["source", "debian", "kernel", "work", "apt", "disk"];
    for room in rooms {
        for path in entries(&cache.root().join(room)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(".partial-") && (all || abandoned(&path)) {
                found.push((path, "left by an interrupted hotset"));
            } else if all && cache::is_finished(&name) {
                found.push((path, "can be had again"));
            }
        }
    }
    if !all {
        let kernel_dir = kernel_dir.map_or_else(rooms::kernel_dir, |dir| Ok(dir.into()))?;
        let kept = Kept::find(cache, &kernel_dir)?;
        for (room, keep, why) in [
            ("source", &kept.sources, "an older kernel of its line"),
            ("debian", &kept.debian, "an older kernel of its line"),
            (
                "kernel",
                &kept.kernels,
                "no series or configuration here makes it",
            ),
            ("work", &kept.workshops, "objects of another source"),
        ] {
            for path in entries(&cache.root().join(room)) {
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

/// Removes what [`plan`] found.
///
/// # Errors
/// When another hotset is at work in the cache, or something cannot be removed.
pub fn remove(cache: &Cache, items: &[Item]) -> Result<()> {
    // Held to the end, so that nobody begins to work on what goes.
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
            // Renamed first: cut off half-way, it must not look whole.
            (Some(room), Some(name)) if cache::is_finished(&name.to_string_lossy()) => {
                let gone = room.join(format!(".partial-clean-{}", name.to_string_lossy()));
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
    let mut dirs: Vec<PathBuf> = ["source", "debian", "work"]
        .iter()
        .map(|room| cache.root().join(room))
        .collect();
    dirs.extend(entries(&cache.root().join("apt")));
    dirs
}

/// Names in each room of what is needed.
#[derive(Default)]
struct Kept {
    sources: BTreeSet<String>,
    debian: BTreeSet<String>,
    kernels: BTreeSet<String>,
    workshops: BTreeSet<String>,
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
            for (arch, variant) in rooms::configurations(kernel_dir)? {
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
                    kept.workshops.insert(recipe.workshop_name());
                }
            }
        }
        Ok(kept)
    }
}

/// What is in a directory; nothing if it is not there.
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

/// Adds to each what it frees. A file with other links frees its blocks only with the last of them.
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
