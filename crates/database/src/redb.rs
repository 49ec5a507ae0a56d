//! redb: a file of records, and one of keys, for redb does not tell whose a page is.
use anyhow::{ensure, Context, Result};
use raw::database::LookUp;
use redb::{Builder, TableDefinition, WriteTransaction};
use std::path::Path;

use crate::content::{key, record, scramble, Key, KEY, RECORD};
use crate::look_up::Find;
use crate::pages::{Parts, PAGE};
use crate::Values;

const RECORDS: &str = "records.redb";
const INDEX: &str = "index.redb";
/// Number to record, and key to number.
const RECORD_TABLE: TableDefinition<u64, &[u8; RECORD]> = TableDefinition::new("record");
const INDEX_TABLE: TableDefinition<&[u8; KEY], u64> = TableDefinition::new("by_key");
/// Records of one transaction: what it holds in memory beyond the cache is little.
const BATCH: usize = 20_000;
/// The cache while a database is made.
const MAKING: usize = 8 << 20;

pub fn make(folder: &Path, records: u64) -> Result<Vec<Parts>> {
    let mut numbers: Vec<u64> = (0..records).collect();
    fill(&folder.join(RECORDS), &numbers, |all, some| {
        let mut table = all.open_table(RECORD_TABLE)?;
        for number in some {
            table.insert(number, &record(*number))?;
        }
        Ok(())
    })?;
    // In the order of the keys, as an index is made of records that are there.
    numbers.sort_unstable_by_key(|number| scramble(*number));
    let index = folder.join(INDEX);
    fill(&index, &numbers, |all, some| {
        let mut table = all.open_table(INDEX_TABLE)?;
        for number in some {
            table.insert(&key(*number), number)?;
        }
        Ok(())
    })?;
    let pages = std::fs::metadata(index)?.len() / PAGE;
    let parts = |file: &str, index| Parts {
        file: file.into(),
        index,
    };
    Ok(vec![
        parts(RECORDS, Vec::new()),
        parts(INDEX, vec![(0, pages)]),
    ])
}

/// Makes one file, in transactions that each `put` some of the numbers.
fn fill(
    path: &Path,
    numbers: &[u64],
    put: impl Fn(&WriteTransaction, &[u64]) -> Result<()>,
) -> Result<()> {
    let mut builder = Builder::new();
    let base = builder.set_cache_size(MAKING).create(path);
    let mut base = base.with_context(|| format!("making {}", path.display()))?;
    for some in numbers.chunks(BATCH) {
        let all = base.begin_write()?;
        put(&all, some)?;
        all.commit()?;
    }
    // It doubles its file when it is full: what is free at its end is no part of the database.
    base.compact()?;
    Ok(())
}

pub fn open(
    folder: &Path,
    orders: &LookUp,
    body: &mut dyn FnMut(&mut Find) -> Result<Values>,
) -> Result<Values> {
    ensure!(!orders.mapped, "redb maps no files");
    // Half for each file.
    let base = |name: &str| {
        let path = folder.join(name);
        let base = Builder::new()
            .set_cache_size(orders.cache.bytes() as usize / 2)
            .open(&path);
        base.with_context(|| format!("opening {}", path.display()))
    };
    let (records, index) = (base(RECORDS)?, base(INDEX)?);
    let (of_records, of_index) = (records.begin_read()?, index.begin_read()?);
    let records = of_records.open_table(RECORD_TABLE)?;
    let index = of_index.open_table(INDEX_TABLE)?;
    body(&mut |key: &Key, take| {
        let number = index.get(key)?.context("there is no such key")?;
        let record = records.get(number.value())?;
        take(record.context("there is no such record")?.value());
        Ok(())
    })
}
