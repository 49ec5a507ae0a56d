//! How far away a page was when it came back.
use crate::away::Away;
use crate::event::Event;
use crate::sample::Sample;
use std::collections::HashSet;

/// The misses of a recording.
#[derive(Clone, Debug)]
pub struct Distances {
    sample: Sample,
    away: Away<Page>,
    /// Pages in memory that came for the cgroup's tasks, where one is watched.
    owned: HashSet<Page>,
    /// Pages of programs in swap.
    in_swap: u64,
    evicted: u64,
    came: u64,
    misses: Vec<Miss>,
    refaults: Vec<(f64, u64)>,
    /// Events are missing.
    gaps: bool,
}

type Page = ((u32, u32), u64, u64);

/// A page that came back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miss {
    /// Seconds since the recording began.
    pub at_s: f64,
    /// Pages that left after it, and were away still.
    pub distance: u64,
    /// Its neighbour in the order of leaving had come back just before.
    pub in_order: bool,
}

impl Distances {
    /// Of the pages that are followed. Events of others may come, and do not count.
    #[must_use]
    pub fn new(sample: Sample) -> Distances {
        Distances {
            sample,
            away: Away::new(),
            owned: HashSet::new(),
            in_swap: 0,
            evicted: 0,
            came: 0,
            misses: Vec::new(),
            refaults: Vec::new(),
            gaps: false,
        }
    }

    /// Events are missing: that a page was not seen to leave no longer means that it left long ago.
    pub fn has_gaps(&mut self) {
        self.gaps = true;
    }

    /// Whether each event was seen.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.gaps
    }

    /// Takes an event.
    pub fn event(&mut self, at_s: f64, event: &Event) {
        for page in self.followed(event) {
            if event.gone {
                self.leaves(page);
            } else {
                self.comes(at_s, &page);
            }
        }
    }

    /// Takes an event where a cgroup's pages alone count: those that came for its own tasks. `ours` tells whether the
    /// event's task is one of them; it is asked for pages that come.
    pub fn event_of_group(&mut self, at_s: f64, event: &Event, ours: impl FnOnce() -> bool) {
        let mut pages = self.followed(event).peekable();
        if pages.peek().is_none() {
            return;
        }
        let ours = !event.gone && ours();
        for page in pages {
            match (event.gone, ours) {
                (true, _) => {
                    if self.owned.remove(&page) {
                        self.leaves(page);
                    }
                }
                (false, true) => {
                    self.comes(at_s, &page);
                    self.owned.insert(page);
                }
                // It is another cgroup's from now on, and takes none of this one's memory.
                (false, false) => {
                    self.away.back(&page);
                    self.owned.remove(&page);
                }
            }
        }
    }

    /// The followed pages of a folio.
    fn followed(&self, event: &Event) -> impl Iterator<Item = Page> {
        let (device, inode, sample) = (event.device, event.inode, self.sample);
        let numbers = event.first..event.first + event.pages;
        let followed = numbers.filter(move |page| sample.follows(inode, *page));
        followed.map(move |page| (device, inode, page))
    }

    fn leaves(&mut self, page: Page) {
        self.evicted += self.sample.every();
        self.away.leave(page, self.sample.every());
    }

    fn comes(&mut self, at_s: f64, page: &Page) {
        self.came += self.sample.every();
        if let Some(back) = self.away.back(page) {
            self.misses.push(Miss {
                at_s,
                distance: back.after,
                in_order: back.in_order,
            });
        }
    }

    /// The kernel's counters, since the recording began: pages of files that came back, and pages of programs that
    /// were swapped out, and that came back.
    pub fn counters(&mut self, at_s: f64, refaults: u64, out: u64, back: u64) {
        self.refaults.push((at_s, refaults));
        // Which pages of programs are away is not told: those that leave are taken to stay away.
        let in_swap = out.saturating_sub(back);
        self.away
            .leave_unnamed(in_swap.saturating_sub(self.in_swap));
        self.in_swap = self.in_swap.max(in_swap);
    }

    /// Pages that a miss stands for.
    #[must_use]
    pub fn every(&self) -> u64 {
        self.sample.every()
    }

    /// Pages of files that left, and that came.
    #[must_use]
    pub fn moved(&self) -> (u64, u64) {
        (self.evicted, self.came)
    }

    /// Pages that came back, by time.
    #[must_use]
    pub fn misses(&self) -> &[Miss] {
        &self.misses
    }

    /// Pages that came back by the kernel's count, since the recording began. By time.
    #[must_use]
    pub fn refaults(&self) -> &[(f64, u64)] {
        &self.refaults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(gone: bool, first: u64) -> Event {
        Event {
            gone,
            device: (8, 1),
            inode: 2,
            first,
            pages: 1,
        }
    }

    #[test]
    fn pages_of_other_cgroups_do_not_count() {
        let mut distances = Distances::new(Sample::new(1));
        let take = |distances: &mut Distances, gone: bool, page: u64, ours: bool| {
            distances.event_of_group(1.0, &event(gone, page), || ours);
        };
        // 1 and 2 are ours, 7 and 8 another's; 3 was there before.
        for (page, ours) in [(1, true), (7, false), (2, true), (8, false)] {
            take(&mut distances, false, page, ours);
        }
        for page in [1, 7, 3, 2, 8] {
            take(&mut distances, true, page, false);
        }
        assert_eq!(distances.moved(), (2, 2));
        take(&mut distances, false, 1, true);
        // 2 left after 1, and nothing else of ours.
        assert_eq!(distances.misses().last().map(|miss| miss.distance), Some(1));
        // Another reads 2: it is no longer away, and no miss of ours.
        take(&mut distances, false, 2, false);
        take(&mut distances, true, 1, false);
        take(&mut distances, false, 1, true);
        let found: Vec<u64> = { distances.misses().iter() }
            .map(|miss| miss.distance)
            .collect();
        assert_eq!(found, [1, 0]);
    }
}
