//! The first root of a guest: `hotset-guest` as `/init`, and its orders.
use crate::cpio::Archive;
use anyhow::{bail, Context, Result};
use kbuild::debian::Module;
use raw::spec::GuestSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The environment variable that names the guest's program.
pub const VARIABLE: &str = "HOTSET_GUEST";
const PROGRAM: &str = "hotset-guest";
const INSTALLED: &str = "/usr/lib/hotset/hotset-guest";
/// The environment variable that names the daemon's program.
pub const DAEMON_VARIABLE: &str = "HOTSET_HOTSETD";
const DAEMON_PROGRAM: &str = "hotsetd";
const DAEMON_INSTALLED: &str = "/usr/sbin/hotsetd";
/// The environment variable that names the program with the real databases.
pub const DATABASE_VARIABLE: &str = "HOTSET_DATABASE";
const DATABASE_PROGRAM: &str = "hotset-database";
const DATABASE_INSTALLED: &str = "/usr/lib/hotset/hotset-database";
/// Where guests have the daemon, and its configuration.
pub const DAEMON: &str = "/sbin/hotsetd";
pub const DAEMON_CONFIG: &str = "/etc/hotset/hotsetd.conf";
/// Directories of a guest that has a daemon.
const STANDARD: [&str; 4] = ["etc", "etc/hotset", "run", "sbin"];

/// The guest's program, read once for all guests.
pub struct Init {
    path: PathBuf,
    program: Vec<u8>,
    /// Name and program of each of the kernel's selftests that the guest may be told to run.
    selftests: Vec<(String, Vec<u8>)>,
    /// The daemon's program.
    daemon: Option<Vec<u8>>,
    /// The program with the real databases.
    database: Option<Vec<u8>>,
    /// Recorded sequences of page accesses, by name.
    recorded: Vec<(String, Vec<u8>)>,
    /// Other daemons and their libraries, by their path in the guest.
    foreign: BTreeMap<String, Vec<u8>>,
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
                daemon: None,
                database: None,
                recorded: Vec::new(),
                foreign: BTreeMap::new(),
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

    /// With `hotsetd` at [`DAEMON`] in every guest: `HOTSET_HOTSETD`, beside this program, or where
    /// packages install it.
    ///
    /// # Errors
    /// When there is none, or it is not static.
    pub fn with_daemon(mut self) -> Result<Init> {
        let path = Init::look_for(DAEMON_PROGRAM, DAEMON_VARIABLE, DAEMON_INSTALLED, "hotsetd")?;
        let program = Init::at(path)?.program;
        // It lies in the guest's memory: what only a debugger reads stays here.
        self.daemon = Some(loaded(program));
        Ok(self)
    }

    /// With `hotset-database`, which workers with real databases become: `HOTSET_DATABASE`, beside
    /// this program, or where packages install it.
    ///
    /// # Errors
    /// When there is none, or it is not static.
    pub fn with_database(mut self) -> Result<Init> {
        let path = Init::look_for(
            DATABASE_PROGRAM,
            DATABASE_VARIABLE,
            DATABASE_INSTALLED,
            "database",
        )?;
        self.database = Some(loaded(Init::at(path)?.program));
        Ok(self)
    }

    /// With a recorded sequence, which a worker accesses.
    #[must_use]
    pub fn with_recorded(mut self, name: &str, pages: Vec<u8>) -> Init {
        self.recorded.push((name.into(), pages));
        self
    }

    /// With another daemon and what it needs, in every guest.
    ///
    /// # Errors
    /// As [`crate::foreign::files`].
    pub fn with_foreign(mut self, program: &str) -> Result<Init> {
        self.foreign.extend(crate::foreign::files(program)?);
        Ok(self)
    }

    fn path() -> Result<PathBuf> {
        Init::look_for(PROGRAM, VARIABLE, INSTALLED, "guest")
    }

    fn look_for(program: &str, variable: &str, installed: &str, package: &str) -> Result<PathBuf> {
        if let Some(given) = std::env::var_os(variable) {
            return Ok(given.into());
        }
        let own = std::env::current_exe().context("finding this program's own path")?;
        // A test's program is in `deps/`, one below.
        let beside = own.ancestors().skip(1).take(2).map(|dir| dir.join(program));
        let places: Vec<PathBuf> = beside.chain([installed.into()]).collect();
        if let Some(found) = places.iter().find(|path| path.is_file()) {
            return Ok(found.clone());
        }
        let places: Vec<String> = places
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        bail!(
            "there is no {program} (looked for {}): cargo build --release -p {package}, or name it \
             in {variable}",
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
        self.archive_of(spec, modules, None)
    }

    /// The same with a configuration of the daemon.
    pub fn archive_of(
        &self,
        spec: &GuestSpec,
        modules: &[Module],
        daemon: Option<&str>,
    ) -> Result<Vec<u8>> {
        let mut archive = Archive::new();
        for directory in ["dev", "proc", "sys", "tmp", "data", "hotset"] {
            archive.directory(directory);
        }
        // Standard output of /init, before devtmpfs is mounted.
        archive.device("dev/console", 0o600, (5, 1));
        archive.file("init", 0o755, &self.program);
        let spec = serde_json::to_vec_pretty(spec).context("writing the guest's orders")?;
        archive.file("hotset/spec.json", 0o644, &spec);
        if let Some(program) = &self.database {
            archive.file("hotset/database", 0o755, program);
        }
        if !self.recorded.is_empty() {
            archive.directory("hotset/recorded");
        }
        for (name, pages) in &self.recorded {
            archive.file(&format!("hotset/recorded/{name}"), 0o644, pages);
        }
        if let Some(program) = &self.daemon {
            for directory in STANDARD {
                archive.directory(directory);
            }
            archive.file(&DAEMON[1..], 0o755, program);
        }
        if let Some(config) = daemon {
            archive.file(&DAEMON_CONFIG[1..], 0o644, config.as_bytes());
        }
        let mut there = BTreeSet::new();
        for (path, content) in &self.foreign {
            let path = path.trim_start_matches('/');
            let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
            for directory in slashes.filter(|it| !STANDARD.contains(it)) {
                if there.insert(directory) {
                    archive.directory(directory);
                }
            }
            archive.file(path, 0o755, content);
        }
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

/// A static ELF program without what is not loaded: symbols, and what debuggers read. Where it lies
/// in the file each segment stays; what is behind the last of them goes, and the table of sections.
fn loaded(mut program: Vec<u8>) -> Vec<u8> {
    const LOAD: [u8; 4] = 1u32.to_le_bytes(); // PT_LOAD
    let number = |at: usize, n: usize| {
        let mut le = [0u8; 8];
        le[..n].copy_from_slice(program.get(at..at + n)?);
        Some(u64::from_le_bytes(le) as usize)
    };
    let end = || -> Option<usize> {
        let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
        let mut end = table + size * count;
        for at in (0..count).map(|entry| table + entry * size) {
            if program.get(at..at + 4)? == LOAD {
                end = end.max(number(at + 8, 8)? + number(at + 32, 8)?);
            }
        }
        (end <= program.len()).then_some(end)
    };
    if let Some(end) = end() {
        program.truncate(end);
        program[40..48].fill(0); // e_shoff
        program[58..64].fill(0); // e_shentsize, e_shnum, e_shstrndx
    }
    program
}

/// The loader that an ELF program asks for; none for a static one.
pub(crate) fn interpreter(program: &[u8]) -> Result<Option<String>, String> {
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
    use super::{interpreter, loaded};

    #[test]
    fn a_program_without_its_symbols_runs_as_before() {
        use std::os::unix::fs::PermissionsExt;
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let short = loaded(own.clone());
        assert!(short.len() < own.len());
        assert_eq!(interpreter(&short), Ok(None));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("program");
        std::fs::write(&path, &short).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        let listed = std::process::Command::new(&path)
            .args(["--list", "tells_static"])
            .output()
            .unwrap();
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        assert!(listed.contains("tells_static_programs"), "{listed}");
        // What is no program of this kind stays as it is.
        assert_eq!(loaded(b"#!/bin/sh".to_vec()), b"#!/bin/sh");
    }

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
