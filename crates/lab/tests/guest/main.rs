//! Tests that boot kernels: `cargo test -p lab --test guest -- --ignored`.
mod accesses;
mod bench;
mod command;
mod database;
mod debian;
mod kernels;
mod league;
mod page_cache;
mod programs;
mod qemu_command;
mod selftests;
mod series;
mod wrong;
