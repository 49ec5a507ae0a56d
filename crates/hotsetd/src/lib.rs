//! The daemon: measures, forecasts, decides, acts, and gives back what it changed.
pub mod cli;
pub mod config;
pub mod import;
pub mod instance;
pub mod journal;
pub mod knobs;
pub mod load;
pub mod log;
pub mod notify;
pub mod text;
