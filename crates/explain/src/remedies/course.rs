//! The waiting over time, and the growth that led to it.
use crate::episode::{counts, LEAST_LOST_S};
use crate::growth::{Taker, Who};
use crate::points::Point;
use crate::verdict::Kind;
use crate::Story;

/// What hotsetd's policy asked for over the record's whole samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ahead {
    /// Samples that it decided on.
    pub samples: u64,
    /// Bytes that it asked to be reclaimed, until the episode's end.
    pub bytes: u64,
    /// When it first foretold the shortage, seconds since 1970.
    pub foretold_s: Option<f64>,
}

/// The episode over time.
pub struct Course<'a> {
    pub story: &'a Story,
    /// Seconds that count: in which everything stood still, or where that is next to nothing, something.
    pub was_s: f64,
    /// The latter.
    pub of_some: bool,
}

/// A growth that ended in the episode.
pub struct Growing<'a> {
    pub taker: &'a Taker,
    /// Bytes a second.
    pub rate: f64,
    /// It went on until a kill: whether it would have stopped is not known.
    pub until_killed: bool,
}

/// Pages of processes that end come back at least so fast: 2 us a page, on the slowest machines here. Bytes a second.
const FREED_PER_S: f64 = 2e9;
/// Programs are counted every two seconds while tasks wait: a peak is known as exactly. Two counts.
const COUNTED_S: f64 = 4.0;
/// Swap is full from this share on; the kernel keeps some slots back.
const FULL_SWAP: f64 = 0.02;

impl<'a> Course<'a> {
    #[must_use]
    pub fn new(story: &'a Story) -> Course<'a> {
        let mut course = Course {
            story,
            was_s: 0.0,
            of_some: false,
        };
        course.was_s = course.lost_until(f64::INFINITY);
        if course.was_s < LEAST_LOST_S {
            course.of_some = true;
            course.was_s = course.lost_until(f64::INFINITY);
        }
        course
    }

    /// Points from the calm to the end, by time.
    pub fn points(&self) -> impl Iterator<Item = &'a Point> {
        let (from_s, to_s) = (self.story.growth.calm_s, self.story.episode.end_s);
        let all = self.story.points.iter();
        all.filter(move |point| (from_s..=to_s).contains(&point.unix_s) && point.dt_s > 0.0)
    }

    /// Points of the episode in which tasks waited.
    pub fn waiting(&self) -> impl Iterator<Item = &'a Point> {
        let begin_s = self.story.episode.begin_s;
        self.points()
            .filter(move |point| point.unix_s > begin_s && counts(point))
    }

    /// Seconds that a point lost.
    #[must_use]
    pub fn lost(&self, point: &Point) -> f64 {
        let share = if self.of_some { point.some } else { point.full };
        share * point.dt_s
    }

    /// Seconds lost before a time, even within a point.
    #[must_use]
    pub fn lost_until(&self, at_s: f64) -> f64 {
        let part = |point: &Point| {
            let inside = (at_s - (point.unix_s - point.dt_s)) / point.dt_s;
            self.lost(point) * inside.clamp(0.0, 1.0)
        };
        self.waiting().map(part).sum()
    }

    /// Seconds lost in points of a kind.
    #[must_use]
    pub fn lost_where(&self, of: impl Fn(&Point) -> bool) -> f64 {
        let these = self.waiting().filter(|point| of(point));
        these.map(|point| self.lost(point)).sum()
    }

    /// The first point of a kind.
    #[must_use]
    pub fn first(&self, of: impl Fn(&Point) -> bool) -> Option<&'a Point> {
        self.points().find(|point| of(point))
    }

    /// The last kill of the episode, seconds since 1970.
    #[must_use]
    pub fn kill_s(&self) -> Option<f64> {
        let killed = self.waiting().filter(|point| point.kills > 0);
        killed.last().map(|point| point.unix_s)
    }

    /// The growth of the culprit. `None`: nobody grew.
    #[must_use]
    pub fn growing(&self) -> Option<Growing<'a>> {
        let verdict = &self.story.verdict;
        let of_growth = matches!(
            verdict.kind,
            Kind::Program | Kind::Crowd | Kind::SharedFiles | Kind::Kernel
        );
        let taker = verdict.culprit.as_ref().filter(|_| of_growth)?;
        let last_s = self.kill_s();
        Some(Growing {
            taker,
            // While all wait a program grows slowly: what was left fell at its rate before.
            rate: self.falls(taker.since_s).max(taker.rate()).max(1.0),
            until_killed: last_s.is_some_and(|kill_s| taker.peak_s + COUNTED_S >= kill_s),
        })
    }

    /// Whether the culprit was killed and started again, so that one kill more may spare nothing.
    #[must_use]
    pub fn comes_back(&self) -> bool {
        let culprit = self.story.verdict.culprit.as_ref();
        let started_again =
            culprit.is_some_and(|taker| matches!(taker.who, Who::Program { seen, .. } if seen > 1));
        started_again && self.story.episode.kills > 1
    }

    /// How fast what was left fell from a time to the beginning of the episode, bytes a second; 0 in less than a second.
    fn falls(&self, from_s: f64) -> f64 {
        let begin_s = self.story.episode.begin_s;
        let before = || {
            self.points()
                .filter(|point| (from_s..=begin_s).contains(&point.unix_s))
        };
        let (Some(first), Some(last)) = (before().next(), before().last()) else {
            return 0.0;
        };
        let took_s = last.unix_s - first.unix_s;
        match took_s >= 1.0 {
            true => (first.memory.left() as f64 - last.memory.left() as f64) / took_s,
            false => 0.0,
        }
    }

    /// Seconds lost at most, where a program of so many bytes is ended at a time: until its memory is back. Then, as
    /// after the record's own kill, until what was evicted has been read again. All of it, where it starts again.
    #[must_use]
    pub fn lost_when_ended(&self, at_s: f64, bytes: u64) -> f64 {
        let before_s = self.lost_until(at_s + bytes as f64 / FREED_PER_S);
        let after_s = self
            .kill_s()
            .map_or(0.0, |kill_s| self.was_s - self.lost_until(kill_s));
        match before_s > 0.0 {
            true if self.comes_back() => self.was_s,
            true => (before_s + after_s).min(self.was_s),
            false => 0.0,
        }
    }

    /// Bytes of the culprit at its peak; 0 where there is none.
    #[must_use]
    pub fn culprit_bytes(&self) -> u64 {
        self.story.verdict.culprit.as_ref().map_or(0, |one| one.has)
    }

    /// Bytes available in the calm, without swap.
    #[must_use]
    pub fn calm_available(&self) -> u64 {
        let calm_s = self.story.growth.calm_s;
        let calm = self
            .story
            .points
            .iter()
            .find(|point| point.unix_s >= calm_s);
        calm.map_or(0, |point| point.memory.available)
    }

    /// Bytes of memory.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.story.verdict.in_it.total
    }

    /// Bytes that were missing at most: what was in swap, and evicted pages that the kernel remembers. `None`: pages
    /// were read again and none is remembered, or nothing is known.
    #[must_use]
    pub fn missing(&self) -> Option<u64> {
        let most = |of: fn(&Point) -> u64| self.points().map(of).max();
        let shadows = most(|point| point.memory.shadows)?;
        let swapped =
            most(|point| point.memory.swap - point.memory.swap_free.min(point.memory.swap))?;
        let in_it = &self.story.verdict.in_it;
        match shadows + swapped {
            0 => None,
            _ if shadows == 0 && in_it.refault_file > 0.0 => None,
            missing => Some(missing),
        }
    }

    /// Whether a point has no swap, or none that is free.
    #[must_use]
    pub fn swap_is_full(point: &Point) -> bool {
        let memory = &point.memory;
        memory.swap_free as f64 <= FULL_SWAP * memory.swap as f64
    }

    /// "everything stood still" or "something waited".
    #[must_use]
    pub fn measure(&self) -> &'static str {
        match self.of_some {
            true => "something waited",
            false => "everything stood still",
        }
    }
}
