//! Finds the programs of hotset that guests run.
use anyhow::{bail, Context, Result};
use std::path::PathBuf;

/// A program that guests run, and the places where it may lie.
pub struct Program {
    name: &'static str,
    /// The environment variable that names the program's file.
    variable: &'static str,
    /// The place that `make install` puts the program to, below its PREFIX.
    installed: &'static str,
    /// The crate that builds the program.
    package: &'static str,
}

/// The first program of a guest.
pub const GUEST: Program = Program {
    name: "hotset-guest",
    variable: "HOTSET_GUEST",
    installed: "lib/hotset/hotset-guest",
    package: "guest",
};
/// The daemon.
pub const DAEMON: Program = Program {
    name: "hotsetd",
    variable: "HOTSET_HOTSETD",
    installed: "sbin/hotsetd",
    package: "hotsetd",
};
/// The program with the real databases.
pub const DATABASE: Program = Program {
    name: "hotset-database",
    variable: "HOTSET_DATABASE",
    installed: "lib/hotset/hotset-database",
    package: "database",
};

/// The variables that name these programs.
pub const VARIABLES: [&str; 3] = [GUEST.variable, DAEMON.variable, DATABASE.variable];

impl Program {
    /// The program's file: the one that the environment variable names, else the one beside this
    /// program, else the installed one.
    ///
    /// # Errors
    /// When there is none; the message names the searched places.
    pub fn find(&self) -> Result<PathBuf> {
        let Program {
            name,
            variable,
            installed,
            package,
        } = self;
        if let Some(given) = std::env::var_os(variable) {
            return Ok(given.into());
        }
        let own = std::env::current_exe().context("finding this program's own path")?;
        // A test's program is in `deps/`, one below.
        let beside = own.ancestors().skip(1).take(2).map(|dir| dir.join(name));
        let installed = processes::program::installed(installed);
        let places: Vec<PathBuf> = beside.chain(installed).collect();
        if let Some(found) = places.iter().find(|path| path.is_file()) {
            return Ok(found.clone());
        }
        let places = places.iter().map(|path| path.display().to_string());
        let places: Vec<String> = places.collect();
        bail!(
            "there is no {name} (searched {}): build it (cargo build --release -p {package}), or \
             name it in {variable}",
            places.join(", ")
        )
    }
}
