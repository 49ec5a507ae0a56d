//! redb: a file of records and a file of keys, since redb does not say which pages belong to a
//! table.
use anyhow::{ensure, Context, Result};
use protocol::work::database::LookUp;
use redb::{Builder, ReadableTableMetadata, TableDefinition, TableStats, WriteTransaction};
use std::path::Path;

use crate::content::{key, record, Key, KEY, RECORD};
use crate::engine::{Find, Values};
use crate::pages::{written, Parts, Stretch};

const RECORDS: &str = "records.redb";
const INDEX: &str = "index.redb";
/// Number to record, and key to number.
const RECORD_TABLE: TableDefinition<u64, &[u8; RECORD]> = TableDefinition::new("record");
const INDEX_TABLE: TableDefinition<&[u8; KEY], u64> = TableDefinition::new("by_key");
/// Pages that redb itself needs in a file, whatever its contents.
const ITS_OWN: u64 = 1024;
/// The cache while a database is made.
const MAKING: usize = 64 << 20;

pub fn make(folder: &Path, records: u64) -> Result<Vec<Parts>> {
    let rest = fill(&folder.join(RECORDS), |all| {
        let mut table = all.open_table(RECORD_TABLE)?;
        for number in 0..records {
            table.insert(number, &record(number))?;
        }
        Ok(table.stats()?)
    })?;
    let index = fill(&folder.join(INDEX), |all| {
        let mut table = all.open_table(INDEX_TABLE)?;
        for number in 0..records {
            table.insert(&key(number), number)?;
        }
        Ok(table.stats()?)
    })?;
    Ok(vec![
        Parts {
            file: RECORDS.into(),
            index: Vec::new(),
            records: rest,
        },
        Parts {
            file: INDEX.into(),
            index,
            records: Vec::new(),
        },
    ])
}

/// Makes one file; returns its pages.
fn fill(
    path: &Path,
    put: impl FnOnce(&WriteTransaction) -> Result<TableStats>,
) -> Result<Vec<Stretch>> {
    let context = || format!("making {}", path.display());
    let base = Builder::new().set_cache_size(MAKING).create(path);
    let base = base.with_context(context)?;
    // In one transaction: several would leave old copies of changed pages.
    let all = base.begin_write()?;
    let stats = put(&all)?;
    all.commit()?;
    drop(base);
    let pages = written(path)?;
    // Old copies would be locked and counted as if they were read.
    let tree = stats.leaf_pages() + stats.branch_pages();
    let here: u64 = pages.iter().map(|(_, count)| count).sum();
    let most = tree + tree / 10 + ITS_OWN;
    ensure!(
        here <= most,
        "{}: {here} pages, of which only {tree} are the table's",
        context()
    );
    Ok(pages)
}

pub fn open(
    folder: &Path,
    orders: &LookUp,
    body: &mut dyn FnMut(&mut Find) -> Result<Values>,
) -> Result<Values> {
    ensure!(
        !orders.mapped,
        "`mapped` cannot be used with redb, which maps no files: remove it"
    );
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
