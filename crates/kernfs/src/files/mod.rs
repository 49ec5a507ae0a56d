//! One module a file of the kernel: bytes in, a struct out that is filled again and again.
pub mod buddyinfo;
pub mod cgroup;
pub mod dentry;
pub mod knobs;
pub mod lru_gen;
pub mod machine;
pub mod meminfo;
pub mod node;
pub mod psi;
pub mod vmstat;
pub mod zoneinfo;
