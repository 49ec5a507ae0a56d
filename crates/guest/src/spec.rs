//! The lab's orders.
use anyhow::{Context, Result};
use protocol::spec::GuestSpec;

/// The file of the orders.
const SPEC: &str = "/hotset/spec.json";

/// Reads the orders.
///
/// # Errors
/// When the file is missing or does not parse.
pub fn read_spec() -> Result<GuestSpec> {
    let text = std::fs::read_to_string(SPEC).with_context(|| format!("reading {SPEC}"))?;
    serde_json::from_str(&text).with_context(|| format!("in {SPEC}"))
}
