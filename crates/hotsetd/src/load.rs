//! Configuration files: the main one, then its drop-ins by name, each setting's last word counts.
//! Whatever is wrong is told by file and line.
use crate::config::{absolute, knob_name, Config, Listen};
use policy::{Tunable, When};
use serde::Deserialize;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub file: PathBuf,
    /// From 1; 0: the file as a whole.
    pub line: usize,
    pub words: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            0 => write!(to, "{}: {}", self.file.display(), self.words),
            line => write!(to, "{}:{line}: {}", self.file.display(), self.words),
        }
    }
}

pub(crate) type Setting<T> = Option<Spanned<T>>;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    verbosity: Setting<u8>,
    log: Setting<String>,
    dry_run: Setting<bool>,
    journal: Setting<String>,
    aggressiveness: Setting<u8>,
    sampling: Sampling,
    free_pages: FreePages,
    fragmentation: Fragmentation,
    negative_dentries: NegativeDentries,
    object_caching: ObjectCaching,
    leak_check: Switch,
    tunables: Tunables,
    pressure: Pressure,
    protect: crate::load_protect::Protect,
    status: Status,
    metrics: Metrics,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sampling {
    near_s: Setting<f64>,
    far_s: Setting<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FreePages {
    enabled: Setting<bool>,
    max_gap_gb: Setting<f64>,
    max_watermark_scale_factor: Setting<u32>,
    node_reclaim: Setting<bool>,
    kswapd_nice: Setting<i32>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fragmentation {
    enabled: Setting<bool>,
    compact_every_s: Setting<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NegativeDentries {
    enabled: Setting<bool>,
    cap_per_mille: Setting<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ObjectCaching {
    enabled: Setting<bool>,
    prefer: Setting<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Switch {
    enabled: Setting<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tunables {
    enabled: Setting<bool>,
    at_start: Option<toml::map::Map<String, toml::Value>>,
    on_huge_pages_change: Option<toml::map::Map<String, toml::Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Pressure {
    enabled: Setting<bool>,
    stall_ms: Setting<u32>,
    window_ms: Setting<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Status {
    socket: Setting<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Metrics {
    listen: Setting<String>,
}

/// Reads `path` and the `*.conf` of `path.d`. That there is no `path` is no error unless `named`,
/// when somebody asked for it.
///
/// # Errors
/// Everything that is wrong, in all files.
pub fn load(path: &Path, named: bool) -> Result<Config, Vec<Problem>> {
    let mut config = Config::default();
    let mut problems = Vec::new();
    let mut files = vec![(path.to_owned(), named)];
    let mut folder = path.as_os_str().to_owned();
    folder.push(".d");
    match drop_ins(Path::new(&folder)) {
        Ok(found) => files.extend(found.into_iter().map(|file| (file, true))),
        Err(error) => problems.push(whole(Path::new(&folder), &error.to_string())),
    }
    for (file, must_be) in files {
        match std::fs::read_to_string(&file) {
            Ok(text) => apply(&mut config, &file, &text, &mut problems),
            Err(error) if error.kind() == io::ErrorKind::NotFound && !must_be => {}
            Err(error) => problems.push(whole(&file, &error.to_string())),
        }
    }
    if problems.is_empty() {
        Ok(config)
    } else {
        Err(problems)
    }
}

fn whole(file: &Path, words: &str) -> Problem {
    Problem {
        file: file.to_owned(),
        line: 0,
        words: words.to_owned(),
    }
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

/// Lays one file's settings over `config`.
fn apply(config: &mut Config, path: &Path, text: &str, problems: &mut Vec<Problem>) {
    let line_of = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let file: File = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            problems.push(Problem {
                file: path.to_owned(),
                line: error.span().map_or(0, |span| line_of(span.start)),
                words: error.message().to_owned(),
            });
            return;
        }
    };
    let mut check = Check {
        path,
        problems,
        line_of: &line_of,
    };
    let modules = &mut config.policy.modules;
    check.plain(file.free_pages.enabled, &mut modules.free_pages);
    check.plain(file.fragmentation.enabled, &mut modules.fragmentation);
    check.plain(
        file.negative_dentries.enabled,
        &mut modules.negative_dentries,
    );
    check.plain(file.object_caching.enabled, &mut modules.object_caching);
    check.plain(file.leak_check.enabled, &mut modules.leak_check);
    check.plain(file.tunables.enabled, &mut modules.tunables);

    let policy = &mut config.policy;
    check.range(
        file.aggressiveness,
        "aggressiveness",
        1,
        3,
        &mut policy.aggressiveness,
    );
    check.range(
        file.sampling.near_s,
        "near_s",
        0.1,
        10.0,
        &mut policy.sample_near_s,
    );
    check.range(
        file.sampling.far_s,
        "far_s",
        1.0,
        60.0,
        &mut policy.sample_far_s,
    );
    let mut gap = None;
    check.map(file.free_pages.max_gap_gb, &mut gap, |gb| match gb {
        // Beyond this, bytes would not fit.
        gb if (0.0..=1e6).contains(&gb) => Ok(Some((gb * f64::from(1 << 30)) as u64)),
        gb => Err(format!("max_gap_gb is {gb}: 0 (no bound) to 1000000")),
    });
    if let Some(bytes) = gap {
        policy.max_gap_bytes = (bytes > 0).then_some(bytes);
    }
    let mut max = 0;
    let setting = file.free_pages.max_watermark_scale_factor;
    check.range(setting, "max_watermark_scale_factor", 10, 3000, &mut max);
    if max > 0 {
        policy.watermark_scale_factor_max = Some(max);
    }
    check.plain(file.free_pages.node_reclaim, &mut policy.node_reclaim);
    let setting = file.free_pages.kswapd_nice;
    check.range(setting, "kswapd_nice", -20, 0, &mut policy.kswapd_nice);
    let setting = file.fragmentation.compact_every_s;
    check.range(
        setting,
        "compact_every_s",
        1.0,
        86400.0,
        &mut policy.compact_every_s,
    );
    let setting = file.negative_dentries.cap_per_mille;
    check.range(
        setting,
        "cap_per_mille",
        1,
        100,
        &mut policy.negative_dentry_permille,
    );
    check.plain(
        file.object_caching.prefer,
        &mut policy.prefer_object_caching,
    );
    for (table, when) in [
        (file.tunables.at_start, When::Start),
        (file.tunables.on_huge_pages_change, When::HugePagesChanged),
    ] {
        for (name, value) in table.unwrap_or_default() {
            match tunable(&name, value, when) {
                Ok(new) => {
                    let same = |old: &Tunable| (&old.name, old.when) == (&new.name, when);
                    policy.tunables.retain(|old| !same(old));
                    policy.tunables.push(new);
                }
                // The table has no places; the name as it stands in the file has.
                Err(words) => check.say(text.find(&name).unwrap_or(0), words),
            }
        }
    }

    check.range(file.verbosity, "verbosity", 0, 5, &mut config.verbosity);
    check.map(file.log, &mut config.log, |word| word.parse());
    check.plain(file.dry_run, &mut config.dry_run);
    check.map(file.journal, &mut config.journal, |path| absolute(&path));
    check.plain(file.pressure.enabled, &mut config.pressure.enabled);
    let pressure = &mut config.pressure;
    check.range(
        file.pressure.stall_ms,
        "stall_ms",
        1,
        10_000,
        &mut pressure.stall_ms,
    );
    check.range(
        file.pressure.window_ms,
        "window_ms",
        500,
        10_000,
        &mut pressure.window_ms,
    );
    crate::load_protect::apply(file.protect, text, &mut check, &mut config.protect);
    check.map(file.status.socket, &mut config.status, |path| {
        match path.as_str() {
            "" => Ok(None),
            path => absolute(path).map(Some),
        }
    });
    check.map(file.metrics.listen, &mut config.metrics, |words| {
        Listen::parse(&words)
    });
    if pressure_is_odd(config) {
        let (stall, window) = (config.pressure.stall_ms, config.pressure.window_ms);
        let words = format!("pressure: stall_ms {stall} is more than window_ms {window}");
        check.problems.push(whole(path, &words));
    }
    if config.policy.sample_near_s > config.policy.sample_far_s {
        check
            .problems
            .push(whole(path, "sampling: near_s is more than far_s"));
    }
}

fn pressure_is_odd(config: &Config) -> bool {
    config.pressure.stall_ms > config.pressure.window_ms
}

fn tunable(name: &str, value: toml::Value, when: When) -> Result<Tunable, String> {
    let value = match value {
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Boolean(yes) => u8::from(yes).to_string(),
        toml::Value::String(words) if !words.trim().is_empty() && words.len() <= 120 => words,
        other => return Err(format!("{name} = {other}: a number or a word is wanted")),
    };
    let name = knob_name(name)?;
    Ok(Tunable { name, value, when })
}

pub(crate) struct Check<'a> {
    path: &'a Path,
    problems: &'a mut Vec<Problem>,
    line_of: &'a dyn Fn(usize) -> usize,
}

impl Check<'_> {
    /// Of the file as a whole.
    pub(crate) fn whole(&mut self, words: &str) {
        self.problems.push(whole(self.path, words));
    }

    pub(crate) fn say(&mut self, at: usize, words: String) {
        self.problems.push(Problem {
            file: self.path.to_owned(),
            line: (self.line_of)(at),
            words,
        });
    }

    pub(crate) fn plain<T>(&mut self, setting: Setting<T>, into: &mut T) {
        if let Some(value) = setting {
            *into = value.into_inner();
        }
    }

    pub(crate) fn map<T, U>(
        &mut self,
        setting: Setting<T>,
        into: &mut U,
        turn: impl FnOnce(T) -> Result<U, String>,
    ) {
        if let Some(value) = setting {
            let at = value.span().start;
            match turn(value.into_inner()) {
                Ok(value) => *into = value,
                Err(words) => self.say(at, words),
            }
        }
    }

    pub(crate) fn range<T: PartialOrd + fmt::Display + Copy>(
        &mut self,
        setting: Setting<T>,
        name: &str,
        least: T,
        most: T,
        into: &mut T,
    ) {
        self.map(setting, into, |value| {
            // Not a number is in no range.
            if value >= least && value <= most {
                Ok(value)
            } else {
                Err(format!("{name} is {value}: {least} to {most}"))
            }
        });
    }
}
