//! Reads and writes the kernel's files below /proc and /sys.
use anyhow::{Context, Result};

/// Reads a file whole.
///
/// # Errors
/// When it cannot be read, naming it.
pub fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {path}"))
}

/// Writes a value.
///
/// # Errors
/// When the kernel refuses it, naming the file and the value.
pub fn write(path: &str, value: &str) -> Result<()> {
    std::fs::write(path, value).with_context(|| format!("writing {value:?} to {path}"))
}

/// The value of one field of /proc/vmstat.
pub fn vmstat_field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        line.strip_prefix(name)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    })
}
