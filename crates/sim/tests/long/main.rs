//! Tests that take long: `cargo test -p sim --test long -- --ignored`.
mod adding_a_policy;
#[path = "../bed/mod.rs"]
mod bed;
mod coverage;
