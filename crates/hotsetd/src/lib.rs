//! The daemon: measures, forecasts, decides, acts, and gives back what it changed.
pub mod cli;
pub mod config;
pub mod import;
pub mod harden;
pub mod instance;
pub mod journal;
pub mod knobs;
pub mod load;
pub mod log;
pub mod notify;
pub mod serve;
pub mod state;
pub mod tell;
pub mod text;
pub mod wake;
pub mod worker;
