//! hotsetd of a trial: its program, its configuration, and whether another one runs.
//!
//! The trial's hotsetd has the administrator's configuration. A last file sets the trial's own journal, socket and file
//! of what was learned, and the lines of the command line.
use anyhow::{bail, Context, Result};
use hotsetd::config::file::{self, Place};
use kernfs::Root;
use names::shown;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Settings that a trial sets itself.
const OWN: [&str; 6] = [
    "journal",
    "learned",
    "log",
    "dry_run",
    "status.socket",
    "verbosity",
];
/// The name of the last of the configuration's files: `~` comes after all letters.
const LAST: &str = "~trial.conf";

/// A line of TOML. A value that is no TOML is a text.
///
/// # Errors
/// The name is none of a setting, or the trial's own.
pub fn line(name: &str, value: &str) -> Result<String, String> {
    if OWN.contains(&name) {
        return Err(format!("the trial sets {name} itself; leave it out"));
    }
    let quoted = toml::Value::String(value.into()).to_string();
    let lines = [value, &quoted].map(|value| format!("{name} = {value}"));
    let good = |line: &&String| toml::from_str::<toml::Table>(line).is_ok();
    let found = lines.iter().find(good).cloned();
    found.ok_or_else(|| {
        format!("{name}: neither a sysctl of this kernel nor a setting of hotsetd.conf(5)")
    })
}

/// Checks lines as hotsetd does.
///
/// # Errors
/// hotsetd's message.
pub fn check(lines: &[String]) -> Result<(), String> {
    let text = |error: std::io::Error| names::io_error(&error);
    let dir = tempfile::tempdir().map_err(text)?;
    let path = dir.path().join("conf");
    std::fs::write(&path, lines.join("\n")).map_err(text)?;
    match file::load(&Place::named(&path)) {
        Ok(_) => Ok(()),
        Err(problems) => {
            let messages = problems.iter().map(|problem| {
                let line = problem.line.checked_sub(1).and_then(|at| lines.get(at));
                let name = line.and_then(|line| line.split(" = ").next());
                match name {
                    Some(name) => format!("{name}: {}", problem.message),
                    None => problem.message.clone(),
                }
            });
            Err(messages.collect::<Vec<_>>().join("; "))
        }
    }
}

/// The program: beside this one, in a folder of `PATH`, or where `make install` puts it.
///
/// # Errors
/// There is none.
pub fn program() -> Result<PathBuf> {
    let here = std::env::current_exe().ok();
    let beside = here.and_then(|path| Some(path.parent()?.join("hotsetd")));
    if let Some(path) = beside.filter(|path| path.is_file()) {
        return Ok(path);
    }
    let mut places = vec!["hotsetd".into()];
    places.extend(processes::program::installed("sbin/hotsetd"));
    places
        .iter()
        .find_map(|place| processes::program::find(place.as_os_str()).ok())
        .context("there is no program hotsetd; `make install` installs it")
}

/// Checks that hotsetd could start: none runs, and its configuration is right.
///
/// # Errors
/// A message that says what to do.
pub fn ready(root: &Root) -> Result<()> {
    if let Err(error) = hotsetd::runtime::lock_file::take(root.directory()) {
        if error.kind() == std::io::ErrorKind::WouldBlock {
            bail!(
                "hotsetd runs already, and would run under both settings: end it for the time of the trial, with \
                 `systemctl stop hotsetd`"
            );
        }
        return Err(error.into());
    }
    if let Err(problems) = file::load(&Place::usual(root.directory())) {
        let first = problems.first().map(ToString::to_string);
        bail!(
            "hotsetd's configuration is wrong: {}",
            first.unwrap_or_default()
        );
    }
    Ok(())
}

/// The files of a hotsetd in its folder.
pub struct Files {
    pub config: PathBuf,
    pub journal: PathBuf,
    pub socket: PathBuf,
}

impl Files {
    pub fn of(folder: &Path) -> Files {
        Files {
            config: folder.join("hotsetd.conf"),
            journal: folder.join("hotsetd-journal"),
            socket: folder.join("status.sock"),
        }
    }
}

/// Writes the configuration: the administrator's files, and the trial's after them. `inside` is `folder` as it is
/// below the root.
///
/// # Errors
/// A file cannot be read or written.
pub fn configure(root: &Root, folder: &Path, inside: &Path, lines: &[String]) -> Result<Files> {
    let files = Files::of(folder);
    let dropped = folder.join("hotsetd.conf.d");
    if dropped.exists() {
        std::fs::remove_dir_all(&dropped).with_context(|| shown(&dropped).to_string())?;
    }
    std::fs::create_dir_all(&dropped).with_context(|| shown(&dropped).to_string())?;
    std::fs::write(&files.config, "").with_context(|| shown(&files.config).to_string())?;
    // `ready` has read them all. Only the main file may be missing.
    let (theirs, _) = Place::usual(root.directory()).files();
    for (number, (from, _)) in theirs.iter().enumerate() {
        let to = dropped.join(format!("{number:04}.conf"));
        match std::fs::read(from) {
            Ok(text) => std::fs::write(&to, text).with_context(|| shown(&to).to_string())?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| shown(from).to_string()),
        }
    }
    let own = Files::of(inside);
    let quoted = |path: &Path| toml::Value::String(path.to_string_lossy().into_owned()).to_string();
    let mut text = format!(
        "journal = {}\nlearned = {}\nstatus.socket = {}\n",
        quoted(&own.journal),
        quoted(&inside.join(learned(lines))),
        quoted(&own.socket)
    );
    text += &lines.join("\n");
    let last = dropped.join(LAST);
    std::fs::write(&last, text + "\n").with_context(|| shown(&last).to_string())?;
    Ok(files)
}

/// The file of what hotsetd has learned in the runs before with the same settings: a daemon that is on knows as much.
fn learned(lines: &[String]) -> String {
    let mut hash = DefaultHasher::new();
    lines.hash(&mut hash);
    format!("learned-{:x}", hash.finish())
}
