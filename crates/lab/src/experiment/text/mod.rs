//! The text of an experiment file: parsed with positions, merged, and quoted in errors.
mod merge;
pub mod source;
mod words;
