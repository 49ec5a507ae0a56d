//! What changed from each record to the next.
use crate::reread;
use flight::Record;

/// The figures of one record, and its rates since the record before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Seconds since 1970.
    pub unix_s: f64,
    /// Seconds since the record before; 0 for the first of a boot.
    pub dt_s: f64,
    pub memory: Memory,
    pub rates: Rates,
    /// Share of the time, 0 to 1, in which some task, or every task, waited for memory, or for a disk to give back what
    /// reclaim had taken.
    pub some: f64,
    pub full: f64,
    /// The part of `full` that only the pressure of io shows.
    pub disk: f64,
    /// Processes that the kernel killed for want of memory, or hotsetd.
    pub kills: u64,
    /// Those of hotsetd.
    pub kills_by_us: u64,
}

/// Where the memory is. Bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    pub total: u64,
    pub free: u64,
    /// Free pages that allocations may take before anyone reclaims: the sum of the nodes' high watermarks.
    pub high: u64,
    pub available: u64,
    pub anon: u64,
    /// On the lists of file pages.
    pub file: u64,
    pub shmem: u64,
    pub slab: u64,
    pub page_tables: u64,
    pub kernel_stack: u64,
    pub hugetlb: u64,
    pub hugetlb_free: u64,
    pub swap: u64,
    pub swap_free: u64,
    /// Evicted pages that the kernel still remembers, at most: 64 to a node of shadow entries (mm/workingset.c).
    pub shadows: u64,
}

/// Per second. Pages, or events.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    pub refault_file: f64,
    pub refault_anon: f64,
    pub swap_in: f64,
    pub alloc_stalls: f64,
    pub compact_stalls: f64,
    /// What reclaim took, and the part that programs had to reclaim themselves. Bytes.
    pub stolen: f64,
    pub stolen_direct: f64,
}

/// Entries of a node of the page cache's tree: XA_CHUNK_SIZE, include/linux/xarray.h.
const SHADOWS_OF_NODE: u64 = 64;

impl Memory {
    /// What programs can still take: available memory and free swap.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.available + self.swap_free
    }
}

/// The points of the records, by time. `page_size`: bytes.
#[must_use]
pub fn of(records: &[Record], page_size: u64) -> Vec<Point> {
    let mut points = Vec::with_capacity(records.len());
    let mut before: Option<&Record> = None;
    for (record, (some, full)) in records.iter().zip(reread::waits(records, page_size)) {
        let same_boot = before.filter(|before| reread::follows(before, record));
        let mut point = point(record, same_boot, page_size);
        point.some = point.some.max(some);
        point.disk = (full - point.full).max(0.0);
        point.full += point.disk;
        points.push(point);
        before = Some(record);
    }
    points
}

fn point(record: &Record, before: Option<&Record>, page_size: u64) -> Point {
    let memory = memory(record, page_size);
    let Some(before) = before else {
        return Point {
            unix_s: record.unix_s,
            memory,
            ..Point::default()
        };
    };
    let dt_s = record.sample.t - before.sample.t;
    let grown = |name: &str| {
        let value = |record: &Record| record.sample.vmstat.get(name).copied();
        // A counter that is left out is 0.
        let (now, then) = (value(record).unwrap_or(0), value(before).unwrap_or(0));
        now.saturating_sub(then) as f64
    };
    let sum = |begin: &str| {
        let names = record.sample.vmstat.keys();
        names
            .filter(|name| name.starts_with(begin))
            .map(|name| grown(name))
            .sum::<f64>()
    };
    let waited = |full: bool| {
        let total = |record: &Record| {
            let memory = record.sample.psi.get("memory")?;
            let line = if full { memory.full } else { memory.some };
            Some(line?.total)
        };
        let waited_us = total(record)
            .zip(total(before))
            .map(|(now, then)| now.saturating_sub(then));
        (waited_us.unwrap_or(0) as f64 / 1e6 / dt_s).min(1.0)
    };
    let either = |new: &str, old: &str| {
        if grown(new) > 0.0 {
            grown(new)
        } else {
            grown(old)
        }
    };
    let page = page_size as f64;
    let kills_by_us = record.did.iter().filter(|deed| is_kill(&deed.did)).count() as u64;
    Point {
        unix_s: record.unix_s,
        dt_s,
        memory,
        rates: Rates {
            refault_file: either("workingset_refault_file", "workingset_refault") / dt_s,
            refault_anon: grown("workingset_refault_anon") / dt_s,
            swap_in: grown("pswpin") / dt_s,
            alloc_stalls: sum("allocstall") / dt_s,
            compact_stalls: grown("compact_stall") / dt_s,
            stolen: page * (grown("pgsteal_kswapd") + grown("pgsteal_direct")) / dt_s,
            stolen_direct: page * grown("pgsteal_direct") / dt_s,
        },
        some: waited(false),
        full: waited(true),
        disk: 0.0,
        kills: grown("oom_kill") as u64 + kills_by_us,
        kills_by_us,
    }
}

/// Whether hotsetd's action is a kill.
#[must_use]
pub fn is_kill(did: &str) -> bool {
    did.starts_with("killed ") || did.starts_with("asked to end ")
}

fn memory(record: &Record, page_size: u64) -> Memory {
    let kib = |name: &str| record.sample.meminfo.get(name).copied().unwrap_or(0) << 10;
    let pages = |of: fn(&kernfs::samples::Node) -> u64| {
        let nodes = record.sample.nodes.iter();
        nodes.map(of).sum::<u64>() * page_size
    };
    let huge_pages = |name: &str| record.sample.meminfo.get(name).copied().unwrap_or(0);
    let (all, free) = (huge_pages("HugePages_Total"), huge_pages("HugePages_Free"));
    let shadow_nodes = record.sample.vmstat.get("workingset_nodes").copied();
    let hugetlb = kib("Hugetlb").max(pages(|node| node.huge));
    Memory {
        total: kib("MemTotal"),
        free: kib("MemFree"),
        high: pages(|node| node.watermarks.high),
        available: kib("MemAvailable"),
        anon: kib("AnonPages")
            .max(pages(|node| node.active_anon + node.inactive_anon).saturating_sub(kib("Shmem"))),
        file: pages(|node| node.active_file + node.inactive_file),
        shmem: kib("Shmem"),
        slab: kib("SUnreclaim"),
        page_tables: kib("PageTables"),
        kernel_stack: kib("KernelStack"),
        hugetlb,
        hugetlb_free: (hugetlb as f64 * free as f64 / all.max(1) as f64) as u64,
        swap: kib("SwapTotal"),
        swap_free: kib("SwapFree"),
        shadows: shadow_nodes.unwrap_or(0) * SHADOWS_OF_NODE * page_size,
    }
}
