//! Constants of reclaim, by the kernel's names, and the two types of memory.

/// DEF_PRIORITY
pub const DEF_PRIORITY: u32 = 12;
/// MAX_RECLAIM_RETRIES
pub const MAX_RECLAIM_RETRIES: u32 = 16;
/// SWAP_CLUSTER_MAX
pub const SWAP_CLUSTER_MAX: u32 = 32;
/// MAX_SWAPPINESS
pub const MAX_SWAPPINESS: u64 = 200;

/// The index of anonymous memory.
pub const ANON: usize = 0;
/// The index of files.
pub const FILE: usize = 1;
