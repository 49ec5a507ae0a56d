//! The daemon's reports: the log, the status document, the metrics, and the sockets for both.
pub mod forecast;
pub mod log;
pub mod metrics;
pub mod server;
pub mod serving;
pub mod state;
pub mod status;
mod target;
