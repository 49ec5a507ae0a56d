//! Prints the results as a table, JSON and CSV.
use crate::shell::{document, out, outln};
use crate::sim::args::ShowArgs;
use anyhow::Result;
use serde_json::json;
use sim::sized::SizedRow;
use sim::sweep::results::{quoted, TraceId};

/// Prints a line for each policy and size.
///
/// # Errors
/// Standard output cannot be written.
pub fn rows(show: &ShowArgs, trace: &TraceId, footprint: u64, rows: &[SizedRow]) -> Result<()> {
    if show.json {
        let whole = json!({"trace": trace, "footprint_bytes": footprint, "rows": rows});
        return outln!("{}", document("sim.bytes", 1, &whole)?);
    }
    if show.csv {
        outln!(
            "trace,policy,size_bytes,requests,misses,miss_ratio,bytes,bytes_missed,byte_miss_ratio"
        )?;
        for row in rows {
            out!(
                "{},{},{},{},{},{:.6},{},{},{:.6}\n",
                quoted(&trace.name),
                quoted(&row.policy),
                row.size_bytes,
                row.requests,
                row.misses,
                row.miss_ratio,
                row.bytes,
                row.bytes_missed,
                row.byte_miss_ratio
            )?;
        }
        return Ok(());
    }
    outln!(
        "{}: {} requests, {} objects of {footprint} bytes; sizes in bytes",
        trace.name,
        trace.requests,
        trace.objects
    )?;
    let wide = rows.iter().map(|row| row.policy.len()).max().unwrap_or(0);
    let wide = wide.max("policy".len());
    outln!(
        "{:wide$}  {:>14}  {:>12}  {:>10}  {:>15}",
        "policy",
        "size",
        "misses",
        "miss ratio",
        "byte miss ratio"
    )?;
    for row in rows {
        outln!(
            "{:wide$}  {:>14}  {:>12}  {:>10.6}  {:>15.6}",
            row.policy,
            row.size_bytes,
            row.misses,
            row.miss_ratio,
            row.byte_miss_ratio
        )?;
    }
    Ok(())
}
