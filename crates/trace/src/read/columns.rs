//! The columns of comma-separated values: which is the object, and which are its time, size and operation.
use super::lines::number;
use crate::CsvOptions;

/// Names of id columns that are taken when no option names one.
const IDS: [&str; 11] = [
    "id",
    "obj_id",
    "object",
    "object_id",
    "key",
    "page",
    "block",
    "lba",
    "address",
    "addr",
    "offset",
];
const OPS: [&str; 4] = ["op", "rw", "opcode", "operation"];
const TIMES: [&str; 4] = ["time", "timestamp", "ts", "seconds"];
const SIZES: [&str; 5] = ["size", "obj_size", "object_size", "bytes", "length"];
/// `anon` or `file`.
const KINDS: [&str; 1] = ["kind"];
/// `mapped`, `exec` or `fd`.
const VIAS: [&str; 1] = ["via"];

/// Column numbers, from 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns {
    pub id: usize,
    pub op: Option<usize>,
    pub time: Option<usize>,
    pub size: Option<usize>,
    pub kind: Option<usize>,
    pub via: Option<usize>,
}

impl Columns {
    /// Finds the columns by the options, and by the names of the first line. Without a first line there are no names.
    ///
    /// # Errors
    /// An option names no column, or nothing tells which column is the object.
    pub fn find(options: &CsvOptions, names: &[String]) -> Result<Columns, String> {
        let id =
            match column(names, &options.id, &IDS)? {
                Some(id) => id,
                None if names.is_empty() => 0,
                None if any_number(names) => return Err(
                    "the first line looks like a request, and names no columns; --no-header, and \
                    --id-column N for the object's column"
                        .into(),
                ),
                None => {
                    let there = there(names);
                    return Err(format!(
                        "which column is the object? {there}; --id-column names it"
                    ));
                }
            };
        Ok(Columns {
            id,
            op: column(names, &options.op, &OPS)?,
            time: column(names, &options.time, &TIMES)?,
            size: column(names, &options.size, &SIZES)?,
            kind: column(names, &None, &KINDS)?,
            via: column(names, &None, &VIAS)?,
        })
    }

    /// What each column is taken for, with its name or its number from 1.
    pub fn roles(&self, names: &[String]) -> Vec<(&'static str, String)> {
        let roles = [
            ("object", Some(self.id)),
            ("op", self.op),
            ("time", self.time),
            ("size", self.size),
            ("kind", self.kind),
            ("via", self.via),
        ];
        let known = roles
            .into_iter()
            .filter_map(|(role, at)| at.map(|at| (role, at)));
        let named = known.map(|(role, at)| match names.get(at) {
            Some(name) => (role, short(name)),
            None => (role, (at + 1).to_string()),
        });
        named.collect()
    }

    /// A choice of columns that its user may not have meant.
    pub fn doubt(&self, options: &CsvOptions, names: &[String]) -> Option<String> {
        if names.is_empty() && options.id.is_none() {
            return Some("the object is column 1; --id-column N names another".into());
        }
        let named = names.get(self.id)?;
        number(named.as_bytes()).map(|_| {
            "the first line looks like a request, and is left out as the names of columns; --no-header reads it".into()
        })
    }
}

fn column(
    names: &[String],
    wanted: &Option<String>,
    usual: &[&str],
) -> Result<Option<usize>, String> {
    let Some(wanted) = wanted else {
        return Ok(usual.iter().find_map(|u| names.iter().position(|n| n == u)));
    };
    if let Some(at) = names.iter().position(|n| *n == wanted.to_lowercase()) {
        return Ok(Some(at));
    }
    match wanted.parse::<usize>() {
        Ok(number) if number > 0 && (names.is_empty() || number <= names.len()) => {
            Ok(Some(number - 1))
        }
        _ if names.is_empty() => Err(format!(
            "without a header, columns are given by number from 1, not as \"{wanted}\""
        )),
        _ => {
            let tip = match any_number(names) {
                true => "; the first line looks like a request: --no-header",
                false => "",
            };
            Err(format!(
                "there is no column \"{wanted}\"; {}{tip}",
                there(names)
            ))
        }
    }
}

/// Columns are rarely named by numbers, and requests rarely have none.
fn any_number(names: &[String]) -> bool {
    names.iter().any(|name| number(name.as_bytes()).is_some())
}

fn there(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| short(name)).collect();
    let more = if names.len() > 20 { ", ..." } else { "" };
    format!("the columns are {}{more}", shown.join(", "))
}

/// A name for a message. A binary file's first line must not reach a terminal unescaped.
fn short(name: &str) -> String {
    let short: String = name.chars().take(40).collect();
    short.escape_debug().to_string()
}
