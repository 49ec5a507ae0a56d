//! The machine that the trial runs on: its counters, its rest between runs, and what else runs there.
pub mod counters;
pub mod memory;
pub mod settle;
pub mod surroundings;
