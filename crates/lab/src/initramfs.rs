//! The first root of a guest: `hotset-guest` as `/init`, and its orders.
use crate::cpio::Archive;
use anyhow::{bail, Context, Result};
use kbuild::debian::Module;
use raw::spec::GuestSpec;
use std::path::{Path, PathBuf};

/// The environment variable that names the guest's program.
pub const VARIABLE: &str = "HOTSET_GUEST";
const PROGRAM: &str = "hotset-guest";
const INSTALLED: &str = "/usr/lib/hotset/hotset-guest";

/// The guest's program, read once for all guests.
pub struct Init {
    path: PathBuf,
    program: Vec<u8>,
    /// Name and program of each of the kernel's selftests that the guest may be told to run.
    selftests: Vec<(String, Vec<u8>)>,
}

impl Init {
    /// Finds `hotset-guest`: `HOTSET_GUEST`, beside this program, or where packages install it.
    ///
    /// # Errors
    /// When there is none, or it needs libraries that a guest does not have.
    pub fn find() -> Result<Init> {
        Init::at(Init::path()?)
    }

    /// The same with a given program.
    pub fn at(path: PathBuf) -> Result<Init> {
        let program =
            std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let here = path.display();
        match interpreter(&program) {
            Ok(None) => Ok(Init {
                path,
                program,
                selftests: Vec::new(),
            }),
            Ok(Some(loader)) => bail!(
                "{here} is not static (it asks for {loader}), and a guest has no libraries: build \
                 it in the source tree, whose .cargo/config.toml makes it static: cargo build \
                 --release -p guest"
            ),
            Err(why) => bail!("{here} is no program for a guest: {why}"),
        }
    }

    /// With one of the kernel's selftests, for [`raw::spec::Task::Selftest`].
    ///
    /// # Errors
    /// As of [`Init::at`]: it must be static.
    pub fn with_selftest(mut self, name: &str, path: &Path) -> Result<Init> {
        let test = Init::at(path.into())?;
        self.selftests.push((name.into(), test.program));
        Ok(self)
    }

    fn path() -> Result<PathBuf> {
        if let Some(given) = std::env::var_os(VARIABLE) {
            return Ok(given.into());
        }
        let own = std::env::current_exe().context("finding this program's own path")?;
        // A test's program is in `deps/`, one below.
        let beside = own.ancestors().skip(1).take(2).map(|dir| dir.join(PROGRAM));
        let places: Vec<PathBuf> = beside.chain([INSTALLED.into()]).collect();
        if let Some(found) = places.iter().find(|path| path.is_file()) {
            return Ok(found.clone());
        }
        let places: Vec<String> = places
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        bail!(
            "there is no {PROGRAM} (looked for {}): cargo build --release -p guest, or name it in \
             {VARIABLE}",
            places.join(", ")
        )
    }

    pub fn program_path(&self) -> &Path {
        &self.path
    }

    /// The archive for one guest whose kernel has all that it needs built in.
    pub fn archive(&self, spec: &GuestSpec) -> Result<Vec<u8>> {
        self.archive_with(spec, &[])
    }

    /// The archive for one guest, with modules that it is to load, in this order, before anything
    /// else.
    pub fn archive_with(&self, spec: &GuestSpec, modules: &[Module]) -> Result<Vec<u8>> {
        let mut archive = Archive::new();
        for directory in ["dev", "proc", "sys", "tmp", "data", "hotset"] {
            archive.directory(directory);
        }
        // Standard output of /init, before devtmpfs is mounted.
        archive.device("dev/console", 0o600, (5, 1));
        archive.file("init", 0o755, &self.program);
        let spec = serde_json::to_vec_pretty(spec).context("writing the guest's orders")?;
        archive.file("hotset/spec.json", 0o644, &spec);
        if !self.selftests.is_empty() {
            archive.directory("hotset/selftests");
        }
        for (name, program) in &self.selftests {
            archive.file(&format!("hotset/selftests/{name}"), 0o755, program);
        }
        if !modules.is_empty() {
            archive.directory("hotset/modules");
        }
        for (place, module) in modules.iter().enumerate() {
            // The guest goes by the order of the names.
            let name = format!("hotset/modules/{place:03}-{}.ko", module.name);
            archive.file(&name, 0o644, &module.object);
        }
        Ok(archive.finish())
    }
}

/// The loader that an ELF program asks for; none for a static one.
fn interpreter(program: &[u8]) -> Result<Option<String>, String> {
    const LOADER: u32 = 3; // PT_INTERP
    let cut = || "its headers are cut short".to_string();
    let bytes = |at: usize, n: usize| program.get(at..at.saturating_add(n)).ok_or_else(cut);
    let number = |at: usize, n: usize| -> Result<usize, String> {
        let mut le = [0u8; 8];
        le[..n].copy_from_slice(bytes(at, n)?);
        Ok(u64::from_le_bytes(le) as usize)
    };
    if program.get(..4) != Some(b"\x7fELF") || program.get(4..6) != Some(&[2, 1]) {
        return Err("not a 64-bit ELF program".into());
    }
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for entry in 0..count {
        let at = table.saturating_add(entry * size);
        if number(at, 4)? as u32 == LOADER {
            let name = bytes(
                number(at.saturating_add(8), 8)?,
                number(at.saturating_add(32), 8)?,
            )?;
            return Ok(Some(
                String::from_utf8_lossy(name)
                    .trim_end_matches('\0')
                    .to_string(),
            ));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::interpreter;

    #[test]
    fn tells_static_programs_from_others() {
        // The test's own program comes out of the same build as hotset-guest.
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(interpreter(&own), Ok(None));
        let mut dynamic = vec![0u8; 64 + 56];
        dynamic[..6].copy_from_slice(b"\x7fELF\x02\x01");
        dynamic[32] = 64; // program headers
        dynamic[54] = 56;
        dynamic[56] = 1;
        dynamic[64] = 3;
        dynamic[64 + 8] = 120;
        dynamic[64 + 32] = 12;
        dynamic.extend(b"/lib/ld.so.2");
        assert_eq!(interpreter(&dynamic), Ok(Some("/lib/ld.so.2".into())));
        assert!(interpreter(&dynamic[..100]).is_err());
        assert!(interpreter(b"#!/bin/sh").is_err());
    }
}
