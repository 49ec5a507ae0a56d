//! `hotset kernel clean`: names what it removes, then removes it.
use crate::shell::{document, flush, outln};
use anyhow::Result;
use kbuild::cache::Cache;
use kbuild::clean::{plan, remove, Item};
use names::shown;
use serde_json::json;
use std::process::ExitCode;
use units::format_bytes;

/// Removes what [`plan`] finds.
///
/// # Errors
/// As [`plan`] and [`remove`]. Where standard output cannot be written, nothing is removed.
pub fn clean(dry_run: bool, all: bool, as_json: bool) -> Result<ExitCode> {
    let cache = Cache::of_user()?;
    let items = plan(&cache, None, all)?;
    let sum: u64 = items.iter().map(|item| item.bytes).sum();
    match as_json {
        true => outln!("{}", json(&cache, &items, sum, dry_run)?)?,
        false => show(&cache, &items)?,
    }
    // A list that nobody could read must not be followed by the removal.
    flush()?;
    if !dry_run {
        remove(&cache, &items)?;
    }
    if !as_json {
        let verb = if dry_run { "would free" } else { "freed" };
        outln!("{verb} {}", format_bytes(sum as f64))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(cache: &Cache, items: &[Item]) -> Result<()> {
    outln!("Cache: {}", shown(cache.root()))?;
    for item in items {
        let size = format_bytes(item.bytes as f64);
        let path = item.path.strip_prefix(cache.root()).unwrap_or(&item.path);
        outln!("{size:>10}  {}\n            {}", shown(path), item.why)?;
    }
    Ok(())
}

fn json(cache: &Cache, items: &[Item], sum: u64, dry_run: bool) -> Result<String> {
    let items: Vec<_> = { items.iter() }
        .map(|item| json!({ "path": item.path, "why": item.why, "bytes": item.bytes }))
        .collect();
    let whole = json!({
        "cache": cache.root(), "dry_run": dry_run, "items": items, "bytes": sum,
    });
    document("kernel.clean", 1, &whole)
}
