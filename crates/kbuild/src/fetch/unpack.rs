//! Unpacks downloaded packages.
use crate::process;
use anyhow::{bail, Context, Result};
use progress::{Progress, Step, Unit};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Unpacks a package's files below `dir`, and removes the package; returns the files' root.
///
/// # Errors
/// When dpkg fails, with its output.
pub fn deb(deb: &Path, dir: &Path) -> Result<PathBuf> {
    let outer = dir.join("deb");
    let output = process::output(Command::new("dpkg").arg("-x").arg(deb).arg(&outer))?;
    if !output.status.success() {
        bail!("dpkg -x {} failed: {}", deb.display(), output.err.trim());
    }
    std::fs::remove_file(deb)?;
    Ok(outer)
}

/// Unpacks a linux-source package below `dir`; returns the tree.
///
/// # Errors
/// When dpkg or tar fails, with its output.
pub fn unpack(deb: &Path, dir: &Path, package: &str, progress: &mut Progress) -> Result<PathBuf> {
    let outer = self::deb(deb, dir)?;
    let archive = outer.join(format!("usr/src/{package}.tar.xz"));
    let inner = dir.join("tree");
    std::fs::create_dir(&inner)?;
    untar(&archive, &inner, package, progress)?;
    std::fs::remove_dir_all(&outer)?;
    Ok(inner)
}

/// Unpacks a `.tar.xz` with one top directory into `to`. tar reads the archive from a pipe, so that
/// progress can be reported.
///
/// # Errors
/// When the archive is broken or the disk is full.
pub fn untar(archive: &Path, to: &Path, name: &str, progress: &mut Progress) -> Result<()> {
    let mut file =
        File::open(archive).with_context(|| format!("{}: no such archive", archive.display()))?;
    let total = file.metadata()?.len();
    progress(Step::Begin {
        title: format!("Unpacking {name}"),
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
    let mut child = process::spawn(&mut tar)?;
    let stderr = child.0.stderr.take();
    let stderr_text = std::thread::spawn(move || {
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
        // A write fails when tar has ended; tar's own output has the reason.
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
    let stderr_text = stderr_text.join().unwrap_or_default();
    if !status.success() {
        if stderr_text.contains("No space left") {
            bail!("the disk is full; free 2 GB, or set XDG_CACHE_HOME to a larger disk");
        }
        // The first lines have the cause, the rest follow from it.
        let first: Vec<&str> = stderr_text.lines().take(5).collect();
        bail!("tar failed ({status}):\n{}", first.join("\n"));
    }
    progress(Step::End {
        text: format!("Unpacked {name}"),
    });
    Ok(())
}
