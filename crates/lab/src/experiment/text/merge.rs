//! Lays presets and `--set` over a file's tree.
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Quotes the value of a `--set` that is no TOML: `--set title=x` sets the string "x".
pub fn quoted(set: &str) -> String {
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

/// A list of tables into which a `--set` would reach: its place in the `--set`, and its name.
pub fn into_list(base: &DeTable<'_>, over: &DeTable<'_>) -> Option<(Range<usize>, String)> {
    over.iter().find_map(|(key, value)| {
        let (name, inner) = (key.get_ref(), value.get_ref().as_table()?);
        match base.get(name.as_ref()).map(Spanned::get_ref)? {
            DeValue::Array(_) => Some((key.span(), name.to_string())),
            DeValue::Table(below) => into_list(below, inner),
            _ => None,
        }
    })
}

/// The message for a `--set` that would change an entry.
pub fn entry_of_list(list: &str) -> String {
    format!(
        "--set changes no entry of a list: [[{list}]] needs a preset, which has the whole list, or a copy of \
         the file"
    )
}

/// Tables merge, anything else replaces.
pub fn overlay<'i>(base: &mut DeTable<'i>, over: DeTable<'i>) {
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

/// The list that a `--set` such as `scenes[0].seconds=9`, which is no TOML, names an entry of.
pub fn list_of(set: &str) -> Option<&str> {
    let (key, _) = set.trim().split_once('=')?;
    let (list, _) = key.split_once('[')?;
    Some(list).filter(|list| !list.is_empty())
}
