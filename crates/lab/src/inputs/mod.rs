//! The inputs of a run besides its experiment file: kernels, recorded traces, data disks
//! and roots.
pub mod data_disk;
pub mod disk_cache;
pub mod kernels;
pub mod obtainable;
pub mod recorded;
pub mod root;
