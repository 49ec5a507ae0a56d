//! Configuration files: a distribution's, the administrator's main one, then its drop-ins by name. The last value of a
//! setting counts.
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

/// Where the configuration lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The main file. Its drop-ins are the `*.conf` of the folder with `.d` after its name.
    pub file: PathBuf,
    /// The administrator has named the file, so it must be there.
    named: bool,
    /// The distribution's drop-ins, read first.
    vendor: Option<PathBuf>,
}

impl Place {
    /// A file that the administrator names stands for itself: the distribution's are left out.
    #[must_use]
    pub fn named(file: &Path) -> Place {
        Place {
            file: file.to_owned(),
            named: true,
            vendor: None,
        }
    }

    /// The usual files below `root`, all of which may be missing.
    #[must_use]
    pub fn usual(root: &Path) -> Place {
        Place {
            file: root.join("etc/hotset/hotsetd.conf"),
            named: false,
            vendor: Some(root.join("usr/lib/hotset/hotsetd.conf.d")),
        }
    }

    /// The files in the order in which they are read. A file that must be there has `true`. The administrator's drop-in
    /// takes the place of the distribution's of the same name, as with systemd's units.
    ///
    /// # Errors
    /// Each folder that cannot be read, beside the files of the others.
    #[must_use]
    pub fn files(&self) -> (Vec<(PathBuf, bool)>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut found = |folder: &Path| {
            drop_ins(folder).unwrap_or_else(|error| {
                problems.push(Problem::unreadable(folder, &error));
                Vec::new()
            })
        };
        let mut folder = self.file.as_os_str().to_owned();
        folder.push(".d");
        let own = found(Path::new(&folder));
        let mut vendor = self.vendor.as_deref().map(found).unwrap_or_default();
        vendor.retain(|file| !own.iter().any(|mine| mine.file_name() == file.file_name()));
        let main = std::iter::once((self.file.clone(), self.named));
        let drop_in = |file| (file, true);
        let before = vendor.into_iter().map(drop_in);
        let after = own.into_iter().map(drop_in);
        (before.chain(main).chain(after).collect(), problems)
    }
}

/// Reads the files of `place`.
///
/// # Errors
/// All errors of all files. Settings that contradict each other are looked for only where there is no
/// other error.
pub fn load(place: &Place) -> Result<Config, Vec<Problem>> {
    read(place).map(|(config, _)| config)
}

/// [`load`], and what each file sets.
///
/// # Errors
/// As [`load`].
pub fn read(place: &Place) -> Result<(Config, Vec<Layer>), Vec<Problem>> {
    let (config, layers, problems) = read_all(place);
    match problems.is_empty() {
        true => Ok((config, layers)),
        false => Err(problems),
    }
}

/// The settings that are valid, and all errors.
#[must_use]
pub fn load_valid(place: &Place) -> (Config, Vec<Problem>) {
    let (config, _, problems) = read_all(place);
    (config, problems)
}

fn read_all(place: &Place) -> (Config, Vec<Layer>, Vec<Problem>) {
    let mut config = Config::default();
    let mut layers = Vec::new();
    let (files, mut problems) = place.files();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distributions_drop_ins_come_first_and_can_be_replaced() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let vendor = "usr/lib/hotset/hotsetd.conf.d";
        put(
            &format!("{vendor}/10-a.conf"),
            "aggressiveness = 1\nverbosity = 1\n",
        );
        put(&format!("{vendor}/20-b.conf"), "dry_run = true\n");
        put("etc/hotset/hotsetd.conf", "verbosity = 2\n");
        let usual = || load(&Place::usual(root.path())).unwrap();
        let config = usual();
        assert_eq!((config.policy.aggressiveness, config.verbosity), (1, 2));
        assert!(config.dry_run);
        // A file that is named stands for itself.
        let named = load(&Place::named(&root.path().join("etc/hotset/hotsetd.conf")));
        assert!(!named.unwrap().dry_run);
        // The administrator's file of the same name takes the place of the distribution's.
        put("etc/hotset/hotsetd.conf.d/20-b.conf", "");
        let config = usual();
        assert!(!config.dry_run && config.policy.aggressiveness == 1);
    }
}
