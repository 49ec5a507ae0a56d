//! Statistics of a trace: popularity of its objects, and times and distances of reuse.
mod distance;
mod histogram;
mod popularity;

pub use distance::StackDistance;
pub use histogram::Histogram;
pub use popularity::{Popularity, ZipfFit};

use crate::{Flags, Trace};

/// Statistics of a trace.
#[derive(Clone, Debug)]
pub struct Stats {
    pub requests: u64,
    /// The number of distinct objects: the footprint.
    pub objects: u32,
    /// The share of requests that are the first of their object, which no cache can hit.
    pub compulsory_miss_ratio: f64,
    pub popularity: Popularity,
    /// Reuse times: the number of requests from one for an object to the next for the same object. The
    /// request after the first has reuse time 1. First requests have no reuse time.
    pub reuse_time: Histogram,
    /// Reuse distances: the number of distinct objects from one request for an object to the next for the
    /// same object, itself included. An LRU cache of at least that many objects hits. First requests have
    /// no reuse distance.
    pub reuse_distance: Histogram,
    /// The exact number of requests with each reuse distance.
    pub distances: Vec<u64>,
    /// Requests by their flags. None where the format has no flags.
    pub kinds: Option<Kinds>,
}

/// The number of requests with each flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    pub writes: u64,
    pub anon: u64,
    pub mapped: u64,
    pub exec: u64,
}

impl Stats {
    /// Measures a trace in one pass. `progress` is called with the number of requests done so far. Memory:
    /// 29 bytes an object.
    pub fn of(trace: &Trace, mut progress: impl FnMut(u64)) -> Stats {
        let objects = trace.objects as usize;
        let mut counts = vec![0u32; objects];
        let mut last = vec![0u32; objects];
        let mut stack = StackDistance::new(trace.objects);
        let mut distances = vec![0u64; objects + 1];
        let (mut time, mut distance) = (Histogram::default(), Histogram::default());
        for (chunk, ids) in trace.ids.chunks(1 << 16).enumerate() {
            progress((chunk as u64) << 16);
            for (at, &id) in ((chunk as u64) << 16..).zip(ids) {
                let at = at as u32;
                let count = &mut counts[id as usize];
                *count = count.saturating_add(1);
                // Times wrap after 2^32 requests, so a later reuse counts as an early one.
                let before = std::mem::replace(&mut last[id as usize], at);
                if let Some(d) = stack.access(id) {
                    time.add(u64::from(at.wrapping_sub(before)));
                    distance.add(u64::from(d));
                    distances[d as usize] += 1;
                }
            }
        }
        let requests = trace.ids.len() as u64;
        Stats {
            requests,
            objects: trace.objects,
            compulsory_miss_ratio: trace.compulsory_miss_ratio(),
            popularity: Popularity::of(counts, requests),
            reuse_time: time,
            reuse_distance: distance,
            distances,
            kinds: trace.flags.as_deref().map(kinds),
        }
    }

    /// The exact number of misses of an LRU cache that holds `objects` objects.
    pub fn lru_misses(&self, objects: usize) -> u64 {
        let hits = self.distances.iter().take(objects.saturating_add(1));
        self.requests - hits.sum::<u64>()
    }

    /// [`Stats::lru_misses`] divided by requests; 0 without any request.
    pub fn lru_miss_ratio(&self, objects: usize) -> f64 {
        match self.requests {
            0 => 0.0,
            n => self.lru_misses(objects) as f64 / n as f64,
        }
    }
}

fn kinds(flags: &[Flags]) -> Kinds {
    let count = |flag| flags.iter().filter(|f| f.has(flag)).count() as u64;
    Kinds {
        writes: count(Flags::WRITE),
        anon: count(Flags::ANON),
        mapped: count(Flags::MAPPED),
        exec: count(Flags::EXEC),
    }
}
