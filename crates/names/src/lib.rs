//! Names of files and things: shown so that a terminal cannot be misled, quoted for a shell, and guessed where mistyped.
mod nearest;
mod quoted;
mod shown;

pub use nearest::{is_slip, nearest, suggestion};
pub use quoted::quoted;
pub use shown::{escaped, io_error, shown};
