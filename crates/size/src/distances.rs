//! How far away a page was when it came back.
use crate::away::Away;
use crate::event::Event;

/// The misses of a recording.
#[derive(Clone, Debug)]
pub struct Distances {
    /// Every so many pages of a file are followed: a power of two.
    every: u64,
    away: Away<Page>,
    /// Pages of programs in swap.
    in_swap: u64,
    evicted: u64,
    came: u64,
    misses: Vec<Miss>,
    refaults: Vec<(f64, u64)>,
}

type Page = ((u32, u32), u64, u64);

/// A page that came back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Miss {
    /// Seconds since the recording began.
    pub at_s: f64,
    /// Pages that left after it, and were away still.
    pub distance: u64,
}

impl Distances {
    /// `every`: each so many-th page of a file is followed. A power of two.
    #[must_use]
    pub fn new(every: u64) -> Distances {
        Distances {
            every: every.next_power_of_two(),
            away: Away::new(),
            in_swap: 0,
            evicted: 0,
            came: 0,
            misses: Vec::new(),
            refaults: Vec::new(),
        }
    }

    /// Takes an event. The followed pages of a folio are those whose number is a multiple.
    pub fn event(&mut self, at_s: f64, event: &Event) {
        let first = event.first.next_multiple_of(self.every);
        let followed = (first..event.first + event.pages).step_by(self.every as usize);
        for page in followed {
            let page = (event.device, event.inode, page);
            if event.gone {
                self.evicted += self.every;
                self.away.leave(page, self.every);
                continue;
            }
            self.came += self.every;
            if let Some(distance) = self.away.back(&page) {
                self.misses.push(Miss { at_s, distance });
            }
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
        self.every
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
