//! Results as tables, JSON and CSV.
use super::args::ShowArgs;
use anyhow::Result;
use serde_json::json;
use sim::results::{Results, Row};

/// One line a policy and size.
pub fn rows(results: &Results, args: &ShowArgs) -> Result<()> {
    if args.json {
        println!("{}", serde_json::to_string_pretty(results)?);
    } else if args.csv {
        print!("{}", results.csv());
    } else {
        heading(results);
        let wide = policy_width(results.rows.iter());
        println!(
            "{:wide$}  {:>12}  {:>14}  {:>10}",
            "policy", "size", "misses", "miss ratio"
        );
        for row in &results.rows {
            println!(
                "{:wide$}  {:>12}  {:>14}  {:>10.6}",
                row.policy,
                row.size,
                row.misses,
                row.miss_ratio()
            );
            if let Some(error) = row.misses_error_95 {
                println!("    +- {error} misses (95%)");
            }
            counters(row);
        }
    }
    Ok(())
}

fn policy_width<'a>(rows: impl Iterator<Item = &'a Row>) -> usize {
    rows.map(|row| row.policy.len()).max().unwrap_or(0).max(6)
}

fn heading(results: &Results) {
    let trace = &results.trace;
    println!(
        "{}: {} requests, {} objects; sizes in objects",
        trace.name, trace.requests, trace.objects
    );
    if let Some(one_in) = trace.one_in {
        println!("ESTIMATES from one object in {one_in}; +- is half of a 95% interval");
    }
    if let Some((part, of)) = results.shard {
        println!(
            "part {part} of {of}: {} of {} jobs",
            results.rows.len(),
            results.jobs
        );
    }
}

fn counters(row: &Row) {
    if !row.counters.is_empty() {
        let all: Vec<String> = row
            .counters
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        println!("    {}", all.join(", "));
    }
}

/// How far a policy comes from LRU (0%) to OPT (100%); nothing where those are the same.
pub fn way_to_opt(row: &Row, lru: u64, opt: u64) -> Option<f64> {
    (lru > opt).then(|| (lru as f64 - row.misses as f64) / (lru - opt) as f64 * 100.0)
}

/// Best first, for each size.
pub fn comparison(results: &Results, args: &ShowArgs) -> Result<()> {
    if args.csv {
        print!("{}", results.csv());
        return Ok(());
    }
    let mut sizes: Vec<u64> = results.rows.iter().map(|row| row.size).collect();
    sizes.dedup();
    sizes.sort_unstable();
    sizes.dedup();
    let mut report = Vec::new();
    if !args.json {
        heading(results);
    }
    for size in sizes {
        let mut rows: Vec<&Row> = results.rows.iter().filter(|row| row.size == size).collect();
        rows.sort_by_key(|row| (row.misses, row.job));
        let of = |policy: &str| {
            rows.iter()
                .find(|row| row.policy == policy)
                .map_or(0, |row| row.misses)
        };
        let (lru, opt) = (of("lru"), of("opt"));
        if args.json {
            report.extend(rows.iter().map(|row| {
                json!({
                    "policy": row.policy, "size": row.size, "misses": row.misses,
                    "miss_ratio": row.miss_ratio(),
                    "misses_of_lru": row.misses as f64 / lru.max(1) as f64,
                    "way_from_lru_to_opt_percent": way_to_opt(row, lru, opt),
                })
            }));
            continue;
        }
        let wide = policy_width(rows.iter().copied());
        println!("\nsize {size}");
        println!(
            "{:wide$}  {:>14}  {:>10}  {:>8}  {:>10}",
            "policy", "misses", "miss ratio", "of LRU's", "LRU to OPT"
        );
        for row in rows {
            let way = way_to_opt(row, lru, opt).map_or("-".to_string(), |way| format!("{way:.1}%"));
            println!(
                "{:wide$}  {:>14}  {:>10.6}  {:>8.4}  {:>10}",
                row.policy,
                row.misses,
                row.miss_ratio(),
                row.misses as f64 / lru.max(1) as f64,
                way
            );
        }
    }
    if args.json {
        let all = json!({"trace": results.trace, "policies": report});
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(())
}
