//! A study as a page, a Markdown file, and text for a terminal.
pub mod charts;
pub mod html;
pub mod markdown;
pub mod number;
mod phrases;
pub mod table;
pub mod tables;
pub mod terminal;
pub mod text;
