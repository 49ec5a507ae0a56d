//! Looks records up, and counts what that takes.
use anyhow::{ensure, Result};
use raw::database::{Engine, LookUp};
use std::path::Path;

use crate::content::{draws, key, record, Key};
use crate::counters::{now_ms, Counters};
use crate::pages::{Made, Map, Split, PAGE};
use crate::{redb, sqlite, Values};

/// Looks at how much is resident.
const LOOKS: u64 = 50;

/// Finds the record with a key, and hands it to the second closure.
pub type Find<'a> = dyn FnMut(&Key, &mut dyn FnMut(&[u8])) -> Result<()> + 'a;

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
    // The mean of looks that are equally far apart, as the hits are of all look-ups.
    let every = (orders.look_ups / LOOKS).max(1);
    let (mut looks, mut resident) = (0, Split::default());
    let (begin, before) = (now_ms(), Counters::now(cgroup)?);
    for (turn, number) in (1..=orders.look_ups).zip(draws) {
        one(number, find)?;
        if turn % every == 0 {
            let now = sum(maps, Map::resident)?;
            looks += 1;
            resident.index += now.index;
            resident.records += now.records;
        }
    }
    let (end, after) = (now_ms(), Counters::now(cgroup)?);
    let share = |resident: u64, all: u64| resident as f64 / (looks * all).max(1) as f64;
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

/// One look-up: the record must be the one that was put in.
fn one(number: u64, find: &mut Find) -> Result<()> {
    let mut right = false;
    find(&key(number), &mut |found| right = found == record(number))?;
    ensure!(right, "record {number} is not what was put in");
    Ok(())
}
