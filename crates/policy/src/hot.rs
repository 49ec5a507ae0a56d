//! Which parts of files are read again and again: the working set among the file pages, found from
//! reads that were seen.
//!
//! A part that is read again is hot if what else was read between fits into memory: a cache that
//! evicts the least recently used would have kept it. This is the stack distance of Mattson et al.,
//! "Evaluation techniques for storage hierarchies", IBM Systems Journal 9 (1970), and what the
//! kernel's refault distance estimates (mm/workingset.c). Of a stream, which comes back after more
//! than memory holds, nothing is ever hot.
use std::collections::HashMap;

/// Bytes of a part: small enough for a budget of a few, large enough that few are to be remembered.
pub const PART: u64 = 1 << 20;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part {
    /// The file system's device number, as the kernel splits it: major and minor.
    pub device: (u32, u32),
    pub inode: u64,
    /// Which of the file's parts, from 0.
    pub at: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Reads so far when it was read last.
    clock: u64,
    at_s: f64,
    /// How often in a row it came back soon enough, and after how many seconds, on average, the
    /// latest counting half.
    reuses: u32,
    interval_s: f64,
}

/// Read again so soon it is the same reading.
const SAME_S: f64 = 0.25;
/// Hot from so many reuses on.
const HOT: u32 = 2;
/// Not read for so long it is hot no more.
const COLD_S: f64 = 60.0;
/// What is held is given up for something that is read so many times as often.
const BETTER: f64 = 1.5;
/// Parts that are remembered at most.
const MOST: usize = 16_384;

/// Remembers what was read.
#[derive(Clone, Debug)]
pub struct Heat {
    seen: HashMap<Part, Seen>,
    /// Parts that memory holds.
    memory: usize,
    clock: u64,
    last: Option<Part>,
}

impl Heat {
    /// `memory`: bytes of it.
    #[must_use]
    pub fn new(memory: u64) -> Heat {
        let memory = usize::try_from(memory / PART).unwrap_or(MOST);
        Heat {
            seen: HashMap::new(),
            memory: memory.clamp(1, MOST / 2),
            clock: 0,
            last: None,
        }
    }

    /// `part` was read.
    pub fn read(&mut self, part: Part, now_s: f64) {
        if self.last.replace(part) == Some(part) {
            return;
        }
        self.clock += 1;
        let (clock, memory) = (self.clock, self.memory);
        let Some(before) = self.seen.get(&part).copied() else {
            if self.seen.len() >= MOST {
                self.forget();
            }
            let fresh = Seen {
                clock,
                at_s: now_s,
                reuses: 0,
                interval_s: 0.0,
            };
            self.seen.insert(part, fresh);
            return;
        };
        let mut seen = Seen { clock, ..before };
        let interval_s = now_s - before.at_s;
        if interval_s >= SAME_S {
            let between = self.seen.values().filter(|it| it.clock > before.clock);
            let soon = between.count() <= memory;
            seen.at_s = now_s;
            seen.interval_s = match before.reuses {
                0 => interval_s,
                _ => (before.interval_s + interval_s) / 2.0,
            };
            seen.reuses = if soon {
                before.reuses.saturating_add(1)
            } else {
                0
            };
        }
        self.seen.insert(part, seen);
    }

    /// The half that was not read for longest is forgotten.
    fn forget(&mut self) {
        let mut clocks: Vec<u64> = self.seen.values().map(|seen| seen.clock).collect();
        let middle = clocks.len() / 2;
        let (_, &mut median, _) = clocks.select_nth_unstable(middle);
        self.seen.retain(|_, seen| seen.clock > median);
    }

    /// What should be held, the hottest first, as long as there is room for `parts`; `held` tells
    /// what is held already, which is not given up for a little.
    #[must_use]
    pub fn hottest(&self, now_s: f64, parts: usize, held: impl Fn(&Part) -> bool) -> Vec<Part> {
        let mut hot: Vec<(f64, Part)> = self
            .seen
            .iter()
            .filter(|(_, seen)| seen.reuses >= HOT && now_s - seen.at_s < COLD_S)
            .map(|(part, seen)| {
                // What was not read for longer than it used to be is on its way out.
                let often = 1.0 / seen.interval_s.max(now_s - seen.at_s);
                (often * if held(part) { BETTER } else { 1.0 }, *part)
            })
            .collect();
        // Parts of one file in their order: one that does not fit is held from its begin.
        hot.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        hot.truncate(parts);
        hot.into_iter().map(|(_, part)| part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(inode: u64, at: u64) -> Part {
        Part {
            device: (8, 1),
            inode,
            at,
        }
    }

    const MB: u64 = 1 << 20;

    /// Each second a file of 20 parts is read, and 40 parts of another, a longer one, in turn.
    fn beside_a_stream(length: u64, seconds: u64) -> Heat {
        let mut heat = Heat::new(100 * MB);
        for second in 0..seconds {
            let now_s = second as f64;
            (0..20).for_each(|at| heat.read(part(1, at), now_s));
            (0..40).for_each(|at| heat.read(part(2, (second * 40 + at) % length), now_s + 0.5));
        }
        heat
    }

    #[test]
    fn what_is_read_again_is_hot_and_a_stream_is_not() {
        let heat = beside_a_stream(200, 30);
        let hot = heat.hottest(30.0, 1000, |_| false);
        assert_eq!(hot, (0..20).map(|at| part(1, at)).collect::<Vec<_>>());
    }

    #[test]
    fn a_loop_that_fits_is_hot_too_but_less_so() {
        let heat = beside_a_stream(80, 30);
        let hot = heat.hottest(29.9, 1000, |_| false);
        assert_eq!(hot.len(), 100);
        assert!(hot[..20].iter().all(|part| part.inode == 1));
    }

    #[test]
    fn one_reading_is_no_reuse_however_small_its_reads() {
        let mut heat = Heat::new(100 * MB);
        for turn in 0..100 {
            heat.read(part(1, turn % 2), 10.0 + turn as f64 * 1e-3);
        }
        assert!(heat.hottest(10.1, 10, |_| false).is_empty());
    }

    #[test]
    fn it_cools_down() {
        let heat = beside_a_stream(200, 4);
        assert_eq!(heat.hottest(4.0, 100, |_| false).len(), 20);
        assert_eq!(heat.hottest(COLD_S, 100, |_| true).len(), 20);
        assert!(heat.hottest(3.0 + COLD_S, 100, |_| true).is_empty());
    }

    #[test]
    fn a_new_working_set_takes_the_place_of_an_old_one() {
        let mut heat = beside_a_stream(200, 20);
        for second in 20..24 {
            (0..20).for_each(|at| heat.read(part(3, at), second as f64));
        }
        let held = |part: &Part| part.inode == 1;
        let hot = heat.hottest(24.0, 20, held);
        assert!(hot.iter().all(|part| part.inode == 3), "{hot:?}");
        // Where both are read as often, what is held stays.
        for second in 24..28 {
            (0..20).for_each(|at| heat.read(part(1, at), second as f64));
            (0..20).for_each(|at| heat.read(part(3, at), second as f64 + 0.5));
        }
        let hot = heat.hottest(28.0, 20, held);
        assert!(hot.iter().all(|part| part.inode == 1), "{hot:?}");
    }

    #[test]
    fn it_forgets_rather_than_grow() {
        let mut heat = Heat::new(1 << 40);
        for at in 0..3 * MOST as u64 {
            heat.read(part(1, at), 1.0);
        }
        assert!(heat.seen.len() <= MOST);
        // What was read last is known still.
        assert!(heat.seen.contains_key(&part(1, 3 * MOST as u64 - 1)));
    }
}
