//! The source that a command of `hotset kernel` takes: its options, and the lines that are known.
use crate::shell::usage;
use anyhow::{bail, Result};
use clap::Args;
use kbuild::fetch::source::Fetch;
use kbuild::{version, Flavour, Line, Origin};
use std::path::{Path, PathBuf};

/// The source of a kernel; the same arguments for all commands.
#[derive(Args)]
pub struct SourceArgs {
    /// Line of kernels: 7.3 or 6.12, or 6.18 with --tree
    #[arg(value_name = "VERSION", default_value = "7.3")]
    pub line: Line,
    /// Kernel source tree to use instead of Debian's; it is only read
    #[arg(long, value_name = "FOLDER")]
    pub tree: Option<PathBuf>,
    /// Mirror of Debian's archive [default: from this machine's apt sources]
    #[arg(long, value_name = "URL", env = kbuild::fetch::mirrors::MAIN_VARIABLE, value_parser = mirror)]
    mirror: Option<String>,
    /// Mirror of Debian's security archive [default: from this machine's apt sources]
    #[arg(long, value_name = "URL", env = kbuild::fetch::mirrors::SECURITY_VARIABLE, value_parser = mirror)]
    security_mirror: Option<String>,
}

/// Checks that hotset knows where to get a line's source, unless `tree` has one.
///
/// # Errors
/// The line is none of those that hotset knows.
pub fn known(line: Line, tree: Option<&Path>) -> Result<()> {
    if tree.is_some() || version::KNOWN.contains(&line) {
        return Ok(());
    }
    let known = version::KNOWN.map(|line| line.to_string());
    let meant = names::suggestion(&line.to_string(), known.iter().map(String::as_str));
    let known = known.join(" and ");
    Err(usage!(
        "no source of Linux {line} is known, only of {known}; --tree FOLDER takes your own{meant}"
    ))
}

/// Reads `--series`.
pub fn which_series(text: &str) -> Result<Flavour> {
    match text.parse::<Flavour>() {
        Ok(flavour) if !flavour.series().is_empty() => Ok(flavour),
        _ => {
            let known = ["protection", "swappiness", "both", "generations"];
            let meant = names::suggestion(text, known);
            bail!("{text} is no series: expected {}{meant}", known.join(", "))
        }
    }
}

impl SourceArgs {
    pub fn origin(&self) -> Origin {
        self.tree.clone().map_or(Origin::Debian, Origin::Tree)
    }

    pub fn fetch(&self, refresh: bool) -> Fetch {
        Fetch {
            mirror: self.mirror.clone(),
            security_mirror: self.security_mirror.clone(),
            refresh,
            ..Fetch::new(self.line)
        }
    }
}

/// Reads `--mirror`, as apt does: a method, then the place. An empty variable is as none.
fn mirror(text: &str) -> Result<String> {
    let fits = text.split_once(':').is_some_and(|(method, place)| {
        method.starts_with(|c: char| c.is_ascii_alphabetic()) && place.starts_with('/')
    });
    match fits || text.is_empty() {
        true => Ok(text.into()),
        false => bail!("expected a URL such as http://HOST/debian or file:/FOLDER, not {text:?}"),
    }
}
