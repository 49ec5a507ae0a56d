//! The host: its facts, and the resources that guests need.
pub mod cpu_pinning;
pub mod disk_full;
pub mod ext4;
pub mod facts;
pub mod guest_memory_dir;
pub mod max_map_count;
pub mod stop;

pub use facts::{cpu, cpus, jobs, kernel, terminal_width};
