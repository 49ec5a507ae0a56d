//! The results of a run: the folder that holds them, and the records made of a guest's lines.
//!
//! [`protocol::record`] describes the files.
pub mod assembly;
mod folder;
pub mod page_cache;
pub mod resume;

pub use folder::{write, Log, Occupied, Results};
