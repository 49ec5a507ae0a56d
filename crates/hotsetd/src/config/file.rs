//! Configuration files: the main one, then its drop-ins by name. The last value of a setting counts.
use crate::config::check::{shortened, Problem, Setting};
use crate::config::row::{Key, ANY};
use crate::config::settings::Config;
use crate::config::{keys, source};
use std::io;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// A file that was looked for, and its settings.
#[derive(Debug)]
pub struct Layer {
    pub file: PathBuf,
    /// There is such a file.
    pub found: bool,
    /// In the order of the file.
    pub settings: Vec<Line>,
}

/// A setting in a file.
#[derive(Debug)]
pub struct Line {
    /// The line, counted from 1.
    pub line: usize,
    /// The setting with its section, such as `free_pages.enabled`.
    pub name: String,
    /// The value as the file has it.
    pub value: String,
}

/// Reads `path` and the `*.conf` of `path.d`. A missing `path` is an error only if `named`: then the
/// administrator has named the file.
///
/// # Errors
/// All errors of all files. Settings that contradict each other are looked for only where there is no
/// other error.
pub fn load(path: &Path, named: bool) -> Result<Config, Vec<Problem>> {
    read(path, named).map(|(config, _)| config)
}

/// [`load`], and what each file sets.
///
/// # Errors
/// As [`load`].
pub fn read(path: &Path, named: bool) -> Result<(Config, Vec<Layer>), Vec<Problem>> {
    let (config, layers, problems) = read_all(path, named);
    match problems.is_empty() {
        true => Ok((config, layers)),
        false => Err(problems),
    }
}

/// The settings that are valid, and all errors.
#[must_use]
pub fn load_valid(path: &Path, named: bool) -> (Config, Vec<Problem>) {
    let (config, _, problems) = read_all(path, named);
    (config, problems)
}

fn read_all(path: &Path, named: bool) -> (Config, Vec<Layer>, Vec<Problem>) {
    let mut config = Config::default();
    let mut problems = Vec::new();
    let mut layers = Vec::new();
    let mut files = vec![(path.to_owned(), named)];
    let mut folder = path.as_os_str().to_owned();
    folder.push(".d");
    let folder = Path::new(&folder);
    match drop_ins(folder) {
        Ok(found) => files.extend(found.into_iter().map(|file| (file, true))),
        Err(error) => problems.push(Problem::unreadable(folder, &error)),
    }
    for (file, required) in files {
        let mut layer = Layer {
            file,
            found: true,
            settings: Vec::new(),
        };
        match source::text(&layer.file) {
            Ok(Some(text)) => apply(&mut config, &mut layer, &text, &mut problems),
            Ok(None) if !required => layer.found = false,
            Ok(None) => {
                let error = io::Error::from_raw_os_error(libc::ENOENT);
                problems.push(Problem::unreadable(&layer.file, &error));
            }
            Err(problem) => problems.push(problem),
        }
        layers.push(layer);
    }
    if problems.is_empty() {
        problems = contradictions(&config, &layers);
    }
    (config, layers, problems)
}

/// The message of the first error of a configuration that is no file yet: an experiment's, for instance.
pub fn first_error(text: &str) -> Option<String> {
    let mut config = Config::default();
    let mut problems = Vec::new();
    let mut layer = Layer {
        file: PathBuf::new(),
        found: true,
        settings: Vec::new(),
    };
    apply(&mut config, &mut layer, text, &mut problems);
    if problems.is_empty() {
        problems = contradictions(&config, &[layer]);
    }
    problems.into_iter().next().map(|problem| problem.message)
}

fn drop_ins(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error),
        Ok(entries) => {
            for entry in entries {
                let path = entry?.path();
                if path.extension().is_some_and(|end| end == "conf") {
                    found.push(path);
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Settings that contradict each other, each at the last line that sets one of them.
fn contradictions(config: &Config, layers: &[Layer]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for found in keys::contradictions(config) {
        let mut lines = layers
            .iter()
            .flat_map(|layer| layer.settings.iter().map(move |line| (layer, line)));
        let last = lines.rfind(|(_, line)| found.names.contains(&line.name.as_str()));
        // The defaults do not contradict each other, so a file has set one of the two.
        problems.extend(last.map(|(layer, line)| Problem {
            line: line.line,
            ..Problem::of(&layer.file, found.message)
        }));
    }
    problems
}

/// Lays one file's settings over `config`.
fn apply(config: &mut Config, layer: &mut Layer, text: &str, problems: &mut Vec<Problem>) {
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let path = layer.file.clone();
    let problem = |at: usize, message: String| Problem {
        line: line(at),
        ..Problem::of(&path, message)
    };
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let message = error.message().to_owned();
            problems.push(match error.span() {
                Some(span) => problem(span.start, message),
                None => Problem::of(&path, message),
            });
            return;
        }
    };
    let mut found = Found::default();
    apply_section(config, "", table.get_ref(), &mut found);
    found.errors.sort();
    let errors = found.errors.into_iter();
    problems.extend(errors.map(|(at, message)| problem(at, message)));
    found.settings.sort_by_key(|(_, span)| span.start);
    layer
        .settings
        .extend(found.settings.into_iter().map(|(name, span)| Line {
            line: line(span.start),
            name,
            value: text.get(span).unwrap_or_default().to_owned(),
        }));
}

/// What a file holds.
#[derive(Default)]
struct Found {
    /// Each error with its byte in the file.
    errors: Vec<(usize, String)>,
    /// The name of each setting, and the bytes of its value.
    settings: Vec<(String, std::ops::Range<usize>)>,
}

/// The name that a dotted key was meant to be, where the value is a table.
fn dotted(key: &str, value: &DeValue) -> Option<String> {
    let (first, inner) = value.as_table()?.iter().next()?;
    let first: &str = first.get_ref();
    let rest = dotted(first, inner.get_ref()).unwrap_or_else(|| first.to_owned());
    Some(format!("{key}.{rest}"))
}

/// Lays a section over `config`.
fn apply_section(config: &mut Config, section: &str, table: &DeTable, found: &mut Found) {
    for (name, value) in table {
        let key: &str = name.get_ref();
        let inner = match section {
            "" => key.to_owned(),
            section => format!("{section}.{key}"),
        };
        // A quoted key may be empty or have dots: it is one name, not the path of a section.
        let quoted = key.is_empty() || key.contains('.');
        if !quoted && keys::is_section(&inner) {
            match value.get_ref().as_table() {
                Some(table) => apply_section(config, &inner, table, found),
                None => found.errors.push((
                    name.span().start,
                    format!("`{key}` is a section: write [{inner}]"),
                )),
            }
            continue;
        }
        let Some(Key {
            apply, name: row, ..
        }) = keys::find(section, key)
        else {
            found
                .errors
                .push((name.span().start, keys::unknown(section, key)));
            continue;
        };
        let at = match *row {
            ANY => name.span().start,
            _ => value.span().start,
        };
        // vm.swappiness = 10 is, in TOML, a table vm with one setting.
        if let (ANY, Some(whole)) = (*row, dotted(key, value.get_ref())) {
            let message = format!("write \"{}\" in quotes", shortened(&whole));
            found.errors.push((at, message));
            continue;
        }
        match apply(config, &Setting { name: key, value }) {
            Ok(()) => found.settings.push((inner, value.span())),
            Err(message) => found.errors.push((at, message)),
        }
    }
}
