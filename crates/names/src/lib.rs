//! Names of files and things: shown so that a terminal cannot be misled, and guessed where mistyped.
mod nearest;
mod shown;

pub use nearest::{is_slip, nearest, suggestion};
pub use shown::{escaped, io_error, shown};
