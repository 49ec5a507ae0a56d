//! A row of the table of settings.
use crate::config::check::{Checked, Setting};
use crate::config::settings::Config;

/// One setting.
pub struct Key {
    /// The section. Empty: the settings before the first section.
    pub section: &'static str,
    /// The name, or [`ANY`].
    pub name: &'static str,
    /// Lays the setting over the configuration.
    pub apply: fn(&mut Config, &Setting) -> Checked,
}

/// The name of a row that takes any name: the administrator chooses the setting's name.
pub const ANY: &str = "*";

pub(crate) const fn key(
    section: &'static str,
    name: &'static str,
    apply: fn(&mut Config, &Setting) -> Checked,
) -> Key {
    Key {
        section,
        name,
        apply,
    }
}
