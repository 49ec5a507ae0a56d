//! Copies a tree of files, as rsync(1) or cp(1) would.
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::paths::SCRATCH;
use crate::work::files::read::CHUNK;
use crate::work::files::write::TREE;
use crate::work::stop::stopping;

/// Files and bytes copied so far.
#[derive(Debug, Default, PartialEq)]
struct Copied {
    files: u64,
    bytes: u64,
}

/// Copies the tree over its last copy, until SIGTERM.
pub fn tree(worker: &str, rest_ms: u64, channel: &Channel) -> Result<()> {
    let scratch = Path::new(SCRATCH);
    let (from, to) = (scratch.join(TREE), scratch.join(format!("copy-{worker}")));
    let rest = Duration::from_millis(rest_ms);
    let (begin, mut copied) = (now_ms(), Copied::default());
    while !stopping() {
        let (since, before) = (now_ms(), copied.files);
        if !folder(&from, &to, &mut copied, &mut || {
            std::thread::sleep(rest);
            !stopping()
        })? {
            break;
        }
        anyhow::ensure!(copied.files > before, "{} has no files", from.display());
        channel.observe(format!("{worker}.copy_ms"), since, now_ms() - since);
    }
    let mb = copied.bytes as f64 / f64::from(1 << 20);
    channel.observe(format!("{worker}.copied"), begin, copied.files as f64);
    channel.observe(format!("{worker}.copied_mb"), begin, mb);
    Ok(())
}

/// Copies the contents of a folder until `go_on`, called after each file, returns false. Returns
/// whether everything was copied.
fn folder(
    from: &Path,
    to: &Path,
    copied: &mut Copied,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<bool> {
    std::fs::create_dir_all(to).with_context(|| format!("making {}", to.display()))?;
    let context = || format!("listing {}", from.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(from).with_context(context)? {
        let entry = entry.with_context(context)?;
        entries.push((entry.file_name(), entry.file_type().with_context(context)?));
    }
    // In the order of names, as in rsync(1), so that the order is the same in every arm.
    entries.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, kind) in entries {
        let (from, to) = (from.join(&name), to.join(&name));
        if kind.is_dir() {
            if !folder(&from, &to, copied, go_on)? {
                return Ok(false);
            }
            continue;
        }
        copied.bytes += file(&from, &to)?;
        copied.files += 1;
        if !go_on() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies a file by read(2) and write(2) under another name and renames it, as rsync(1) does: the
/// old copy stays until the new one is whole.
fn file(from: &Path, to: &Path) -> Result<u64> {
    let context = || format!("copying {} to {}", from.display(), to.display());
    let partial: PathBuf = to.with_extension("partial");
    let mut source = File::open(from).with_context(context)?;
    let mut target = File::create(&partial).with_context(context)?;
    let mut buffer = [0; CHUNK / 4];
    let mut bytes = 0;
    loop {
        let n = source.read(&mut buffer).with_context(context)?;
        if n == 0 {
            break;
        }
        target.write_all(&buffer[..n]).with_context(context)?;
        bytes += n as u64;
    }
    std::fs::rename(&partial, to).with_context(context)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_tree_is_copied_whole_and_over_the_last_copy() {
        let room = tempfile::tempdir().unwrap();
        let (from, to) = (room.path().join("from"), room.path().join("to"));
        fs::create_dir_all(from.join("00")).unwrap();
        fs::write(from.join("00/a"), vec![7; 100_000]).unwrap();
        fs::write(from.join("b"), "short").unwrap();
        for _ in 0..2 {
            let mut copied = Copied::default();
            assert!(folder(&from, &to, &mut copied, &mut || true).unwrap());
            let wanted = Copied {
                files: 2,
                bytes: 100_005,
            };
            assert_eq!(copied, wanted);
            assert_eq!(fs::read(to.join("00/a")).unwrap(), vec![7; 100_000]);
            assert_eq!(fs::read(to.join("b")).unwrap(), b"short");
        }
        assert_eq!(fs::read_dir(&to).unwrap().count(), 2, "nothing partial");
        let mut copied = Copied::default();
        assert!(!folder(&from, &to, &mut copied, &mut || false).unwrap());
        assert_eq!(copied.files, 1, "stopped after the first file");
    }
}
