//! Pages: the report of a run, and sheets of tables and charts.
mod about;
mod charts;
mod measured;
mod page;
mod parts;
pub mod sheet;

pub use page::html;
