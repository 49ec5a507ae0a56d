//! Shared by the parsers: lines and numbers, fields by name, lists that keep their buffers.
pub mod fields;
pub mod reused;
pub mod text;
