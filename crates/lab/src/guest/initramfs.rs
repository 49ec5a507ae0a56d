//! The first root of a guest: `hotset-guest` as `/init`, and its orders.
use super::cpio::Archive;
use super::elf::{interpreter, without_sections};
use super::{host_program, programs};
use anyhow::{bail, Context, Result};
use kbuild::fetch::debian::Module;
use protocol::spec::GuestSpec;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The daemon's path inside guests.
pub const DAEMON: &str = "/sbin/hotsetd";
/// The path of the daemon's configuration inside guests.
pub const DAEMON_CONFIG: &str = "/etc/hotset/hotsetd.conf";
/// Directories of a guest that has a daemon.
const STANDARD: [&str; 4] = ["etc", "etc/hotset", "run", "sbin"];

/// The programs and data of all guests of a run, read once.
pub struct Init {
    path: PathBuf,
    program: Vec<u8>,
    /// The kernel's selftests, by name.
    selftests: Vec<(String, Vec<u8>)>,
    /// The daemon's program.
    daemon: Option<Vec<u8>>,
    /// The program with the real databases.
    database: Option<Vec<u8>>,
    /// Recorded sequences of page accesses, by name.
    recorded: Vec<(String, Vec<u8>)>,
    /// Other daemons and their libraries, by their path in the guest.
    host_programs: BTreeMap<String, Vec<u8>>,
}

impl Init {
    /// Finds and reads `hotset-guest`.
    ///
    /// # Errors
    /// When there is none, or it needs libraries that a guest does not have.
    pub fn find() -> Result<Init> {
        Init::at(programs::GUEST.find()?)
    }

    /// Reads a given program for `/init`.
    ///
    /// # Errors
    /// When it cannot be read, or needs libraries that a guest does not have.
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
                host_programs: BTreeMap::new(),
            }),
            Ok(Some(loader)) => bail!(
                "{here} is not static (it asks for {loader}), and a guest has no libraries: build \
                 it in the source tree, whose .cargo/config.toml makes it static: cargo build \
                 --release -p guest"
            ),
            Err(why) => bail!("{here} is no program for a guest: {why}"),
        }
    }

    /// With one of the kernel's selftests, for [`protocol::spec::Task::Selftest`].
    ///
    /// # Errors
    /// When it cannot be read, or is not static.
    pub fn with_selftest(mut self, name: &str, path: &Path) -> Result<Init> {
        let test = Init::at(path.into())?;
        self.selftests.push((name.into(), test.program));
        Ok(self)
    }

    /// With `hotsetd` at [`DAEMON`] in every guest.
    ///
    /// # Errors
    /// When there is none, or it is not static.
    pub fn with_daemon(mut self) -> Result<Init> {
        let program = Init::at(programs::DAEMON.find()?)?.program;
        // The first root takes the guest's memory, so debugging information stays here.
        self.daemon = Some(without_sections(program));
        Ok(self)
    }

    /// With `hotset-database`, which workers with real databases execute.
    ///
    /// # Errors
    /// When there is none, or it is not static.
    pub fn with_database(mut self) -> Result<Init> {
        let program = Init::at(programs::DATABASE.find()?)?.program;
        self.database = Some(without_sections(program));
        Ok(self)
    }

    /// With a recorded sequence, which a worker accesses.
    #[must_use]
    pub fn with_recorded(mut self, name: &str, pages: Vec<u8>) -> Init {
        self.recorded.push((name.into(), pages));
        self
    }

    /// With a program of this machine and its libraries, in every guest.
    ///
    /// # Errors
    /// Those of [`host_program::files`].
    pub fn with_host_program(mut self, program: &str) -> Result<Init> {
        self.host_programs.extend(host_program::files(program)?);
        Ok(self)
    }

    /// The file of the program that is `/init`.
    pub fn program_path(&self) -> &Path {
        &self.path
    }

    /// The archive for one guest whose kernel needs no modules.
    pub fn archive(&self, spec: &GuestSpec) -> Result<Vec<u8>> {
        self.archive_with(spec, &[])
    }

    /// The archive for one guest, with modules that it loads first, in this order.
    pub fn archive_with(&self, spec: &GuestSpec, modules: &[Module]) -> Result<Vec<u8>> {
        self.archive_of(spec, modules, None)
    }

    /// The archive for one guest, with modules and with a configuration of the daemon.
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
        self.add_workload(&mut archive);
        self.add_daemons(&mut archive, daemon);
        self.add_selftests(&mut archive);
        add_modules(&mut archive, modules);
        Ok(archive.finish())
    }

    /// Adds the database program and the recorded sequences.
    fn add_workload(&self, archive: &mut Archive) {
        if let Some(program) = &self.database {
            archive.file("hotset/database", 0o755, program);
        }
        if !self.recorded.is_empty() {
            archive.directory("hotset/recorded");
        }
        for (name, pages) in &self.recorded {
            archive.file(&format!("hotset/recorded/{name}"), 0o644, pages);
        }
    }

    /// Adds `hotsetd` with its configuration, and the programs of this machine.
    fn add_daemons(&self, archive: &mut Archive, config: Option<&str>) {
        if let Some(program) = &self.daemon {
            for directory in STANDARD {
                archive.directory(directory);
            }
            archive.file(&DAEMON[1..], 0o755, program);
        }
        if let Some(config) = config {
            archive.file(&DAEMON_CONFIG[1..], 0o644, config.as_bytes());
        }
        let mut there = BTreeSet::new();
        for (path, content) in &self.host_programs {
            let path = path.trim_start_matches('/');
            let slashes = path.match_indices('/').map(|(at, _)| &path[..at]);
            for directory in slashes.filter(|it| !STANDARD.contains(it)) {
                if there.insert(directory) {
                    archive.directory(directory);
                }
            }
            archive.file(path, 0o755, content);
        }
    }

    fn add_selftests(&self, archive: &mut Archive) {
        if !self.selftests.is_empty() {
            archive.directory("hotset/selftests");
        }
        for (name, program) in &self.selftests {
            archive.file(&format!("hotset/selftests/{name}"), 0o755, program);
        }
    }
}

fn add_modules(archive: &mut Archive, modules: &[Module]) {
    if !modules.is_empty() {
        archive.directory("hotset/modules");
    }
    for (place, module) in modules.iter().enumerate() {
        // The guest loads modules in the order of their names.
        let name = format!("hotset/modules/{place:03}-{}.ko", module.name);
        archive.file(&name, 0o644, &module.object);
    }
}
