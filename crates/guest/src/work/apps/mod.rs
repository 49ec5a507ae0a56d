//! A phone's apps in turn: see [`protocol::work::apps::AppCycle`] for the model.
mod app;
mod book;
mod cycle;
mod fleet;
mod killer;
mod lmkd;
mod order;
mod plan;
mod tally;

pub use cycle::{cycle, unit};
