//! A study made readable: a page, a Markdown file, a terminal's text.
pub mod about;
mod comparisons;
mod curves;
pub mod html;
pub mod markdown;
pub mod number;
pub mod plot;
pub mod svg;
pub mod table;
pub mod tables;
pub mod terminal;
pub mod text;
pub mod words;
