//! Makes a database.
use anyhow::{ensure, Context, Result};
use protocol::work::database::{Engine, MakeDatabase};
use std::fs::File;
use std::path::Path;

use crate::content::RECORD;
use crate::counters::now_ms;
use crate::engine::Values;
use crate::pages::{Made, Map, PAGE};
use crate::{redb, sqlite};

pub fn run(orders: &MakeDatabase, folder: &Path) -> Result<Values> {
    let begin = now_ms();
    let records = orders.size.bytes() / RECORD as u64;
    ensure!(records > 0, "no record fits into {:?}", orders.size);
    std::fs::create_dir(folder).with_context(|| format!("making {}", folder.display()))?;
    let files = match orders.engine {
        Engine::Sqlite => sqlite::make(folder, records)?,
        Engine::Redb => redb::make(folder, records)?,
    };
    let made = Made { records, files };
    made.write(folder)?;
    let (mut index, mut rest) = (0, 0);
    for parts in &made.files {
        // Synced, so that the next scene can begin with none of it in memory.
        File::open(folder.join(&parts.file))?.sync_all()?;
        let pages = Map::open(folder, parts)?.pages();
        index += pages.index;
        rest += pages.records;
    }
    let mb = |pages: u64| (pages * PAGE) as f64 / f64::from(1 << 20);
    Ok(vec![
        ("records", records as f64),
        ("records_mb", mb(rest)),
        ("index_mb", mb(index)),
        ("done_ms", now_ms() - begin),
    ])
}
