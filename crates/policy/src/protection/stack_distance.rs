//! The hot parts of files: the working set among the file pages, found from the reads of a program.
//!
//! A part is hot if its stack distance fits into memory: the number of other parts that were read since
//! it was read last. An LRU cache would have kept it. See Mattson et al., "Evaluation techniques for
//! storage hierarchies", IBM Systems Journal 9 (1970). The kernel's refault distance estimates the same
//! (mm/workingset.c). A stream comes back after more than memory holds, so no part of it is ever hot.
use std::collections::HashMap;

/// Bytes of a part. A budget of a few MiB holds several parts, and the history remembers few.
pub const PART: u64 = 1 << 20;

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Part {
    /// The file system's device number, as the kernel splits it: major and minor.
    pub device: (u32, u32),
    pub inode: u64,
    /// Index of the part in the file, from 0.
    pub at: u64,
}

/// The past of one part.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// The moment of the last read.
    moment: usize,
    /// Seconds of the caller's clock when the part was read last.
    at_s: f64,
    /// Reuses in a row whose stack distance fitted into memory.
    reuses: u32,
    /// Seconds from one reuse to the next: a mean in which the latest counts half.
    interval_s: f64,
}

/// Reads of a part within so many seconds are one reading.
const SAME_S: f64 = 0.25;
/// A part is hot from so many reuses on.
const HOT: u32 = 2;
/// A part that is not read for so many seconds is hot no more.
const COLD_S: f64 = 60.0;
/// A part that is held is given up for one that is read so many times as often.
const BETTER: f64 = 1.5;
/// So many parts are remembered at most: those of 128 GiB, in some 16 MiB. A working set is at most half.
const MOST: usize = 1 << 17;

/// Moments before they are moved together the first time.
const LEAST_ROOM: usize = 1024;

/// Remembers which parts were read, and when.
#[derive(Clone, Debug)]
pub struct ReadHistory {
    seen: HashMap<Part, Seen>,
    /// The number of parts that memory holds.
    memory: usize,
    moments: Moments,
    last: Option<Part>,
}

/// The moments at which parts were read last: a Fenwick tree (Fenwick, "A new data structure for cumulative
/// frequency tables", 1994). So a distance takes the logarithm of the number of parts.
#[derive(Clone, Debug, Default)]
struct Moments {
    /// The first element is unused.
    tree: Vec<u32>,
    next: usize,
    taken: usize,
}

impl Moments {
    /// The first `taken` of `room` moments are taken.
    fn new(taken: usize, room: usize) -> Moments {
        let mut tree = vec![0; room + 1];
        for at in 1..=room {
            tree[at] += u32::from(at <= taken);
            let above = at + (at & at.wrapping_neg());
            if above <= room {
                tree[above] += tree[at];
            }
        }
        Moments {
            tree,
            next: taken,
            taken,
        }
    }

    fn is_full(&self) -> bool {
        self.next + 1 >= self.tree.len()
    }

    fn take(&mut self) -> usize {
        self.next += 1;
        self.taken += 1;
        self.change(self.next, 1);
        self.next
    }

    fn release(&mut self, moment: usize) {
        self.taken -= 1;
        // Adds -1.
        self.change(moment, u32::MAX);
    }

    fn change(&mut self, mut at: usize, by: u32) {
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// How many moments after `at` are taken.
    fn after(&self, mut at: usize) -> usize {
        let mut until = 0;
        while at > 0 {
            until += self.tree[at] as usize;
            at &= at - 1;
        }
        self.taken - until
    }
}

impl ReadHistory {
    /// A history for a machine with `memory` bytes.
    #[must_use]
    pub fn new(memory: u64) -> ReadHistory {
        let memory = usize::try_from(memory / PART).unwrap_or(MOST);
        ReadHistory {
            seen: HashMap::new(),
            memory: memory.clamp(1, MOST / 2),
            moments: Moments::default(),
            last: None,
        }
    }

    /// Takes the read of a part at `now_s`, seconds of a monotonic clock.
    pub fn read(&mut self, part: Part, now_s: f64) {
        if self.last.replace(part) == Some(part) {
            return;
        }
        if self.moments.is_full() {
            self.move_together();
        }
        let Some(before) = self.seen.get(&part).copied() else {
            let fresh = Seen {
                moment: self.moments.take(),
                at_s: now_s,
                reuses: 0,
                interval_s: 0.0,
            };
            self.seen.insert(part, fresh);
            return;
        };
        let between = self.moments.after(before.moment);
        self.moments.release(before.moment);
        let mut seen = Seen {
            moment: self.moments.take(),
            ..before
        };
        let interval_s = now_s - before.at_s;
        if interval_s >= SAME_S {
            let soon = between <= self.memory;
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

    /// Moves the moments that are taken together, and leaves as much room again. Where more than half of [`MOST`]
    /// parts are remembered, forgets those that were read longest ago.
    fn move_together(&mut self) {
        let mut all: Vec<&mut Seen> = self.seen.values_mut().collect();
        all.sort_unstable_by_key(|seen| seen.moment);
        let forgotten = all.len().saturating_sub(MOST / 2);
        for (at, seen) in all.iter_mut().enumerate() {
            // Moments begin at 1.
            seen.moment = (at + 1).saturating_sub(forgotten);
        }
        self.seen.retain(|_, seen| seen.moment > 0);
        let taken = self.seen.len();
        self.moments = Moments::new(taken, (2 * taken).max(LEAST_ROOM));
    }

    /// The `parts` hottest parts, the hottest first. `held`: whether a part is held already, so that it
    /// is not given up for a slightly hotter one.
    #[must_use]
    pub fn hottest(&self, now_s: f64, parts: usize, held: impl Fn(&Part) -> bool) -> Vec<Part> {
        let mut hot: Vec<(f64, Part)> = self
            .seen
            .iter()
            .filter(|(_, seen)| seen.reuses >= HOT && now_s - seen.at_s < COLD_S)
            .map(|(part, seen)| {
                // A part that is overdue cools down.
                let often = 1.0 / seen.interval_s.max(now_s - seen.at_s);
                (often * if held(part) { BETTER } else { 1.0 }, *part)
            })
            .collect();
        // Parts of one file stay in their order: a file that does not fit is held from its beginning.
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

    /// Each second a file of 20 parts is read, and the next 40 parts of a file of `length` parts.
    fn beside_a_stream(length: u64, seconds: u64) -> ReadHistory {
        let mut history = ReadHistory::new(100 * MB);
        for second in 0..seconds {
            let now_s = second as f64;
            (0..20).for_each(|at| history.read(part(1, at), now_s));
            (0..40).for_each(|at| history.read(part(2, (second * 40 + at) % length), now_s + 0.5));
        }
        history
    }

    #[test]
    fn a_file_that_is_read_again_is_hot_and_a_stream_is_not() {
        let history = beside_a_stream(200, 30);
        let hot = history.hottest(30.0, 1000, |_| false);
        assert_eq!(hot, (0..20).map(|at| part(1, at)).collect::<Vec<_>>());
    }

    #[test]
    fn a_loop_that_fits_into_memory_is_hot_after_the_smaller_file() {
        let history = beside_a_stream(80, 30);
        let hot = history.hottest(29.9, 1000, |_| false);
        assert_eq!(hot.len(), 100);
        assert!(hot[..20].iter().all(|part| part.inode == 1));
    }

    #[test]
    fn many_small_reads_of_one_reading_are_no_reuse() {
        let mut history = ReadHistory::new(100 * MB);
        for turn in 0..100 {
            history.read(part(1, turn % 2), 10.0 + turn as f64 * 1e-3);
        }
        assert!(history.hottest(10.1, 10, |_| false).is_empty());
    }

    #[test]
    fn a_part_is_cold_a_minute_after_its_last_read() {
        let history = beside_a_stream(200, 4);
        assert_eq!(history.hottest(4.0, 100, |_| false).len(), 20);
        assert_eq!(history.hottest(COLD_S, 100, |_| true).len(), 20);
        assert!(history.hottest(3.0 + COLD_S, 100, |_| true).is_empty());
    }

    #[test]
    fn a_new_working_set_takes_the_place_of_an_old_one() {
        let mut history = beside_a_stream(200, 20);
        for second in 20..24 {
            (0..20).for_each(|at| history.read(part(3, at), second as f64));
        }
        let held = |part: &Part| part.inode == 1;
        let hot = history.hottest(24.0, 20, held);
        assert!(hot.iter().all(|part| part.inode == 3), "{hot:?}");
        // Where both files are read as often, the one that is held stays.
        for second in 24..28 {
            (0..20).for_each(|at| history.read(part(1, at), second as f64));
            (0..20).for_each(|at| history.read(part(3, at), second as f64 + 0.5));
        }
        let hot = history.hottest(28.0, 20, held);
        assert!(hot.iter().all(|part| part.inode == 1), "{hot:?}");
    }

    #[test]
    fn the_history_is_bounded_and_keeps_the_latest_reads() {
        let mut history = ReadHistory::new(1 << 40);
        for at in 0..3 * MOST as u64 {
            history.read(part(1, at), 1.0);
        }
        assert!(history.seen.len() <= MOST);
        // The last read is still known.
        assert!(history.seen.contains_key(&part(1, 3 * MOST as u64 - 1)));
    }

    /// The distances by the tree are those that are counted one by one.
    #[test]
    fn distances_are_exact_while_moments_are_moved_together() {
        let mut history = ReadHistory::new(50 * MB);
        let mut order: Vec<u64> = Vec::new();
        let mut state = 1u64;
        for turn in 0..20_000u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = (state >> 33) % 100;
            let seen = history.seen.get(&part(1, at)).map(|seen| seen.moment);
            let distance = seen.map(|moment| history.moments.after(moment));
            let place = order.iter().rev().position(|&it| it == at);
            assert_eq!(distance, place, "turn {turn}");
            history.read(part(1, at), turn as f64);
            order.retain(|&it| it != at);
            order.push(at);
        }
    }
}
