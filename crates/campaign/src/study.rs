//! Policies compared over all traces of a campaign.
//!
//! The reduction of misses against a yardstick is `(yardstick - policy) / yardstick`, both at one size on one trace:
//! 0.1 is a tenth fewer misses, and a negative value is more misses. Papers on caches draw its percentiles over
//! traces, for instance Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.
use crate::merge::MISSING;
use crate::table::{self, Row};
use anyhow::{Context, Result};
use report::study::stats::{mean, quantile};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The policies that others are compared with.
pub const YARDSTICKS: [&str; 2] = ["fifo", "lru"];

/// The policy that knows the future: it wins everywhere, so it takes no part.
const ORACLE: &str = "opt";

/// All comparisons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    pub traces: usize,
    /// Traces without a result.
    pub missing: u64,
    pub policies: Vec<String>,
    pub sizes: Vec<String>,
    /// By yardstick, size and policy.
    pub reductions: Vec<Reduction>,
    pub wins: Vec<Wins>,
    pub winners: Vec<Winner>,
}

/// A policy against a yardstick at one size, over all traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reduction {
    pub against: &'static str,
    pub size: String,
    pub policy: String,
    pub p10: f64,
    pub p50: f64,
    pub p90: f64,
    pub mean: f64,
    /// The smallest reduction, and its trace.
    pub worst: f64,
    pub worst_trace: String,
}

/// On how many traces a policy has the fewest misses at one size. Policies with equally few share the trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wins {
    pub size: String,
    pub policy: String,
    /// Traces that it wins, shared ones included.
    pub traces: usize,
    /// Traces that it alone wins.
    pub alone: usize,
}

/// The policies with the fewest misses on a trace at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Winner {
    pub trace: String,
    pub size: String,
    pub policies: Vec<String>,
    pub misses: u64,
}

/// Compares the policies of a merged table.
///
/// # Errors
/// The table cannot be read, is damaged or empty.
pub fn study(results: &Path) -> Result<Study> {
    let mut table = table::read(results)?;
    let missing = table.about(MISSING).and_then(|count| count.parse().ok());
    let name = names::shown(results);
    let missing = missing.with_context(|| format!("{name}: is no result of a campaign"))?;
    let rows = Row::of(&mut table).with_context(|| name.to_string())?;
    let mut found = compared(&rows);
    found.missing = missing;
    Ok(found)
}

/// Misses of each policy on each trace, at one size.
struct AtSize<'a> {
    size: &'a str,
    /// The trace, and misses by the place of the policy.
    traces: Vec<(&'a str, Vec<Option<u64>>)>,
}

/// Compares policies by their rows, which are in the order of the merged table.
pub fn compared(rows: &[Row]) -> Study {
    let policies = each_once(rows.iter().map(|row| &*row.policy));
    let sizes = each_once(rows.iter().map(|row| &*row.size));
    let place: BTreeMap<&str, usize> = policies
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, at))
        .collect();
    let of_size: BTreeMap<&str, usize> = sizes
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, at))
        .collect();
    let mut tables: Vec<AtSize> = sizes
        .iter()
        .map(|size| AtSize {
            size,
            traces: Vec::new(),
        })
        .collect();
    for row in rows {
        let traces = &mut tables[of_size[&*row.size]].traces;
        if traces.last().is_none_or(|(trace, _)| *trace != row.trace) {
            traces.push((&row.trace, vec![None; policies.len()]));
        }
        if let Some((_, misses)) = traces.last_mut() {
            misses[place[&*row.policy]] = Some(row.misses);
        }
    }
    let mut found = Study {
        traces: tables.first().map_or(0, |table| table.traces.len()),
        missing: 0,
        policies: policies.iter().map(|name| name.to_string()).collect(),
        sizes: sizes.iter().map(|name| name.to_string()).collect(),
        reductions: Vec::new(),
        wins: Vec::new(),
        winners: Vec::new(),
    };
    for against in YARDSTICKS {
        let Some(&yardstick) = place.get(against) else {
            continue;
        };
        for table in &tables {
            let others = policies
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != yardstick);
            let all = others
                .filter_map(|(at, policy)| reduction(table, against, yardstick, (at, policy)));
            found.reductions.extend(all);
        }
    }
    for table in &tables {
        win(table, &policies, &mut found);
    }
    found
}

fn reduction(
    table: &AtSize,
    against: &'static str,
    yardstick: usize,
    (at, policy): (usize, &str),
) -> Option<Reduction> {
    let mut values = Vec::with_capacity(table.traces.len());
    let mut worst: Option<(f64, &str)> = None;
    for (trace, misses) in &table.traces {
        let (Some(usual), Some(ours)) = (misses[yardstick], misses[at]) else {
            continue;
        };
        let value = (usual as f64 - ours as f64) / usual.max(1) as f64;
        if worst.is_none_or(|(least, _)| value < least) {
            worst = Some((value, trace));
        }
        values.push(value);
    }
    let (worst, worst_trace) = worst?;
    Some(Reduction {
        against,
        size: table.size.to_string(),
        policy: policy.to_string(),
        p10: quantile(&values, 0.1)?,
        p50: quantile(&values, 0.5)?,
        p90: quantile(&values, 0.9)?,
        mean: mean(&values)?,
        worst,
        worst_trace: worst_trace.to_string(),
    })
}

fn win(table: &AtSize, policies: &[&str], found: &mut Study) {
    let mut wins = vec![(0, 0); policies.len()];
    for (trace, misses) in &table.traces {
        let online = || {
            misses
                .iter()
                .enumerate()
                .filter(|(at, _)| policies[*at] != ORACLE)
        };
        let Some(least) = online().filter_map(|(_, misses)| *misses).min() else {
            continue;
        };
        let first: Vec<usize> = online()
            .filter(|(_, misses)| **misses == Some(least))
            .map(|(at, _)| at)
            .collect();
        for &at in &first {
            wins[at].0 += 1;
            wins[at].1 += usize::from(first.len() == 1);
        }
        found.winners.push(Winner {
            trace: trace.to_string(),
            size: table.size.to_string(),
            policies: first.iter().map(|&at| policies[at].to_string()).collect(),
            misses: least,
        });
    }
    let counted = policies
        .iter()
        .zip(wins)
        .filter(|(policy, _)| **policy != ORACLE);
    found
        .wins
        .extend(counted.map(|(policy, (traces, alone))| Wins {
            size: table.size.to_string(),
            policy: policy.to_string(),
            traces,
            alone,
        }));
}

fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(trace: &str, policy: &str, misses: u64) -> Row {
        Row {
            trace: trace.into(),
            policy: policy.into(),
            size: "1%".into(),
            size_objects: 1,
            requests: 1000,
            objects: 100,
            misses,
            digest: String::new(),
            malformed_left_out: 0,
            writes_left_out: 0,
        }
    }

    /// Three traces, whose reductions of s3-fifo against FIFO are 10%, 50% and -20%.
    fn rows() -> Vec<Row> {
        let counts = [
            ("a", [100, 90, 100, 50]),
            ("b", [200, 100, 100, 90]),
            ("c", [50, 60, 40, 30]),
        ];
        let each = counts.iter().flat_map(|(trace, misses)| {
            let named = ["fifo", "s3-fifo", "lru", "opt"].into_iter().zip(misses);
            named.map(|(policy, misses)| row(trace, policy, *misses))
        });
        each.collect()
    }

    #[test]
    fn percentiles_are_over_traces() {
        let found = compared(&rows());
        let of = |against: &str, policy: &str| {
            let mut all = found.reductions.iter();
            all.find(|one| one.against == against && one.policy == policy)
                .unwrap()
        };
        let s3 = of("fifo", "s3-fifo");
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        near(s3.p50, 0.1);
        near(s3.p10, -0.14);
        near(s3.p90, 0.42);
        near(s3.mean, 0.4 / 3.0);
        near(s3.worst, -0.2);
        assert_eq!(s3.worst_trace, "c");
        near(of("lru", "fifo").worst, -1.0);
        assert_eq!(found.reductions.len(), 6);
    }

    #[test]
    fn shared_wins_count_for_each_and_the_oracle_wins_nothing() {
        let found = compared(&rows());
        let wins: Vec<_> = found
            .wins
            .iter()
            .map(|one| (&*one.policy, one.traces, one.alone))
            .collect();
        assert_eq!(wins, [("fifo", 0, 0), ("s3-fifo", 2, 1), ("lru", 2, 1)]);
        assert_eq!(found.winners[1].policies, ["s3-fifo", "lru"]);
        assert_eq!(found.winners[1].misses, 100);
    }
}
