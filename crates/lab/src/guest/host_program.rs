//! Programs of this machine for guests, with their libraries: other daemons, with which hotsetd is
//! compared.
//!
//! A program is searched for where packages install it, and in the cache. The cache may have the
//! unpacked package of a program that is not installed:
//!
//! ```text
//! cd ~/.cache/hotset && apt-get download earlyoom && dpkg -x earlyoom_*.deb daemon/earlyoom
//! ```
use super::elf::interpreter;
use anyhow::{bail, Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of a program inside guests.
#[must_use]
pub fn place(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default();
    format!("/sbin/{}", name.to_string_lossy())
}

/// The program and its libraries: path in the guest, and content.
///
/// # Errors
/// When there is no such program, or a library that it needs is not on this machine.
pub fn files(program: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let path = find(program)?;
    let read =
        |path: &Path| std::fs::read(path).with_context(|| format!("reading {}", path.display()));
    let content = match program {
        "hotset" => stripped(&path)?,
        _ => read(&path)?,
    };
    let loader = interpreter(&content)
        .map_err(|why| anyhow::anyhow!("{} is no program for a guest: {why}", path.display()))?;
    let mut files = vec![(place(program), content)];
    if let Some(loader) = loader {
        for library in libraries(&loader, &path)? {
            files.push((library.display().to_string(), read(&library)?));
        }
        files.push((loader.clone(), read(Path::new(&loader))?));
    }
    Ok(files)
}

/// This program's own file without lines of source, which are most of it: it lies in the guest's memory.
fn stripped(path: &Path) -> Result<Vec<u8>> {
    let small = tempfile::NamedTempFile::new().context("a file for a stripped program")?;
    let output = Command::new("strip")
        .arg("-o")
        .args([small.path(), path])
        .output()
        .context("running strip; the package binutils has it")?;
    if !output.status.success() {
        bail!(
            "strip {}: {}",
            path.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    std::fs::read(small.path()).with_context(|| format!("reading {}", small.path().display()))
}

/// The file of a program, where packages install it or in the cache; of `hotset`, the one that runs.
///
/// # Errors
/// When there is none; the message has the remedy.
pub fn find(program: &str) -> Result<PathBuf> {
    if program.contains('/') {
        return Ok(program.into());
    }
    if program == "hotset" {
        return std::env::current_exe().context("where is this program?");
    }
    let folders = ["usr/bin", "usr/sbin", "lib/systemd", "usr/lib/systemd"];
    let cache = kbuild::cache::Cache::of_user()?.root().join("daemon");
    let unpacked =
        { std::fs::read_dir(&cache).into_iter().flatten().flatten() }.map(|package| package.path());
    for root in [PathBuf::from("/")].into_iter().chain(unpacked) {
        for folder in folders {
            let path = root.join(folder).join(program);
            if path.is_file() {
                return Ok(path);
            }
        }
    }
    bail!(
        "there is no {program} on this machine: install it, or unpack its package: cd {0} && \
         apt-get download {program} && dpkg -x {program}_*.deb {0}/daemon/{program}",
        cache.parent().unwrap_or(&cache).display()
    )
}

/// The libraries of a program, as its loader lists them.
fn libraries(loader: &str, program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new(loader)
        .arg("--list")
        .arg(program)
        .output()
        .with_context(|| {
            format!(
                "running {loader}, for the libraries of {}",
                program.display()
            )
        })?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("libraries of {}: {}", program.display(), why.trim());
    }
    Ok(listed(&String::from_utf8_lossy(&output.stdout)))
}

/// The paths in a loader's list, which has lines such as `libc.so.6 => /lib/libc.so.6 (0x7f00)`.
fn listed(text: &str) -> Vec<PathBuf> {
    let paths = text.lines().filter_map(|line| {
        let (_, path) = line.split_once("=> ")?;
        let (path, _) = path.rsplit_once(" (")?;
        Some(PathBuf::from(path))
    });
    paths.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paths_in_the_loaders_list_are_found() {
        let text = "\tlinux-vdso.so.1 (0x7ff)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x7f)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
        assert_eq!(listed(text), [PathBuf::from("/lib/x/libc.so.6")]);
    }

    #[test]
    fn a_program_comes_with_its_loader_and_its_libraries() {
        let files = files("/bin/ls").unwrap();
        let has = |part: &str| files.iter().any(|(path, _)| path.contains(part));
        assert_eq!(files[0].0, "/sbin/ls");
        assert!(has("libc.so") && has("ld-linux"));
    }

    #[test]
    fn a_missing_program_is_an_error_that_names_the_way_to_get_it() {
        let error = files("no-such-daemon").unwrap_err().to_string();
        assert!(error.contains("apt-get download no-such-daemon"), "{error}");
    }
}
