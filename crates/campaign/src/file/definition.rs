//! The campaign's file as TOML, read and checked.
use super::traces::Source;
use super::Number;
use anyhow::Result;
use cluster::refused;
use names::{io_error, shown};
use serde::{Deserialize, Serialize};
use sim::registry::{Choice, POLICIES};
use sim::sweep::size::{parse_list, Size};
use std::path::Path;

/// What a campaign's file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Policies as `hotset sim` takes them; `all` is every policy.
    pub policies: Vec<String>,
    /// Sizes as `hotset sim` takes them: objects, bytes, shares of the footprint, ranges.
    pub sizes: Vec<String>,
    /// Bytes of an object, for sizes in bytes.
    #[serde(default = "object_size")]
    pub object_size: Number,
    pub traces: Vec<Source>,
    #[serde(default)]
    pub tasks: Tasks,
}

/// How the work is divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tasks {
    /// A trace with more predicted seconds than that is divided into several tasks.
    pub seconds: f64,
    /// Memory of each task, in place of the prediction.
    pub memory: Option<Number>,
}

impl Default for Tasks {
    fn default() -> Tasks {
        Tasks {
            seconds: 600.0,
            memory: None,
        }
    }
}

/// The most bytes of a task: more than machines have, and little enough for limits that are a multiple.
const MEMORY: u64 = 1 << 50;

impl Tasks {
    /// Bytes of memory of each task, where the file says so.
    ///
    /// # Errors
    /// The number is no size, or out of range.
    pub fn memory(&self) -> Result<Option<u64>, String> {
        match self.memory.as_ref().map(Number::bytes).transpose() {
            Ok(Some(bytes)) if !(1..=MEMORY).contains(&bytes) => Err(format!(
                "tasks.memory: {bytes} is out of range (1 to 1024T bytes)"
            )),
            Ok(bytes) => Ok(bytes),
            Err(wrong) => Err(format!("tasks.memory: {wrong}")),
        }
    }
}

fn object_size() -> Number {
    Number::Whole(4096)
}

impl Definition {
    /// Reads a campaign's file, and checks all but its traces.
    ///
    /// # Errors
    /// The file cannot be read, a key is unknown, or a policy or a size is none. The error names the line.
    pub fn read(path: &Path) -> Result<Definition> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| refused!("{}: cannot be read: {}", shown(path), io_error(&error)))?;
        let found: Definition = toml::from_str(&text).map_err(|error| {
            let before = error.span().map_or("", |span| &text[..span.start]);
            let line = before.matches('\n').count() + 1;
            refused!("{}:{line}: {}", shown(path), error.message().trim())
        })?;
        found
            .check()
            .map_err(|wrong| refused!("{}: {wrong}", shown(path)))?;
        Ok(found)
    }

    fn check(&self) -> Result<(), String> {
        self.choices()?;
        self.sizes()?;
        self.object_bytes()?;
        if self.traces.is_empty() {
            return Err(
                "traces: none is named; write [[traces]] with files, list or generate".into(),
            );
        }
        self.tasks.memory()?;
        let seconds = self.tasks.seconds;
        if !(1e-6..=1e9).contains(&seconds) {
            return Err(format!(
                "tasks.seconds: {seconds} is out of range (above 0)"
            ));
        }
        self.traces.iter().try_for_each(Source::check)
    }

    /// The policies, each once, in the order of the file.
    ///
    /// # Errors
    /// A policy or a parameter is unknown, or none is named.
    pub fn choices(&self) -> Result<Vec<Choice>, String> {
        let mut all: Vec<Choice> = Vec::new();
        for name in &self.policies {
            let found: Vec<Choice> = match name.as_str() {
                "all" => POLICIES
                    .iter()
                    .map(|one| parsed(one.name))
                    .collect::<Result<_, _>>()?,
                name => vec![parsed(name)?],
            };
            for choice in found {
                if all.iter().all(|had| had.to_string() != choice.to_string()) {
                    all.push(choice);
                }
            }
        }
        match all.is_empty() {
            true => Err("policies: none is named; `hotset sim policies` lists them".into()),
            false => Ok(all),
        }
    }

    /// The sizes with their names, each once, in the order of the file.
    ///
    /// # Errors
    /// A text is no size, or none is named.
    pub fn sizes(&self) -> Result<Vec<(String, Size)>, String> {
        let mut all: Vec<(String, Size)> = Vec::new();
        for text in &self.sizes {
            let parts = text
                .split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty());
            for part in parts {
                let sizes = parse_list(part).map_err(|wrong| format!("sizes: {wrong}"))?;
                for size in sizes {
                    let name = match part.contains("..") {
                        true => named(size),
                        false => part.to_string(),
                    };
                    if all.iter().all(|(had, _)| *had != name) {
                        all.push((name, size));
                    }
                }
            }
        }
        match all.is_empty() {
            true => Err("sizes: none is named; write \"10%\", \"4096\" or \"64M\"".into()),
            false => Ok(all),
        }
    }

    /// Bytes of an object.
    ///
    /// # Errors
    /// The number is no size, or 0.
    pub fn object_bytes(&self) -> Result<u64, String> {
        match self.object_size.bytes() {
            Ok(0) => Err("object_size: an object has at least one byte".into()),
            Ok(bytes) => Ok(bytes),
            Err(wrong) => Err(format!("object_size: {wrong}")),
        }
    }
}

fn parsed(name: &str) -> Result<Choice, String> {
    Choice::parse(name).map_err(|wrong| format!("policies: {wrong}"))
}

/// A size of a range as text: six digits are enough to tell the sizes of a range apart.
fn named(size: Size) -> String {
    match size {
        Size::Objects(objects) => objects.to_string(),
        Size::Bytes(bytes) => format!("{bytes}B"),
        Size::Share(share) => {
            let digits = format!("{:.5e}", share * 100.0);
            format!("{}%", digits.parse::<f64>().unwrap_or(share * 100.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Definition, String> {
        let found: Definition =
            toml::from_str(text).map_err(|error| error.message().to_string())?;
        found.check().map(|()| found)
    }

    const TRACES: &str = "[[traces]]\ngenerate = \"zipf\"\ncount = 1000\n";

    #[test]
    fn policies_and_sizes_are_each_once() {
        let text = format!("policies = [\"LRU\", \"lru\", \"arc\"]\nsizes = [\"1%,10%\", \"1%\", \"1%..100%:3\"]\n{TRACES}");
        let found = of(&text).unwrap();
        let policies: Vec<String> = found
            .choices()
            .unwrap()
            .iter()
            .map(Choice::to_string)
            .collect();
        assert_eq!(policies, ["lru", "arc"]);
        let sizes: Vec<String> = found
            .sizes()
            .unwrap()
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(sizes, ["1%", "10%", "100%"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let policies = "policies = [\"lru\"]\n";
        let sizes = "sizes = [\"1%\"]\n";
        let many = TRACES.replace("1000", "9000000000000000000");
        for (text, named) in [
            (
                format!("policies = [\"lruu\"]\n{sizes}{TRACES}"),
                "policies: there is no policy \"lruu\"",
            ),
            (
                format!("{policies}sizes = [\"1k\"]\n{TRACES}"),
                "sizes: size \"1k\" is ambiguous",
            ),
            (
                format!("{policies}{sizes}object_size = 0\n{TRACES}"),
                "object_size",
            ),
            (
                format!("{policies}{sizes}{TRACES}[tasks]\nmemory = \"10000000T\""),
                "tasks.memory: 10995116277760000000 is out of range",
            ),
            (
                format!("{policies}{sizes}{TRACES}[tasks]\nmemory = 0"),
                "tasks.memory: 0 is out of range",
            ),
            (
                format!("{policies}{sizes}{many}"),
                "traces: count: 9000000000000000000 is out of range",
            ),
            (format!("{policies}{sizes}traces = []"), "[[traces]]"),
            (
                format!("{policies}{sizes}{TRACES}seeds = \"2..1\""),
                "seeds",
            ),
            (
                format!("{policies}{sizes}{TRACES}files = [\"a\"]"),
                "one of files, list and generate",
            ),
            (format!("{policies}{sizes}sises = 1\n{TRACES}"), "sises"),
        ] {
            let wrong = of(&text).unwrap_err();
            assert!(wrong.contains(named), "{text}: {wrong}");
        }
    }
}
