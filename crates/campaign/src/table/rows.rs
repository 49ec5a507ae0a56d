//! The rows of results: one for each trace, policy and size.
use super::columns::Column;
use super::read::Read;
use anyhow::{bail, Result};

/// One policy at one size on one trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub trace: String,
    pub policy: String,
    /// The size as the campaign's file has it.
    pub size: String,
    pub size_objects: u64,
    pub requests: u64,
    /// Distinct objects of the trace.
    pub objects: u64,
    pub misses: u64,
    /// A hash of the requests' objects in order, as `hotset sim --json` has it.
    pub digest: String,
    pub malformed_left_out: u64,
    pub writes_left_out: u64,
}

/// The columns of results, in order.
pub const RESULTS: [&str; 11] = [
    "trace",
    "policy",
    "size",
    "size_objects",
    "requests",
    "objects",
    "misses",
    "miss_ratio",
    "digest",
    "malformed_left_out",
    "writes_left_out",
];

impl Row {
    /// Misses divided by requests.
    pub fn miss_ratio(&self) -> f64 {
        self.misses as f64 / self.requests.max(1) as f64
    }

    /// The rows as columns, by [`RESULTS`].
    pub fn columns(rows: &[Row]) -> Vec<Column> {
        let text =
            |of: fn(&Row) -> &String| Column::Text(rows.iter().map(|r| of(r).clone()).collect());
        let count = |of: fn(&Row) -> u64| Column::Count(rows.iter().map(of).collect());
        vec![
            text(|row| &row.trace),
            text(|row| &row.policy),
            text(|row| &row.size),
            count(|row| row.size_objects),
            count(|row| row.requests),
            count(|row| row.objects),
            count(|row| row.misses),
            Column::Real(rows.iter().map(Row::miss_ratio).collect()),
            text(|row| &row.digest),
            count(|row| row.malformed_left_out),
            count(|row| row.writes_left_out),
        ]
    }

    /// The names and the types of the columns.
    pub fn schema() -> Vec<(&'static str, Column)> {
        RESULTS.into_iter().zip(Row::columns(&[])).collect()
    }

    /// The rows of a table.
    ///
    /// # Errors
    /// A column is missing, or has another type.
    pub fn of(table: &mut Read) -> Result<Vec<Row>> {
        let mut traces = text(table, "trace")?.into_iter();
        let mut policies = text(table, "policy")?.into_iter();
        let mut sizes = text(table, "size")?.into_iter();
        let mut digests = text(table, "digest")?.into_iter();
        let size_objects = count(table, "size_objects")?;
        let requests = count(table, "requests")?;
        let objects = count(table, "objects")?;
        let misses = count(table, "misses")?;
        let malformed = count(table, "malformed_left_out")?;
        let writes = count(table, "writes_left_out")?;
        let mut rows = Vec::with_capacity(misses.len());
        let mut next = || {
            Some((
                traces.next()?,
                policies.next()?,
                sizes.next()?,
                digests.next()?,
            ))
        };
        while let Some((trace, policy, size, digest)) = next() {
            let at = rows.len();
            rows.push(Row {
                trace,
                policy,
                size,
                size_objects: size_objects[at],
                requests: requests[at],
                objects: objects[at],
                misses: misses[at],
                digest,
                malformed_left_out: malformed[at],
                writes_left_out: writes[at],
            });
        }
        Ok(rows)
    }
}

fn text(table: &mut Read, name: &str) -> Result<Vec<String>> {
    match table.take(name)? {
        Column::Text(values) => Ok(values),
        _ => bail!("column {name} is no text"),
    }
}

fn count(table: &mut Read, name: &str) -> Result<Vec<u64>> {
    match table.take(name)? {
        Column::Count(values) => Ok(values),
        _ => bail!("column {name} is no count"),
    }
}
