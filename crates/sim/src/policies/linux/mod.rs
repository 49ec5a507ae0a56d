//! Linux's reclaim, after `mm/vmscan.c` and `mm/workingset.c`. An object is a page.
//!
//! The model is a memory cgroup at its limit: a fault that finds no room reclaims, from priority 12
//! down to 0, until at least a batch of pages is free. The model leaves out everything that a trace lacks:
//! page tables (neighbours that `lru_gen_look_around` finds young), writeback, read-ahead, and reclaim
//! that runs beside the accesses. Each rule names the kernel function that it mirrors.
pub mod accesses;
pub mod classic;
pub mod generations;
pub mod mglru;
pub mod page;
pub mod pid;
pub mod reclaim;
pub mod two_list;
