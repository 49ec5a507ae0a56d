//! The text of an experiment file: parsed with positions, merged, and quoted in errors.
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// What is wrong with an experiment, and where: `FILE:LINE: FIELD: MESSAGE`, then the line itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Broken {
    /// The file, or `--set`.
    pub file: String,
    /// From 1; 0 when the file could not be read at all.
    pub line: usize,
    /// Path of the field, `scenes[1].run[0]`; empty for faults of TOML's grammar.
    pub field: String,
    pub message: String,
    /// The line's text, and the columns at fault.
    pub excerpt: (String, Range<usize>),
}

impl Broken {
    pub(super) fn unreadable(path: &Path, error: std::io::Error) -> Broken {
        Broken {
            file: path.display().to_string(),
            line: 0,
            field: String::new(),
            message: format!("cannot be read: {error}"),
            excerpt: (String::new(), 0..0),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        if !self.field.is_empty() {
            write!(f, " {}:", self.field)?;
        }
        write!(f, " {}", self.message)?;
        let (text, columns) = &self.excerpt;
        if !text.is_empty() {
            let number = self.line.to_string();
            let marks = "^".repeat(columns.len().max(1));
            write!(f, "\n  {number} | {text}")?;
            write!(f, "\n  {:1$} | ", "", number.len())?;
            write!(f, "{:1$}{marks}", "", columns.start)?;
        }
        Ok(())
    }
}

/// One step from a table or an array to something in it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Key(String),
    At(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Step::Key(key.into())
    }
}

impl From<usize> for Step {
    fn from(at: usize) -> Self {
        Step::At(at)
    }
}

/// A fault of meaning at a place in the tree.
#[derive(Debug)]
pub struct Fault {
    pub at: Vec<Step>,
    pub message: String,
}

/// The way from the root to a field.
macro_rules! at {
    ($($step:expr),+ $(,)?) => { vec![$($crate::experiment::source::Step::from($step)),+] };
}
pub(super) use at;

fn written(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Step::At(at) => text.push_str(&format!("[{at}]")),
        }
    }
    text
}

/// The file and the lines of the command line. Each `--set` is padded so that its positions begin
/// where the text before it ends: one number then says in which text a place is, even after merging.
pub struct Pieces<'a> {
    file: String,
    text: &'a str,
    sets: Vec<Padded>,
}

struct Padded {
    begin: usize,
    text: String,
}

type Tree<'i> = Spanned<DeTable<'i>>;

impl<'a> Pieces<'a> {
    pub fn new(path: &Path, text: &'a str, sets: &[String]) -> Result<Self, Broken> {
        let mut pieces = Pieces {
            file: path.display().to_string(),
            text,
            sets: Vec::new(),
        };
        let mut begin = text.len() + 1;
        for set in sets {
            let text = format!("{}{}", " ".repeat(begin), quoted(set));
            let end = text.len() + 1;
            pieces.sets.push(Padded { begin, text });
            begin = end;
        }
        Ok(pieces)
    }

    /// The file's tree with a preset and the `--set` lines over it, and the presets' names.
    pub fn merge(&self, preset: Option<&str>) -> Result<(Tree<'_>, Vec<String>), Broken> {
        let mut tree = self.parse(self.text)?;
        let found = tree.get_ref().get("presets").cloned();
        let mut names = Vec::new();
        let mut chosen = None;
        if let Some(found) = found {
            let at = found.span();
            let DeValue::Table(presets) = found.into_inner() else {
                return Err(self.at(at, "presets", "expected tables, `[presets.NAME]`".into()));
            };
            for (name, value) in presets {
                names.push(name.get_ref().to_string());
                let at = value.span();
                let DeValue::Table(table) = value.into_inner() else {
                    let field = format!("presets.{}", name.get_ref());
                    return Err(self.at(at, &field, "expected a table".into()));
                };
                if preset == Some(name.get_ref()) {
                    chosen = Some(table);
                }
            }
            tree.get_mut().remove("presets");
        }
        match (preset, chosen) {
            (Some(name), None) => {
                return Err(Broken {
                    file: self.file.clone(),
                    line: 0,
                    field: "presets".into(),
                    message: format!("no preset is called {name:?}; {}", there_are(&names)),
                    excerpt: (String::new(), 0..0),
                });
            }
            (_, Some(table)) => overlay(tree.get_mut(), table),
            (None, None) => {}
        }
        for set in &self.sets {
            overlay(tree.get_mut(), self.parse(&set.text)?.into_inner());
        }
        Ok((tree, names))
    }

    fn parse<'t>(&self, text: &'t str) -> Result<Tree<'t>, Broken> {
        DeTable::parse(text).map_err(|error| {
            self.at(
                error.span().unwrap_or(0..0),
                "",
                error.message().to_string(),
            )
        })
    }

    /// The tree as a value of `T`.
    pub fn read<T: DeserializeOwned>(&self, tree: &Tree<'_>) -> Result<T, Broken> {
        T::deserialize(toml::Deserializer::from(tree.clone())).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let path = around(tree, &span);
            self.at(
                span,
                &written(&path),
                error.message().trim().replace('\n', ", "),
            )
        })
    }

    /// A fault of meaning with its position.
    pub fn broken(&self, tree: &Tree<'_>, fault: &Fault) -> Broken {
        self.at(
            locate(tree, &fault.at),
            &written(&fault.at),
            fault.message.clone(),
        )
    }

    fn at(&self, span: Range<usize>, field: &str, message: String) -> Broken {
        let set = self.sets.iter().rev().find(|set| span.start >= set.begin);
        let (file, text, begin) = match set {
            Some(set) => ("--set".to_string(), &set.text[set.begin..], set.begin),
            None => (self.file.clone(), self.text, 0),
        };
        let mut start = (span.start - begin).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line = text[..start].matches('\n').count() + 1;
        let line_begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let whole = text[line_begin..].lines().next().unwrap_or_default();
        let chars = |bytes: usize| whole.get(..bytes).map_or(0, |part| part.chars().count());
        let end = (span.end - begin)
            .saturating_sub(line_begin)
            .min(whole.len());
        let from = chars(start - line_begin);
        Broken {
            file,
            line,
            field: field.to_string(),
            message,
            excerpt: (whole.to_string(), from..chars(end).max(from + 1)),
        }
    }
}

/// "there are a, b" or "there are none".
pub fn there_are<T: AsRef<str>>(names: &[T]) -> String {
    if names.is_empty() {
        return "there are none".into();
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    format!("there are {}", names.join(", "))
}

/// `--set title=x` means the string "x": TOML's quotes are a nuisance in a shell.
fn quoted(set: &str) -> String {
    if DeTable::parse(set).is_err() {
        if let Some((key, value)) = set.split_once('=') {
            let text = format!("{key}={}", toml::Value::String(value.trim().to_string()));
            if DeTable::parse(&text).is_ok() {
                return text;
            }
        }
    }
    set.to_string()
}

/// Tables merge, anything else replaces.
fn overlay<'i>(base: &mut DeTable<'i>, over: DeTable<'i>) {
    for (key, value) in over {
        let both = base.get_mut(key.get_ref().as_ref());
        match (both.map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Table(below)), DeValue::Table(_)) => {
                if let DeValue::Table(above) = value.into_inner() {
                    overlay(below, above);
                }
            }
            _ => {
                base.insert(key, value);
            }
        }
    }
}

/// Where a path leads, or the nearest that there is of it.
fn locate(tree: &Tree<'_>, path: &[Step]) -> Range<usize> {
    let mut span = 0..0;
    let mut value: Option<&Spanned<DeValue<'_>>> = None;
    for step in path {
        let table = match value.map(Spanned::get_ref) {
            None => Some(tree.get_ref()),
            Some(DeValue::Table(table)) => Some(table),
            Some(_) => None,
        };
        let next = match (step, table, value.map(Spanned::get_ref)) {
            (Step::Key(key), Some(table), _) => table.get(key.as_str()),
            (Step::At(at), _, Some(DeValue::Array(array))) => array.get(*at),
            _ => None,
        };
        match next {
            Some(next) => {
                span = next.span();
                value = Some(next);
            }
            None => break,
        }
    }
    span
}

/// The path of the smallest thing that a span lies in.
fn around(tree: &Tree<'_>, span: &Range<usize>) -> Vec<Step> {
    fn hold(whole: &Range<usize>, part: &Range<usize>) -> bool {
        whole.start <= part.start && part.end <= whole.end
    }
    fn walk(
        (span, value): (Range<usize>, &DeValue<'_>),
        part: &Range<usize>,
        path: &mut Vec<Step>,
        best: &mut Option<(usize, Vec<Step>)>,
    ) {
        if hold(&span, part) && best.as_ref().is_none_or(|(size, _)| span.len() <= *size) {
            *best = Some((span.len(), path.clone()));
        }
        match value {
            DeValue::Table(table) => keys(table, part, path, best),
            DeValue::Array(array) => {
                for (at, value) in array.iter().enumerate() {
                    path.push(Step::At(at));
                    walk((value.span(), value.get_ref()), part, path, best);
                    path.pop();
                }
            }
            _ => {}
        }
    }
    fn keys(
        table: &DeTable<'_>,
        part: &Range<usize>,
        path: &mut Vec<Step>,
        best: &mut Option<(usize, Vec<Step>)>,
    ) {
        for (key, value) in table.iter() {
            path.push(Step::Key(key.get_ref().to_string()));
            if hold(&key.span(), part) && best.as_ref().is_none_or(|(n, _)| key.span().len() <= *n)
            {
                *best = Some((key.span().len(), path.clone()));
            }
            walk((value.span(), value.get_ref()), part, path, best);
            path.pop();
        }
    }
    if span.is_empty() {
        // A fault of the whole, such as a field that is missing at the top.
        return Vec::new();
    }
    let mut best = None;
    keys(tree.get_ref(), span, &mut Vec::new(), &mut best);
    best.map(|(_, path)| path).unwrap_or_default()
}
