//! Unpacks what was downloaded.
use crate::proc;
use crate::progress::{Progress, Step, Unit};
use anyhow::{bail, Context, Result};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Unpacks a package's files below `dir`, and removes it; returns their root.
///
/// # Errors
/// When dpkg fails, with its words.
pub fn deb(deb: &Path, dir: &Path) -> Result<PathBuf> {
    let outer = dir.join("deb");
    let said = proc::say(Command::new("dpkg").arg("-x").arg(deb).arg(&outer))?;
    if !said.status.success() {
        bail!("dpkg -x {} failed: {}", deb.display(), said.err.trim());
    }
    std::fs::remove_file(deb)?;
    Ok(outer)
}

/// Unpacks a linux-source package below `dir`; returns the tree.
///
/// # Errors
/// When dpkg or tar fails, with its words.
pub fn unpack(deb: &Path, dir: &Path, package: &str, progress: &mut Progress) -> Result<PathBuf> {
    let outer = self::deb(deb, dir)?;
    let archive = outer.join(format!("usr/src/{package}.tar.xz"));
    let inner = dir.join("tree");
    std::fs::create_dir(&inner)?;
    untar(&archive, &inner, package, progress)?;
    std::fs::remove_dir_all(&outer)?;
    Ok(inner)
}

/// Unpacks a `.tar.xz` with one top directory into `to`. The archive is fed to tar so that progress
/// can be told.
///
/// # Errors
/// When the archive is broken or the disk is full.
pub fn untar(archive: &Path, to: &Path, what: &str, progress: &mut Progress) -> Result<()> {
    let mut file =
        File::open(archive).with_context(|| format!("{}: no such archive", archive.display()))?;
    let total = file.metadata()?.len();
    progress(Step::Begin {
        what: format!("Unpacking {what}"),
        total: Some(total),
        unit: Unit::Bytes,
    });
    let mut tar = Command::new("tar");
    tar.args([
        "-xJ",
        "--strip-components=1",
        "--no-same-owner",
        "-f",
        "-",
        "-C",
    ])
    .arg(to)
    .env("LC_ALL", "C")
    .stdin(Stdio::piped())
    .stderr(Stdio::piped());
    let mut child = proc::spawn(&mut tar)?;
    let stderr = child.0.stderr.take();
    let words = std::thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut stream) = stderr {
            let _ = stream.read_to_string(&mut text);
        }
        text
    });
    let mut input = child.0.stdin.take().context("tar has no standard input")?;
    let mut block = vec![0; 1 << 20];
    let mut done = 0;
    loop {
        let n = file.read(&mut block)?;
        // A write fails when tar gave up; its own words say why.
        if n == 0 || input.write_all(&block[..n]).is_err() {
            break;
        }
        done += n as u64;
        progress(Step::Advance {
            done,
            detail: String::new(),
        });
    }
    drop(input);
    let status = child.0.wait()?;
    let words = words.join().unwrap_or_default();
    if !status.success() {
        if words.contains("No space left") {
            bail!("the disk is full; free 2 GB, or set XDG_CACHE_HOME to a larger disk");
        }
        // The first lines name the cause, the rest follow from it.
        let first: Vec<&str> = words.lines().take(5).collect();
        bail!("tar failed ({status}):\n{}", first.join("\n"));
    }
    progress(Step::End {
        what: format!("Unpacked {what}"),
    });
    Ok(())
}
