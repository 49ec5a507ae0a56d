//! Prints results as tables, JSON and CSV.
use super::args::ShowArgs;
use crate::shell::{document, is_verbose, out, outln};
use anyhow::Result;
use lab::host::terminal_width;
use report::wrap;
use serde::Serialize;
use serde_json::json;
use sim::sampling::NotAvailable;
use sim::sweep::results::{Results, Row, TraceId, COLUMNS};

/// Prints one line for each policy and size. `command` names the fields of `--json`, `cure` what helps where a
/// cache is too small for the sample.
///
/// # Errors
/// Standard output cannot be written.
pub fn rows(results: &Results, command: &str, args: &ShowArgs, cure: Option<&str>) -> Result<()> {
    if args.json {
        return outln!("{}", document(command, 1, results)?);
    }
    if args.csv {
        return out!("{}", results.csv());
    }
    heading(results)?;
    let wide = policy_width(results.rows.iter());
    let interval = interval_head(results);
    outln!(
        "{:wide$}  {:>12}  {:>14}  {:>10}{interval}",
        "policy",
        "size",
        "misses",
        "miss ratio"
    )?;
    for row in &results.rows {
        let (policy, size) = (&row.policy, row.size);
        let (misses, ratio) = counted(row);
        let interval = interval_of(row);
        outln!("{policy:wide$}  {size:>12}  {misses:>14}  {ratio:>10}{interval}")?;
        counters(row)?;
    }
    reasons(results, cure)
}

/// Misses and miss ratio as text.
fn counted(row: &Row) -> (String, String) {
    let none = || "n/a".to_string();
    (
        row.misses.map_or_else(none, |misses| misses.to_string()),
        row.miss_ratio
            .map_or_else(none, |ratio| format!("{ratio:.6}")),
    )
}

fn interval_head(results: &Results) -> &'static str {
    match results.trace.sampled_share {
        Some(_) => "  95% interval",
        None => "",
    }
}

fn interval_of(row: &Row) -> String {
    let ends = row.miss_ratio_95;
    ends.map_or(String::new(), |[low, high]| {
        format!("  {low:.6}..{high:.6}")
    })
}

fn policy_width<'a>(rows: impl Iterator<Item = &'a Row>) -> usize {
    rows.map(|row| row.policy.len()).max().unwrap_or(0).max(6)
}

/// The number of objects, marked where it is an estimate.
pub fn objects(trace: &TraceId, number: impl Fn(u64) -> String) -> String {
    let about = if trace.objects_estimated {
        "about "
    } else {
        ""
    };
    format!("{about}{}", number(trace.objects))
}

/// A share in percent, in six digits: 0.000001 is 0.0001, without the noise of binary fractions.
pub fn percent(share: f64) -> f64 {
    let digits = format!("{:.5e}", share * 100.0);
    digits.parse().unwrap_or(share * 100.0)
}

fn heading(results: &Results) -> Result<()> {
    let trace = &results.trace;
    outln!(
        "{}: {} requests, {} objects; sizes in objects",
        trace.name,
        trace.requests,
        objects(trace, |number| number.to_string())
    )?;
    if let Some(share) = trace.sampled_share {
        outln!("ESTIMATES from {}% of the objects", percent(share))?;
    }
    if let Some((part, of)) = results.shard {
        let (rows, jobs) = (results.rows.len(), results.jobs);
        outln!("part {part} of {of}: {rows} of {jobs} jobs")?;
    }
    Ok(())
}

/// With `--verbose`, the policy's own counters: there are more than a line has room for.
fn counters(row: &Row) -> Result<()> {
    if row.counters.is_empty() || !is_verbose() {
        return Ok(());
    }
    let all = row.counters.iter();
    let all: Vec<String> = all.map(|(name, count)| format!("{name} {count}")).collect();
    for line in wrap(&all.join(", "), terminal_width().saturating_sub(4)) {
        outln!("    {line}")?;
    }
    Ok(())
}

/// Says why there is no estimate, a line for each reason.
fn reasons(results: &Results, cure: Option<&str>) -> Result<()> {
    let too_small = NotAvailable::Cache.to_string();
    for (reason, sizes) in not_available(results) {
        let cure = cure.filter(|_| reason == too_small);
        let cure = cure.map_or(String::new(), |cure| format!("; {cure}"));
        for line in wrap(&format!("n/a at {sizes}: {reason}{cure}"), terminal_width()) {
            outln!("{line}")?;
        }
    }
    Ok(())
}

/// Most sizes that a line names one by one.
const NAMED: usize = 8;

/// Why there is no estimate, and the sizes for which there is none, in the order of the rows.
pub fn not_available(results: &Results) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<u64>)> = Vec::new();
    for row in &results.rows {
        let Some(reason) = &row.not_available else {
            continue;
        };
        match all.iter_mut().find(|(known, _)| known == reason) {
            Some((_, sizes)) => sizes.push(row.size),
            None => all.push((reason.clone(), vec![row.size])),
        }
    }
    let text = |mut sizes: Vec<u64>| {
        sizes.sort_unstable();
        sizes.dedup();
        match (&sizes[..], sizes.first(), sizes.last()) {
            (many, Some(first), Some(last)) if many.len() > NAMED => {
                format!("{} sizes from {first} to {last}", many.len())
            }
            (few, ..) => {
                let few: Vec<String> = few.iter().map(u64::to_string).collect();
                few.join(", ")
            }
        }
    };
    all.into_iter()
        .map(|(reason, sizes)| (reason, text(sizes)))
        .collect()
}

/// The rows of a size, fewest misses first.
pub fn ranked(results: &Results, size: u64) -> Vec<&Row> {
    let mut rows: Vec<&Row> = results.rows.iter().filter(|row| row.size == size).collect();
    rows.sort_by_key(|row| (row.misses.is_none(), row.misses, row.job));
    rows
}

/// What a policy's misses are measured by: those of LRU and of OPT at the same size.
pub struct Yardsticks {
    lru: Option<u64>,
    opt: Option<u64>,
}

impl Yardsticks {
    /// The yardsticks among the rows of a size.
    pub fn among(rows: &[&Row]) -> Yardsticks {
        let of = |policy: &str| rows.iter().find(|row| row.policy == policy)?.misses;
        Yardsticks {
            lru: of("lru"),
            opt: of("opt"),
        }
    }

    /// Misses divided by those of LRU.
    pub fn of_lru(&self, row: &Row) -> Option<f64> {
        Some(row.misses? as f64 / self.lru?.max(1) as f64)
    }

    /// A policy's place between LRU (0%) and OPT (100%) by misses. None where both have equal misses.
    pub fn way_to_opt(&self, row: &Row) -> Option<f64> {
        let (lru, opt) = (self.lru?, self.opt?);
        let misses = row.misses?;
        (lru > opt).then(|| (lru as f64 - misses as f64) / (lru - opt) as f64 * 100.0)
    }
}

/// The sizes of the results, each once, smallest first.
pub fn sizes(results: &Results) -> Vec<u64> {
    let mut sizes: Vec<u64> = results.rows.iter().map(|row| row.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Prints the policies of each size, best first.
///
/// # Errors
/// Standard output cannot be written.
pub fn comparison(results: &Results, args: &ShowArgs, cure: Option<&str>) -> Result<()> {
    if args.csv || args.json {
        let all: Vec<Compared> = sizes(results)
            .into_iter()
            .flat_map(|size| {
                let rows = ranked(results, size);
                let by = Yardsticks::among(&rows);
                rows.into_iter().map(move |row| Compared::new(row, &by))
            })
            .collect();
        if args.csv {
            return out!("{}", compared_csv(results, &all));
        }
        let whole = json!({"trace": results.trace, "jobs": results.jobs, "rows": all});
        return outln!("{}", document("sim.compare", 1, &whole)?);
    }
    heading(results)?;
    for size in sizes(results) {
        let rows = ranked(results, size);
        let by = Yardsticks::among(&rows);
        let wide = policy_width(rows.iter().copied());
        outln!("\nsize {size}")?;
        outln!(
            "{:wide$}  {:>10}  {:>10}  {:>8}  {:>10}{}",
            "policy",
            "misses",
            "miss ratio",
            "of LRU's",
            "LRU to OPT",
            interval_head(results)
        )?;
        for row in rows {
            let none = || "-".to_string();
            let way = by
                .way_to_opt(row)
                .map_or_else(none, |way| format!("{way:.1}%"));
            let of_lru = by.of_lru(row).map_or_else(none, |of| format!("{of:.4}"));
            let (policy, (misses, ratio)) = (&row.policy, counted(row));
            let interval = interval_of(row);
            outln!("{policy:wide$}  {misses:>10}  {ratio:>10}  {of_lru:>8}  {way:>10}{interval}")?;
        }
    }
    reasons(results, cure)
}

/// A row with its place between LRU and OPT.
#[derive(Serialize)]
struct Compared<'a> {
    #[serde(flatten)]
    row: &'a Row,
    #[serde(skip_serializing_if = "Option::is_none")]
    misses_of_lru: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    way_from_lru_to_opt_percent: Option<f64>,
}

impl<'a> Compared<'a> {
    fn new(row: &'a Row, by: &Yardsticks) -> Compared<'a> {
        Compared {
            row,
            misses_of_lru: by.of_lru(row),
            way_from_lru_to_opt_percent: by.way_to_opt(row),
        }
    }
}

/// The columns of all commands, then those of a comparison.
fn compared_csv(results: &Results, rows: &[Compared]) -> String {
    let head = COLUMNS.join(",") + ",misses_of_lru,way_from_lru_to_opt_percent\n";
    let lines = rows.iter().map(|it| {
        let ratio = |value: Option<f64>| value.map_or(String::new(), |it| format!("{it:.6}"));
        let of_lru = ratio(it.misses_of_lru);
        let way = ratio(it.way_from_lru_to_opt_percent);
        format!("{},{of_lru},{way}\n", results.fields(it.row).join(","))
    });
    std::iter::once(head).chain(lines).collect()
}
