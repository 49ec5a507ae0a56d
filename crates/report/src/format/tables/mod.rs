//! The report's tables, before they are HTML, Markdown or text.
pub(super) mod comparisons;
pub(super) mod curves;
mod figures;
mod promises;
pub(super) mod run;
mod settings;
mod statistics;

pub(super) use figures::{figures, PAGE_WIDE};
pub(super) use promises::promises;
pub use run::facts;
pub(super) use statistics::statistics;
