//! An experiment file and the lines of the command line, parsed with positions that errors quote.
use super::merge::{entry_of_list, into_list, list_of, overlay, quoted};
use super::words::plain;
use serde::de::DeserializeOwned;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// An error in an experiment file, shown as `FILE:LINE: FIELD: MESSAGE` with the line below.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Broken {
    /// The file, or `--set`.
    pub file: String,
    /// From 1; 0 when the file could not be read at all.
    pub line: usize,
    /// The path of the field, `scenes[1].run[0]`; empty for errors of TOML's grammar.
    pub field: String,
    pub message: String,
    /// The line's text, and the columns of the error.
    pub excerpt: (String, Range<usize>),
}

impl Broken {
    pub(in crate::experiment) fn unreadable(path: &Path, error: std::io::Error) -> Broken {
        Broken {
            file: path.display().to_string(),
            line: 0,
            field: String::new(),
            message: format!("cannot be read: {}", names::io_error(&error)),
            excerpt: (String::new(), 0..0),
        }
    }
}

impl Broken {
    /// An error without a message, of a field whose line is not known.
    pub(in crate::experiment) fn of_field(field: &str) -> Broken {
        Broken {
            file: String::new(),
            line: 0,
            field: field.into(),
            message: String::new(),
            excerpt: (String::new(), 0..0),
        }
    }

    /// Whether nothing is known of the file's text: it could not be read.
    pub fn is_unreadable(&self) -> bool {
        self.line == 0 && self.field.is_empty()
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
            let carets = "^".repeat(columns.len().max(1));
            write!(f, "\n  {number} | {text}")?;
            write!(f, "\n  {:1$} | ", "", number.len())?;
            write!(f, "{:1$}{carets}", "", columns.start)?;
        }
        Ok(())
    }
}

/// One step from a table or an array to a value in it.
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

/// An invalid value: its place in the tree, and the reason.
#[derive(Debug)]
pub struct Error {
    pub at: Vec<Step>,
    pub message: String,
}

impl Error {
    /// An error of which only the place is known yet.
    pub fn unsaid(at: Vec<Step>) -> Error {
        Error {
            at,
            message: String::new(),
        }
    }

    /// The path of the field, as in [`Broken::field`].
    pub fn field(&self) -> String {
        written(&self.at)
    }
}

/// The path from the root to a field.
macro_rules! at {
    ($($step:expr),+ $(,)?) => { vec![$($crate::experiment::text::source::Step::from($step)),+] };
}
pub(in crate::experiment) use at;

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

/// The file and the lines of the command line. Each `--set` is padded, so that its positions begin
/// where the text before it ends. A position then identifies its text, also after merging.
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
                    message: format!("no preset is called {name:?}; {}", there_are(name, &names)),
                    excerpt: (String::new(), 0..0),
                });
            }
            (_, Some(table)) => overlay(tree.get_mut(), table),
            (None, None) => {}
        }
        for set in &self.sets {
            let over = self
                .parse(&set.text)
                .map_err(|broken| match list_of(&set.text) {
                    Some(list) => Broken {
                        message: entry_of_list(list),
                        field: list.to_string(),
                        ..broken
                    },
                    None => broken,
                })?;
            let over = over.into_inner();
            if let Some((at, list)) = into_list(tree.get_ref(), &over) {
                return Err(self.at(at, &list, entry_of_list(&list)));
            }
            overlay(tree.get_mut(), over);
        }
        Ok((tree, names))
    }

    /// Parses the file, or a `--set`.
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
            let message = match error.message().contains("unit variant, expected") {
                true => needs_fields(self.text_at(&span), &path),
                false => plain(error.message()),
            };
            self.at(span, &written(&path), message)
        })
    }

    /// An error of [`super::check`] with its position in the text.
    pub fn broken(&self, tree: &Tree<'_>, error: &Error) -> Broken {
        self.at(
            locate(tree, &error.at),
            &written(&error.at),
            error.message.clone(),
        )
    }

    /// The text of a span.
    fn text_at(&self, span: &Range<usize>) -> &str {
        let set = self.sets.iter().rev().find(|set| span.start >= set.begin);
        let text = set.map_or(self.text, |set| &set.text);
        text.get(span.clone()).unwrap_or_default()
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
            message: shortened(message),
            excerpt: around_place(whole, from..chars(end).max(from + 1)),
        }
    }
}

/// Columns of a line that an error shows.
const SHOWN: usize = 120;

/// The part of a line around an error's columns, and the columns in that part.
fn around_place(line: &str, columns: Range<usize>) -> (String, Range<usize>) {
    let length = line.chars().count();
    if length <= SHOWN {
        return (line.to_string(), columns);
    }
    let first = columns.start.saturating_sub(SHOWN / 3).min(length - SHOWN);
    let part: String = line.chars().skip(first).take(SHOWN).collect();
    let lead = if first > 0 { "..." } else { "" };
    let rest = if first + SHOWN < length { "..." } else { "" };
    let moved = |column: usize| column.clamp(first, first + SHOWN) - first + lead.len();
    let columns = moved(columns.start)..moved(columns.end);
    (format!("{lead}{part}{rest}"), columns)
}

/// A message that quotes a value of any length, as text of a few lines.
fn shortened(message: String) -> String {
    let length = message.chars().count();
    if length <= 6 * SHOWN {
        return message;
    }
    let first: String = message.chars().take(SHOWN).collect();
    let last: String = message.chars().skip(length - 2 * SHOWN).collect();
    format!("{first} ... {last}")
}

/// The message for a name where a name with fields is expected, such as `does = "probe"`.
fn needs_fields(name: &str, path: &[Step]) -> String {
    let name = name.trim_matches(['"', '\'']);
    let field = match path.last() {
        Some(Step::Key(field)) if field != name => format!("{field}.{name}"),
        _ => name.to_string(),
    };
    format!("expected {name} with its fields: {field} = {{ ... }}")
}

/// "there are a, b; did you mean b?", or "there are none".
pub fn there_are<T: AsRef<str>>(wrong: &str, names: &[T]) -> String {
    if names.is_empty() {
        return "there are none".into();
    }
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let meant = names::suggestion(wrong, names.iter().copied());
    format!("there are {}{meant}", names.join(", "))
}

/// The span of the value at a path, or of the nearest value on the way to it.
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

/// The path of the smallest value that a span lies in.
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
        // An error of the whole file, such as a missing field at the top.
        return Vec::new();
    }
    let mut best = None;
    keys(tree.get_ref(), span, &mut Vec::new(), &mut best);
    best.map(|(_, path)| path).unwrap_or_default()
}
