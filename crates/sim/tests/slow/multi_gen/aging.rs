//! The begin and the end of generations.
use super::lruvec::{Lruvec, ANON, FILE};

impl Lruvec {
    /// 6.12 ages with two generations, or with three that are badly spread.
    pub(super) fn should_age(&self) -> bool {
        let kinds = self.kinds();
        let oldest = self.min_seq[*kinds.start()];
        let of = |seq: u64| {
            kinds
                .clone()
                .map(|kind| self.in_generation(kind, seq))
                .sum::<u64>()
        };
        match self.max_seq - oldest {
            0 | 1 => true,
            2 => {
                // Generations of a type that the first type has ended already do not count.
                let all = self.evictable();
                let old = kinds
                    .clone()
                    .filter(|&kind| self.min_seq[kind] <= self.max_seq - 2);
                let old: u64 = old
                    .map(|kind| self.in_generation(kind, self.max_seq - 2))
                    .sum();
                of(self.max_seq) * 2 > all || old * 4 < all
            }
            _ => false,
        }
    }

    pub(super) fn age(&mut self) {
        self.counted.add("generations_begun", 1);
        let (max_seq, new) = (self.max_seq, self.world.new);
        for page in self.pages.values_mut().filter(|page| page.young) {
            page.young = false;
            let used = page.referenced || page.workingset;
            page.refs = 0;
            if new && !used && !(page.exec && page.file) {
                page.referenced = true;
                continue;
            }
            page.referenced = false;
            page.workingset = new;
            page.seq = max_seq;
        }
        for kind in [FILE, ANON] {
            if self.generations(kind) == self.world.generations {
                let oldest = self.min_seq[kind];
                for id in std::mem::take(self.list(kind, oldest)) {
                    let seq = self.protect(id, oldest);
                    self.list(kind, seq).insert(0, id);
                }
                self.next_min_seq(kind, oldest + 1);
            }
        }
        self.max_seq += 1;
    }

    /// Moves a page of the oldest generation up by one, or to the generation of its flags if that is younger.
    /// Returns the new generation.
    pub(super) fn protect(&mut self, id: u32, oldest: u64) -> u64 {
        let page = self.page(id);
        if page.seq == oldest {
            page.seq += 1;
            page.refs = 0;
            page.referenced = false;
            page.workingset = false;
        }
        page.seq
    }

    /// Ends empty generations.
    pub(super) fn try_to_inc_min_seq(&mut self) -> bool {
        let before = self.min_seq;
        let mut after = before;
        for kind in self.kinds() {
            while self.max_seq - after[kind] >= 2 && self.list(kind, after[kind]).is_empty() {
                after[kind] += 1;
            }
        }
        if *self.kinds().start() == ANON {
            if self.world.new {
                let last = self.max_seq - 2;
                if after[ANON] > last && after[FILE] < last {
                    after[ANON] = last;
                } else if after[FILE] > last && after[ANON] < last {
                    after[FILE] = last;
                }
            } else {
                after[ANON] = after[ANON].min(after[FILE]);
                after[FILE] = after[ANON].max(before[FILE]);
            }
        }
        let mut moved = false;
        for kind in self.kinds() {
            if after[kind] > before[kind] {
                self.next_min_seq(kind, after[kind]);
                moved = true;
            }
        }
        moved
    }
}
