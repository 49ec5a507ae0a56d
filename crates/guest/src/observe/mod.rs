//! Reads the kernel's counters, gauges and events while the scenes run.
pub mod counters;
pub mod generations;
pub mod nodes;
pub mod trace;
pub mod watch;
