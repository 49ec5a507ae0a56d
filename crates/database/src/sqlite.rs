//! SQLite: one file with the table of records and the index of keys.
use anyhow::{ensure, Context, Result};
use protocol::work::database::LookUp;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

use crate::content::{record, Key, KEY, RECORD};
use crate::engine::{Find, Values};
use crate::pages::{stretches, Parts, PAGE};

const FILE: &str = "records.sqlite";

pub fn make(folder: &Path, records: u64) -> Result<Vec<Parts>> {
    // The folder for sorting the index is on the disk, since the guest's /tmp is in memory.
    std::env::set_var("SQLITE_TMPDIR", folder);
    let mut base = Connection::open(folder.join(FILE)).context("making the database")?;
    // A half-made database is worthless, so neither a journal nor syncs are needed.
    base.execute_batch(
        "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
         CREATE TABLE record (number INTEGER PRIMARY KEY, key BLOB NOT NULL, body BLOB NOT NULL);",
    )?;
    let all = base.transaction()?;
    let mut insert = all.prepare("INSERT INTO record VALUES (?1, ?2, ?3)")?;
    for number in 0..records {
        let record = record(number);
        let (key, body) = record.split_at(KEY);
        insert.execute((number as i64, key, body))?;
    }
    drop(insert);
    all.commit()?;
    base.execute_batch("CREATE UNIQUE INDEX by_key ON record (key)")?;
    // SQLite numbers pages from 1.
    let mut pages = base.prepare(
        "SELECT pageno - 1 FROM dbstat
         WHERE name = 'by_key' OR (name = 'record' AND pagetype = 'internal') ORDER BY pageno",
    )?;
    let pages = pages.query_map((), |row| row.get::<_, i64>(0))?;
    let pages = pages.collect::<Result<Vec<i64>, _>>()?;
    ensure!(!pages.is_empty(), "dbstat knows no page of the index");
    let index: Vec<u64> = pages.into_iter().map(|page| page as u64).collect();
    let all = std::fs::metadata(folder.join(FILE))?.len() / PAGE;
    let rest = (0..all).filter(|page| index.binary_search(page).is_err());
    Ok(vec![Parts {
        file: FILE.into(),
        records: stretches(rest),
        index: stretches(index),
    }])
}

pub fn open(
    folder: &Path,
    orders: &LookUp,
    body: &mut dyn FnMut(&mut Find) -> Result<Values>,
) -> Result<Values> {
    let path = folder.join(FILE);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let base = Connection::open_with_flags(&path, flags)
        .with_context(|| format!("opening {}", path.display()))?;
    // A negative number is in KiB, a positive one in pages.
    let cache = -((orders.cache.bytes() >> 10) as i64);
    base.pragma_update(None, "cache_size", cache)?;
    let map = match orders.mapped {
        true => std::fs::metadata(&path)?.len() as i64,
        false => 0,
    };
    let has: i64 = base.query_row(&format!("PRAGMA mmap_size = {map}"), (), |row| row.get(0))?;
    ensure!(has == map, "SQLite maps {has} bytes, not {map}");
    // One transaction, as in redb: otherwise each look-up would check for changes by others.
    base.execute_batch("BEGIN")?;
    let mut select = base.prepare("SELECT key, body FROM record WHERE key = ?1")?;
    let mut whole = Vec::with_capacity(RECORD);
    body(&mut |key: &Key, take| {
        let mut rows = select.query((&key[..],))?;
        let row = rows.next()?.context("there is no record with this key")?;
        whole.clear();
        whole.extend_from_slice(row.get_ref(0)?.as_blob()?);
        whole.extend_from_slice(row.get_ref(1)?.as_blob()?);
        take(&whole);
        Ok(())
    })
}
