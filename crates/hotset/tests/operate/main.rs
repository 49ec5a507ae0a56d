//! Commands of people who run machines.
#[path = "../common/terminal.rs"]
mod terminal;

mod metrics;
mod size;
mod support;
