//! Files that stay open, and errors of reading them.
pub mod held;
pub mod reader;
