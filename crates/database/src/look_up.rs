//! Looks records up, and measures the cost.
use anyhow::{ensure, Result};
use protocol::work::database::{Engine, LookUp};
use std::path::Path;

use crate::content::{draws, key, record};
use crate::counters::{now_ms, Counters};
use crate::engine::{Find, Values};
use crate::pages::{Made, Map, Split, PAGE};
use crate::{redb, sqlite};

/// Samples of the resident pages.
const SAMPLES: u64 = 50;

pub fn run(orders: &LookUp, folder: &Path, seed: u64, cgroup: Option<&Path>) -> Result<Values> {
    let made = Made::read(folder)?;
    let maps = made.files.iter().map(|parts| Map::open(folder, parts));
    let mut maps = maps.collect::<Result<Vec<Map>>>()?;
    if orders.lock_index {
        for map in &maps {
            map.lock_index()?;
        }
    }
    let mut body = |find: &mut Find| count(orders, &made, &mut maps, seed, cgroup, find);
    match orders.engine {
        Engine::Sqlite => sqlite::open(folder, orders, &mut body),
        Engine::Redb => redb::open(folder, orders, &mut body),
    }
}

fn count(
    orders: &LookUp,
    made: &Made,
    maps: &mut [Map],
    seed: u64,
    cgroup: Option<&Path>,
    find: &mut Find,
) -> Result<Values> {
    let mut draws = draws(seed, made.records);
    for number in draws.by_ref().take(orders.settle as usize) {
        one(number, find)?;
    }
    let all = sum(maps, |map| Ok(map.pages()))?;
    // Samples at equal distances, so that their mean stands for all look-ups.
    let every = (orders.look_ups / SAMPLES).max(1);
    let (mut samples, mut resident) = (0, Split::default());
    let (begin, before) = (now_ms(), Counters::now(cgroup)?);
    for (turn, number) in (1..=orders.look_ups).zip(draws) {
        one(number, find)?;
        if turn % every == 0 {
            let now = sum(maps, Map::resident)?;
            samples += 1;
            resident.index += now.index;
            resident.records += now.records;
        }
    }
    let (end, after) = (now_ms(), Counters::now(cgroup)?);
    let share = |resident: u64, all: u64| resident as f64 / (samples * all).max(1) as f64;
    let mb = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let mut values = vec![
        ("look_ups", orders.look_ups as f64),
        ("done_ms", end - begin),
        ("majflt", (after.majflt - before.majflt) as f64),
        ("index_resident", share(resident.index, all.index)),
        ("records_resident", share(resident.records, all.records)),
    ];
    if orders.lock_index {
        values.push(("locked_mb", mb(all.index * PAGE)));
    }
    if let (Some(before), Some(after)) = (before.cgroup, after.cgroup) {
        values.push(("refaults", (after.refaults - before.refaults) as f64));
        values.push(("read_mb", mb(after.read - before.read)));
    }
    Ok(values)
}

fn sum(maps: &mut [Map], of: impl Fn(&mut Map) -> Result<Split>) -> Result<Split> {
    let mut sum = Split::default();
    for map in maps {
        let one = of(map)?;
        sum.index += one.index;
        sum.records += one.records;
    }
    Ok(sum)
}

/// Looks one record up, and checks its contents.
fn one(number: u64, find: &mut Find) -> Result<()> {
    let mut right = false;
    find(&key(number), &mut |found| right = found == record(number))?;
    ensure!(right, "record {number} differs from the stored one");
    Ok(())
}
