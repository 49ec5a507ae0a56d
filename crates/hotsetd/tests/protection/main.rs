//! Protection on a machine of files, with a clock that the tests move.
mod allocations;
mod choice;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/counting.rs"]
mod counting;
mod exhaustion;
#[path = "../common/fake_process.rs"]
mod fake_process;
mod fixture;
mod locked_files;
#[path = "../common/memory.rs"]
mod memory;
mod robust;
mod settings;
mod steering;
mod systemd_cgroups;
