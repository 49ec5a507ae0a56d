//! What a trace is like: how often its objects are asked for, and how soon again.
mod distance;
mod histogram;
mod popularity;

pub use distance::StackDistance;
pub use histogram::Histogram;
pub use popularity::{Popularity, ZipfFit};

use crate::{Flags, Trace};

/// What [`Stats::of`] found.
#[derive(Clone, Debug)]
pub struct Stats {
    pub requests: u64,
    /// Distinct objects: the footprint.
    pub objects: u32,
    /// First requests of an object, of all: what no cache can hit.
    pub compulsory_miss_ratio: f64,
    pub popularity: Popularity,
    /// Requests from one for an object to the next for it; 1 is at once. First requests have none.
    pub reuse_time: Histogram,
    /// Distinct objects from one request for an object to the next for it, itself included: an LRU
    /// cache of that many objects, or more, hits. First requests have none.
    pub reuse_distance: Histogram,
    /// How many requests have each reuse distance, exactly.
    pub distances: Vec<u64>,
    /// Of what the format tells: none where it tells nothing.
    pub kinds: Option<Kinds>,
}

/// Requests by what the format tells of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    pub writes: u64,
    pub anon: u64,
    pub mapped: u64,
    pub exec: u64,
}

impl Stats {
    /// Goes through a trace once; `progress` is told how many requests are done, now and then.
    /// Memory: 29 bytes an object.
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
                // Times wrap after 2^32 requests; a reuse as late as that counts as an early one.
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

    /// Of an LRU cache that holds this many objects, exactly.
    pub fn lru_misses(&self, objects: usize) -> u64 {
        let hits = self.distances.iter().take(objects.saturating_add(1));
        self.requests - hits.sum::<u64>()
    }

    /// [`Stats::lru_misses`] of all requests; 0 without any.
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
