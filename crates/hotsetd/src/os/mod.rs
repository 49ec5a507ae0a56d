//! The operating system: the process itself, its clocks, text without allocation.
pub mod clock;
pub mod fixed_string;
pub mod process;
pub mod realtime;
pub mod standard_streams;
