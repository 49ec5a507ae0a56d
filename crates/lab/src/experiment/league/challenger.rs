//! Challengers: answers to a machine that stands still, each a table of a TOML file.
use super::swap::Swap;
use crate::experiment::arm::{default_version, ordered, Arm, Daemon, Lru};
use crate::experiment::check::{self, invalid, is_plain, Checked};
use crate::experiment::find::find;
use crate::experiment::kernel::Kernel;
use crate::experiment::text::source::{at, Broken, Error, Pieces, Step};
use crate::guest::host_program;
use anyhow::Result;
use kbuild::Flavour;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One answer: an arm of every scene.
#[derive(Clone, Debug)]
pub struct Challenger {
    pub arm: Arm,
    /// What it does, in a sentence.
    pub about: String,
    /// Debian packages that have its program. Where there are none, the program is this machine's.
    pub packages: Vec<String>,
    /// The places of its program and of each package, for messages.
    pub places: (Broken, Vec<Broken>),
    /// The kinds of swap with which it does anything; empty: with each.
    swap: Vec<Swap>,
}

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    label: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    packages: Vec<String>,
    /// A daemon's program and its arguments.
    #[serde(default)]
    command: Vec<String>,
    #[serde(default = "vanilla")]
    kernel: Kernel,
    #[serde(default = "default_version")]
    version: String,
    #[serde(default = "mglru")]
    lru: Lru,
    #[serde(default, deserialize_with = "ordered")]
    knobs: Vec<(String, String)>,
    /// hotsetd, with its configuration.
    daemon: Option<Daemon>,
    #[serde(default)]
    swap: Vec<Swap>,
}

fn vanilla() -> Kernel {
    Flavour::Vanilla.into()
}

fn mglru() -> Lru {
    Lru::Mglru
}

/// The file with hotset's own challengers, which lies beside the scenes.
///
/// # Errors
/// When the scenes are not found.
pub fn own() -> Result<PathBuf> {
    Ok(find("league-desktop")?.with_file_name("challengers.toml"))
}

/// The challengers of a file, by name.
///
/// # Errors
/// The file cannot be read, or a table is wrong; the error names the line.
pub fn read(path: &Path) -> Result<Vec<Challenger>, Broken> {
    let text = std::fs::read_to_string(path).map_err(|error| Broken::unreadable(path, error))?;
    parse(path, &text)
}

/// The challengers of a file's text. `path` is for messages, and for paths beside the file.
///
/// # Errors
/// A table is wrong; the error names the line.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Challenger>, Broken> {
    let pieces = Pieces::new(path, text, &[])?;
    let (tree, _) = pieces.merge(None)?;
    let forms: BTreeMap<String, Form> = pieces.read(&tree)?;
    let mut found = Vec::new();
    for (name, form) in forms {
        let checked = form_is_right(&name, &form);
        checked.map_err(|error| pieces.broken(&tree, &error))?;
        let placed = |at| pieces.broken(&tree, &Error::unsaid(at));
        let packages = 0..form.packages.len();
        let places = (
            placed(place(&name, &["command"])),
            { packages.map(|i| placed(at![name.as_str(), "packages", i])) }.collect(),
        );
        let challenger = form.challenger(&name, path.parent().unwrap_or(Path::new("")), places);
        let of = |fields: &[&str]| place(&name, fields);
        check::arm(&challenger.arm, &of).map_err(|error| pieces.broken(&tree, &error))?;
        found.push(challenger);
    }
    Ok(found)
}

fn place(name: &str, fields: &[&str]) -> Vec<Step> {
    let mut path = at![name];
    path.extend(fields.iter().map(|field| (*field).into()));
    path
}

fn form_is_right(name: &str, form: &Form) -> Checked {
    if !is_plain(name) {
        let message = "a challenger's name is made of letters, digits, '-', '_' and '.'";
        return invalid(place(name, &[]), message);
    }
    if !form.command.is_empty() && form.daemon.is_some() {
        let message = "a challenger has one daemon: give `command`, or `daemon` for hotsetd";
        return invalid(place(name, &["command"]), message);
    }
    if !form.packages.is_empty() && form.command.is_empty() {
        let message = "packages are for the program of `command`, and there is no `command`";
        return invalid(place(name, &["packages"]), message);
    }
    Ok(())
}

impl Form {
    fn challenger(self, name: &str, folder: &Path, places: (Broken, Vec<Broken>)) -> Challenger {
        let mut kernel = self.kernel;
        kernel.below(folder);
        let program = self.command.first().cloned().map(|program| Daemon {
            config: toml::Table::new(),
            start: true,
            program: Some(program),
            arguments: self.command[1..].to_vec(),
            in_root: !self.packages.is_empty(),
        });
        let label = match self.label.is_empty() {
            true => name.to_string(),
            false => self.label,
        };
        Challenger {
            arm: Arm {
                name: name.into(),
                label,
                kernel,
                version: self.version,
                lru: Some(self.lru),
                baseline: None,
                knobs: self.knobs,
                memory_mb: None,
                in_proportion: false,
                cpus: None,
                zram_mb: None,
                daemon: program.or(self.daemon),
                point: None,
                sweep: None,
            },
            about: self.about,
            packages: self.packages,
            places,
            swap: self.swap,
        }
    }
}

impl Challenger {
    pub fn name(&self) -> &str {
        &self.arm.name
    }

    /// Whether the challenger does anything with this kind of swap.
    pub fn plays(&self, swap: Swap) -> bool {
        self.swap.is_empty() || self.swap.contains(&swap)
    }

    /// The reason why a program of this machine is not there; none where it is.
    pub fn lacks(&self) -> Option<String> {
        let daemon = self.arm.daemon.as_ref().filter(|daemon| !daemon.in_root)?;
        let why = host_program::find(daemon.program.as_deref()?).err()?;
        let name = self.name();
        Some(format!(
            "challenger {name}: {why:#}; or give `packages`, Debian's packages that have it; or leave it out \
             with --without {name}"
        ))
    }
}
