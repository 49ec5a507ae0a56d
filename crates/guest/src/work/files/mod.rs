//! Workers that read, write and look up files.
pub mod compile;
pub mod copy;
pub mod names;
pub mod read;
pub mod write;
