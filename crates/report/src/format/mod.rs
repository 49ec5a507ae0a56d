//! A study made readable: a page, a Markdown file, a terminal's text.
pub mod about;
mod bars;
mod comparisons;
mod curves;
pub mod html;
pub mod line_chart;
pub mod markdown;
pub mod number;
pub mod plot;
pub mod sheet;
pub mod svg;
pub mod table;
pub mod tables;
pub mod terminal;
pub mod text;
pub mod words;
