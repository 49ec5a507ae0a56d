//! The smallest memory budget in which a trace has a sample.
use std::collections::HashMap;

/// Fewest objects of a sample. Fewer say nothing about a cache of any size.
pub const LEAST: usize = 10;

/// Follows the smallest sample of [`LEAST`] objects through a trace, and keeps counts alone.
pub struct Smallest {
    /// Bytes of a request and of an object.
    each: (u64, u64),
    one_in: u64,
    /// Requests of each object of the sample.
    counts: HashMap<u64, u64>,
    requests: u64,
    most: u64,
}

impl Smallest {
    /// Starts with a sample of one object in `one_in`. `names` are of its objects, and `ids` index them.
    pub fn new(each: (u64, u64), one_in: u64, names: &[u64], ids: &[u32]) -> Smallest {
        let mut smallest = Smallest {
            each,
            one_in,
            counts: HashMap::new(),
            requests: 0,
            most: 0,
        };
        smallest.take(ids.iter().map(|&id| names[id as usize]));
        smallest
    }

    /// Takes requests of the trace.
    pub fn take(&mut self, names: impl Iterator<Item = u64>) {
        for name in names {
            if random::mix(name).is_multiple_of(self.one_in) {
                *self.counts.entry(name).or_default() += 1;
                self.requests += 1;
            }
        }
        while self.counts.keys().filter(|&&name| self.stays(name)).count() >= LEAST {
            let stays = self.one_in * 2;
            self.counts
                .retain(|&name, _| random::mix(name).is_multiple_of(stays));
            self.requests = self.counts.values().sum();
            self.one_in = stays;
        }
        let (request, object) = self.each;
        let bytes = self.requests * request + self.counts.len() as u64 * object;
        self.most = self.most.max(bytes);
    }

    /// Whether an object stays when half of them go.
    fn stays(&self, name: u64) -> bool {
        random::mix(name).is_multiple_of(self.one_in * 2)
    }

    /// Bytes in which the sample always fitted: a sampler with this budget never has to go below it.
    pub fn bytes(&self) -> u64 {
        self.most
    }
}
