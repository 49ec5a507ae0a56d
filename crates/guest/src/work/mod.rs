//! The processes of workers.
//!
//! A new kind of work is a variant of [`protocol::work::Work`], a file here, and a line in
//! `worker::run`.
mod access;
mod apps;
mod database;
mod files;
mod kernel;
mod kill;
mod memory;
mod program;
mod stop;
mod worker;

pub use program::in_root;
pub use worker::main;
