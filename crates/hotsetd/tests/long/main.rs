//! Tests that take half a minute or more. `cargo test -p hotsetd --test long -- --ignored`.
#[path = "../common/mod.rs"]
mod common;
mod kills;
#[path = "../common/memory.rs"]
mod memory;
#[path = "../common/process.rs"]
mod process;
