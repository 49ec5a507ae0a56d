//! Checks the configuration of an arm's daemon with hotsetd's own parser.
use super::rule::{invalid, Checked};
use crate::experiment::arm::Daemon;
use crate::experiment::text::source::Step;
use hotsetd::config::file::first_error;

/// Checks all settings together. An error is placed at the setting that has it alone, if there is one.
pub fn daemon(at: Vec<Step>, daemon: &Daemon) -> Checked {
    if daemon.program.is_some() {
        return Ok(());
    }
    if daemon.in_root {
        let mut here = at;
        here.push("in_root".into());
        return invalid(here, "goes with `program`: hotsetd is not of the root");
    }
    let Some(message) = first_error(&daemon.text()) else {
        return Ok(());
    };
    let mut config = at;
    config.push("config".into());
    let place = place(&config, &daemon.config, &message, &|table| table);
    invalid(place.unwrap_or(config), message)
}

/// A table inside the sections that it lies in.
type Inside<'a> = &'a dyn Fn(toml::Table) -> toml::Table;

/// The setting that gives this error by itself.
fn place(at: &[Step], table: &toml::Table, message: &str, inside: Inside) -> Option<Vec<Step>> {
    table.iter().find_map(|(key, value)| {
        let mut here = at.to_vec();
        here.push(key.as_str().into());
        let alone = |value: toml::Value| {
            let mut table = toml::Table::new();
            table.insert(key.clone(), value);
            inside(table)
        };
        if let toml::Value::Table(section) = value {
            if let Some(inner) = place(&here, section, message, &|table| alone(table.into())) {
                return Some(inner);
            }
        }
        let text = alone(value.clone()).to_string();
        (first_error(&text).as_deref() == Some(message)).then_some(here)
    })
}
