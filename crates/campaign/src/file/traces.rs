//! The traces of a campaign: files by patterns and lists, and generated ones.
use super::{Number, Reading};
use anyhow::Result;
use cluster::refused;
use names::{io_error, shown};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use trace::generate::Spec;

/// A `[[traces]]` of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Source {
    /// Names and patterns (`*`, `?`, `[ab]`, `**`), from the folder of the campaign's file.
    pub files: Vec<String>,
    /// A file with the name of a trace on each line.
    pub list: Option<String>,
    /// A rule of the generator with its options: `zipf,objects=1e4`.
    pub generate: Option<String>,
    /// Parts in place of those of the rule `mix`: `0.7:zipf,objects=1e5`.
    pub parts: Vec<String>,
    /// Seeds of generated traces: `7`, or `"1..100"` for a hundred traces.
    pub seeds: Option<Number>,
    /// Requests: of a generated trace, or the most that are read of a file.
    pub count: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    pub skip_bad: bool,
    pub drop_writes: bool,
    pub page_size: Option<Number>,
    pub one_space: bool,
    pub no_split: bool,
    pub block_size: Option<Number>,
    pub names: Option<String>,
    pub id_column: Option<String>,
    pub op_column: Option<String>,
    pub time_column: Option<String>,
    pub size_column: Option<String>,
    pub addresses: bool,
    pub no_header: bool,
    pub delimiter: Option<String>,
}

/// A trace of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The file as the campaign's file names it, or the rule with its count and seed. No two traces share one.
    pub name: String,
    pub origin: Origin,
    /// The most requests that are read.
    pub limit: Option<u64>,
}

/// Where the requests come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A file of that many bytes when the campaign was planned. The name is [`Trace::name`].
    File { bytes: u64, reading: Reading },
    Generated {
        rule: String,
        parts: Vec<String>,
        count: u64,
        seed: u64,
    },
}

/// Requests of a generated trace, unless the file says otherwise.
const COUNT: u64 = 1_000_000;

/// The most requests of a trace: their bytes are counted.
const MOST: u64 = 1_000_000_000_000_000;

impl Source {
    pub(super) fn check(&self) -> Result<(), String> {
        let kinds = [
            !self.files.is_empty(),
            self.list.is_some(),
            self.generate.is_some(),
        ];
        if kinds.iter().filter(|given| **given).count() != 1 {
            return Err("traces: expected one of files, list and generate".into());
        }
        if let Some(rule) = &self.generate {
            Spec::with_parts(rule, &self.parts)
                .map_err(|wrong| format!("traces: generate: {wrong}"))?;
            self.seeds()?;
            if self.reading() != Reading::default() {
                return Err("traces: generate: a generated trace is not read; remove the options for reading".into());
            }
        } else if self.seeds.is_some() || !self.parts.is_empty() {
            return Err("traces: seeds and parts are for generate".into());
        }
        match self.count()? {
            Some(count) if !(1..=MOST).contains(&count) => Err(format!(
                "traces: count: {count} is out of range (1 to 1e15)"
            )),
            _ => self
                .reading()
                .options(None)
                .map(drop)
                .map_err(|wrong| format!("traces: {wrong}")),
        }
    }

    fn count(&self) -> Result<Option<u64>, String> {
        let count = self.count.as_ref().map(Number::count).transpose();
        count.map_err(|wrong| format!("traces: count: {wrong}"))
    }

    fn seeds(&self) -> Result<std::ops::RangeInclusive<u64>, String> {
        let wrong =
            || "traces: seeds: expected a number, or a range such as \"1..100\"".to_string();
        match &self.seeds {
            None => Ok(1..=1),
            Some(Number::Text(text)) => {
                let (first, last) = text.split_once("..").ok_or_else(wrong)?;
                let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
                match (number(first)?, number(last)?) {
                    (first, last) if first <= last && last - first < 1_000_000 => Ok(first..=last),
                    _ => Err(wrong()),
                }
            }
            Some(number) => number.count().map(|seed| seed..=seed).map_err(|_| wrong()),
        }
    }

    fn reading(&self) -> Reading {
        Reading {
            format: self.format.clone(),
            skip_bad: self.skip_bad,
            drop_writes: self.drop_writes,
            page_size: self.page_size.clone(),
            one_space: self.one_space,
            no_split: self.no_split,
            block_size: self.block_size.clone(),
            names: self.names.clone(),
            id_column: self.id_column.clone(),
            op_column: self.op_column.clone(),
            time_column: self.time_column.clone(),
            size_column: self.size_column.clone(),
            addresses: self.addresses,
            no_header: self.no_header,
            delimiter: self.delimiter.clone(),
        }
    }

    /// The traces, in order. Names of files are from the folder `base`.
    fn found(&self, base: &Path) -> Result<Vec<Trace>> {
        let count = self.count().map_err(|wrong| refused!("{wrong}"))?;
        if let Some(rule) = &self.generate {
            let count = count.unwrap_or(COUNT);
            let seeds = self.seeds().map_err(|wrong| refused!("{wrong}"))?;
            return Ok(seeds
                .map(|seed| self.generated(rule, count, seed))
                .collect());
        }
        let names = match &self.list {
            Some(list) => listed(base, list)?,
            None => {
                let mut names = Vec::new();
                for pattern in &self.files {
                    names.extend(matched(base, pattern)?);
                }
                names
            }
        };
        let trace = |name: String| {
            let path = base.join(&name);
            let about = std::fs::metadata(&path)
                .map_err(|error| refused!("{}: {}", shown(&path), io_error(&error)))?;
            if !about.is_file() {
                return Err(refused!(
                    "{}: is no file; name the traces in the folder, such as {name}/*.csv",
                    shown(&path)
                ));
            }
            Ok(Trace {
                name,
                origin: Origin::File {
                    bytes: about.len(),
                    reading: self.reading(),
                },
                limit: count,
            })
        };
        names.into_iter().map(trace).collect()
    }

    fn generated(&self, rule: &str, count: u64, seed: u64) -> Trace {
        let parts: String = self.parts.iter().map(|part| format!(" {part}")).collect();
        Trace {
            name: format!("{rule}{parts} count={count} seed={seed}"),
            origin: Origin::Generated {
                rule: rule.to_string(),
                parts: self.parts.clone(),
                count,
                seed,
            },
            limit: None,
        }
    }
}

impl Trace {
    /// The rule of a generated trace. None for a file.
    ///
    /// # Errors
    /// As [`Spec::with_parts`].
    pub fn spec(&self) -> Option<Result<Spec, String>> {
        match &self.origin {
            Origin::Generated { rule, parts, .. } => Some(Spec::with_parts(rule, parts)),
            Origin::File { .. } => None,
        }
    }
}

/// All traces of a campaign, in the order of its file. A file that is named twice in the same way is one trace.
///
/// # Errors
/// A pattern matches nothing, a file is missing, or two traces have one name.
pub fn found(sources: &[Source], base: &Path) -> Result<Vec<Trace>> {
    let mut all: Vec<Trace> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for source in sources {
        for trace in source.found(base)? {
            match places.get(&trace.name) {
                None => {
                    places.insert(trace.name.clone(), all.len());
                    all.push(trace);
                }
                Some(&place) if all[place] == trace => {}
                Some(_) => {
                    return Err(refused!(
                        "traces: {:?} is named by two [[traces]] with different options; remove it from one of them",
                        trace.name
                    ))
                }
            }
        }
    }
    Ok(all)
}

/// Files that a pattern matches, sorted.
fn matched(base: &Path, pattern: &str) -> Result<Vec<String>> {
    if !pattern.contains(['*', '?', '[']) {
        return Ok(vec![pattern.to_string()]);
    }
    let place = glob::Pattern::escape(&base.to_string_lossy());
    let whole = match Path::new(pattern).is_absolute() {
        true => pattern.to_string(),
        false => format!("{place}/{pattern}"),
    };
    let paths =
        glob::glob(&whole).map_err(|wrong| refused!("traces: files: {pattern:?}: {wrong}"))?;
    let mut names = Vec::new();
    for path in paths {
        let path =
            path.map_err(|error| refused!("{}: {}", shown(error.path()), io_error(error.error())))?;
        if path.is_file() {
            names.push(text(path.strip_prefix(base).unwrap_or(&path))?);
        }
    }
    if names.is_empty() {
        return Err(refused!(
            "traces: files: {pattern:?} matches no file below {}",
            shown(base)
        ));
    }
    names.sort();
    Ok(names)
}

fn listed(base: &Path, list: &str) -> Result<Vec<String>> {
    let path: PathBuf = base.join(list);
    let read = std::fs::read_to_string(&path);
    let read =
        read.map_err(|error| refused!("traces: list: {}: {}", shown(&path), io_error(&error)))?;
    let lines = read.lines().map(str::trim);
    let names: Vec<String> = lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_string)
        .collect();
    match names.is_empty() {
        true => Err(refused!("traces: list: {} names no trace", shown(&path))),
        false => Ok(names),
    }
}

/// A path as text: a table of results holds no other bytes.
fn text(path: &Path) -> Result<String> {
    let found = path.to_str().map(str::to_string);
    found.ok_or_else(|| refused!("{}: the name is not UTF-8; rename the file", shown(path)))
}
