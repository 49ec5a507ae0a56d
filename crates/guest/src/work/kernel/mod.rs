//! Workers that ask the kernel to reclaim or to age pages, or change its settings.
pub mod age;
pub mod knobs;
pub mod reclaim;
mod whole_machine;
