//! Rules that several checks share.
use crate::experiment::text::source::{Error, Step};
use protocol::size::Size;

pub type Checked = Result<(), Error>;

/// The error that the value at a place is invalid.
pub fn invalid<T>(at: Vec<Step>, message: impl Into<String>) -> Result<T, Error> {
    Err(Error {
        at,
        message: message.into(),
    })
}

/// A share of memory is 0% to 1000%, a number of bytes at most 16 TiB.
pub fn size_in_range(size: Size, at: Vec<Step>) -> Checked {
    match size {
        Size::Percent(percent) if !(0.0..=1000.0).contains(&percent) => invalid(
            at,
            format!("expected a share of memory from 0% to 1000%, not {percent}%"),
        ),
        Size::Bytes(bytes) if bytes > 1 << 44 => invalid(at, "expected at most 16 TiB"),
        _ => Ok(()),
    }
}

/// Whether a name consists of letters, digits, `-`, `_` and `.`.
pub fn is_plain(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(fits)
}
