//! The report on a terminal.
mod columns;
mod page;
mod sparkline;
mod style;
mod wrap;

pub use page::terminal;
pub use wrap::wrap;
