//! A clean floor by trying: a **sweep** of floors from the most to the least, each by half, in rounds
//! from which the worse ones drop out; then in the same way half a step further down from the lowest
//! that is as good as the best. Then a **proof**: what falls out slowly is missed only after a while, so
//! a floor that turns out worse than it seemed is left for the next one up. Held until stalls are others.
//!
//! Rounds, because one look of some seconds at a floor is off by a third or more: a mean of three tells
//! floors apart that one does not, and what changes meanwhile falls on all of them alike. The first
//! goes down, not up: files that fall out are missed at once, but those that are to come in must be
//! read first. The second goes up, so that what a floor inherits from the last is another's: for some
//! seconds as many pages come back as did at the last one. Both ways count the same.
//!
//! What a floor **costs**: the seconds that tasks stall a second, times as many as the pages, of both
//! types, that had been needed and came back, are of those before the sweep. Stalls alone mislead where
//! the CPU is short: whoever is slow waits no more often a second than whoever is quick, so that a floor
//! under pages that nobody needs looks as good as none.
use crate::auto_floor::{Bounds, NOISE};
use crate::sight::Sight;

/// A floor is judged over so long at least: the kernel counts stalls up every 2 s. And after so long in
/// any case.
const LEAST_S: f64 = 4.0;
const MOST_S: f64 = 7.0;
/// What follows a step is not counted: pages come and go.
const SETTLE_S: f64 = 1.0;
/// As good as the best: so much worse at most, and by so many seconds stalled a second.
const AS_GOOD: f64 = 1.05;
const AS_GOOD_S: f64 = 0.005;
/// Where tasks stall less than this there is nothing to find.
const WORTH_S: f64 = 0.02;
/// Stalls have changed if they are by so much more or less, for so many judgements.
const CHANGED: f64 = 1.6;
const IN_A_ROW: u32 = 3;
/// A sweep costs: the next one comes so much later at the soonest, and twice that each time, to an
/// hour.
const APART_S: f64 = 60.0;
const APART_MOST_S: f64 = 3600.0;
/// Further down by half a step, and half of that.
const FINER: [f64; 2] = [std::f64::consts::FRAC_1_SQRT_2, 0.84];
/// After each round but the last those are left out that are so much worse than the best.
const DROPPED: [f64; 2] = [1.6, 1.3];
/// A floor that was found is proved over so many looks, so many times; worse than the best by so much, it
/// is left.
const PROOF_LOOKS: u32 = 3;
const PROOFS: u32 = 3;
const DISPROVED: f64 = 1.4;
/// A higher floor is the less bad one where it costs so much less.
const HELPED: f64 = 1.2;
/// The next floor up is so much higher; so many of them at most.
const UP: f64 = std::f64::consts::SQRT_2;
const MOST_UPS: u32 = 8;
/// Halves from 45% to a hundredth of a percent.
const STEPS: usize = 14;

/// What one look has shown: seconds stalled a second, and pages a second that came back and had been
/// needed.
#[derive(Clone, Copy, Debug)]
struct Look {
    stalls: f64,
    pages: f64,
}

/// A floor that is tried, and what it has cost in all looks at it.
#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    percent: f64,
    /// On the way down, and on the way up.
    sums: [f64; 2],
    looks: [u32; 2],
    dropped: bool,
}

impl Tried {
    fn mean(&self) -> f64 {
        let ways = self.sums.iter().zip(self.looks);
        let ways = ways.filter(|(_, looks)| *looks > 0);
        let (sum, many) = ways.fold((0.0, 0.0), |(sum, many), (cost, looks)| {
            (sum + cost / f64::from(looks), many + 1.0)
        });
        sum / f64::max(many, 1.0)
    }
}

/// Looks at a floor that was found: the cost and seconds stalled in those since the last mean, how many
/// in all, and how often it was gone up for.
#[derive(Clone, Copy, Debug, Default)]
struct Proof {
    percent: f64,
    sum: f64,
    stalls: f64,
    looks: u32,
    ups: u32,
    /// Of the floors that were left for this one the least bad.
    left: Option<Left>,
}

/// A floor that was worse than the best, what it cost, and seconds stalled a second.
#[derive(Clone, Copy, Debug)]
struct Left {
    percent: f64,
    cost: f64,
    stalls: f64,
}

/// Seconds, microseconds stalled, pages stolen, pages that came back.
#[derive(Clone, Copy, Debug)]
struct Counts {
    now_s: f64,
    stall_us: u64,
    stolen: u64,
    needed: u64,
}

/// What is found out now.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// At a floor, with the stalls that it had and how often in a row they were others.
    Held { stalls: Option<f64>, others: u32 },
    /// At one of the floors that were tried, to see whether it is as good as it seemed: with looks anew.
    Proving(Proof),
    /// At one of the floors that are tried, in a round.
    Trying {
        at: usize,
        round: usize,
        finer: bool,
    },
}

/// Finds it out.
#[derive(Clone, Copy, Debug)]
pub struct ByStalls {
    bounds: Bounds,
    phase: Phase,
    /// What is tried, from the highest on, so many.
    tried: [Tried; STEPS],
    many: usize,
    /// What the best of the sweep has cost.
    best: f64,
    /// Pages a second at the look before the sweep.
    usual: f64,
    /// When what is judged now began.
    step_s: Option<f64>,
    /// At the first count after it.
    begun: Option<Counts>,
    swept_s: f64,
    apart_s: f64,
    /// What was told first: a kernel that always says the same says nothing.
    first_us: Option<u64>,
    last_us: u64,
    lives: bool,
}

impl ByStalls {
    #[must_use]
    pub fn new(bounds: Bounds) -> ByStalls {
        ByStalls {
            bounds,
            phase: Phase::Held {
                stalls: None,
                others: 0,
            },
            tried: [Tried::default(); STEPS],
            many: 0,
            best: 0.0,
            usual: 1.0,
            step_s: None,
            begun: None,
            swept_s: f64::NEG_INFINITY,
            apart_s: APART_S,
            first_us: None,
            last_us: 0,
            lives: false,
        }
    }

    /// Does the kernel tell of stalls?
    #[must_use]
    pub fn can_tell(&self) -> bool {
        self.lives
    }

    /// Takes a look at what the floor that was named last does. The next one, where it is another.
    pub fn look(&mut self, seen: &Sight) -> Option<f64> {
        let look = self.judge(seen)?;
        let cost = look.stalls * look.pages / self.usual;
        match self.phase {
            Phase::Held {
                stalls: was,
                others,
            } => self.hold(seen.now_s, look, was, others),
            Phase::Trying { at, round, finer } => {
                let way = round % 2;
                self.tried[at].sums[way] += cost;
                self.tried[at].looks[way] += 1;
                self.go_on(at, round, finer)
            }
            Phase::Proving(proof) => self.prove(proof, cost, look.stalls),
        }
    }

    /// One look more at what was found. Where it is not what it seemed, the next one up, if there are any
    /// left. Where none is, the best was luck, or the machine has changed: then the least bad.
    fn prove(&mut self, mut proof: Proof, cost: f64, stalls: f64) -> Option<f64> {
        proof.sum += cost;
        proof.stalls += stalls;
        proof.looks += 1;
        // Much worse is known before all looks are made.
        let most = self.best * DISPROVED + AS_GOOD_S;
        let worse = proof.sum > most * f64::from(PROOF_LOOKS);
        if worse {
            let since = f64::from((proof.looks - 1) % PROOF_LOOKS + 1);
            let this = Left {
                percent: proof.percent,
                cost: proof.sum / since,
                stalls: proof.stalls / since,
            };
            let before = proof.left.filter(|left| this.cost * HELPED > left.cost);
            let left = before.unwrap_or(this);
            let next = (proof.percent * UP).min(self.bounds.most);
            if proof.ups < MOST_UPS && next > proof.percent {
                self.phase = Phase::Proving(Proof {
                    percent: next,
                    ups: proof.ups + 1,
                    left: Some(left),
                    ..Proof::default()
                });
                return Some(next);
            }
            // What stalls would be if it were as good as the best: a sweep is due if they are much more.
            let share = (self.best / left.cost.max(f64::MIN_POSITIVE)).min(1.0);
            let stalls = Some(left.stalls * share);
            self.phase = Phase::Held { stalls, others: 0 };
            return (left.percent != proof.percent).then_some(left.percent);
        }
        if !proof.looks.is_multiple_of(PROOF_LOOKS) {
            self.phase = Phase::Proving(proof);
            return None;
        }
        proof.sum = 0.0;
        let mean = std::mem::take(&mut proof.stalls) / f64::from(PROOF_LOOKS);
        self.phase = if proof.looks < PROOF_LOOKS * PROOFS {
            Phase::Proving(proof)
        } else {
            Phase::Held {
                stalls: Some(mean),
                others: 0,
            }
        };
        None
    }

    fn hold(&mut self, now_s: f64, look: Look, was: Option<f64>, others: u32) -> Option<f64> {
        let stalls = look.stalls;
        let changed = match was {
            None => stalls > WORTH_S,
            Some(was) => stalls > was * CHANGED + WORTH_S || was > stalls * CHANGED + WORTH_S,
        };
        let others = if changed { others + 1 } else { 0 };
        let due = was.is_none() || (others >= IN_A_ROW && now_s - self.swept_s >= self.apart_s);
        if changed && due {
            self.apart_s = match was {
                None => APART_S,
                Some(_) => (self.apart_s * 2.0).min(APART_MOST_S),
            };
            self.swept_s = now_s;
            self.usual = look.pages;
            return self.sweep();
        }
        self.phase = Phase::Held {
            stalls: was,
            others,
        };
        None
    }

    /// Begins with the most, and by halves down to what is not far above the least.
    fn sweep(&mut self) -> Option<f64> {
        let bounds = self.bounds;
        let steps = (0..STEPS as i32).map(|at| bounds.most * 0.5f64.powi(at));
        self.try_all(steps.filter(|percent| *percent >= bounds.least), false)
    }

    /// Tries these, given from the highest on.
    fn try_all(&mut self, floors: impl Iterator<Item = f64>, finer: bool) -> Option<f64> {
        self.many = 0;
        for (slot, percent) in self.tried.iter_mut().zip(floors) {
            *slot = Tried {
                percent,
                ..Tried::default()
            };
            self.many += 1;
        }
        self.phase = Phase::Trying {
            at: 0,
            round: 0,
            finer,
        };
        (self.many > 0).then(|| self.tried[0].percent)
    }

    /// The next floor: of this round, of the next one, or what has been found.
    fn go_on(&mut self, at: usize, round: usize, finer: bool) -> Option<f64> {
        if let Some(next) = self.after(Some(at), round) {
            return self.go_to(next, round, finer);
        }
        if let Some(dropped) = DROPPED.get(round) {
            let tried = &mut self.tried[..self.many];
            let best = best(tried);
            for one in tried.iter_mut() {
                one.dropped |= one.mean() > best * dropped + AS_GOOD_S;
            }
            let left = tried.iter().filter(|one| !one.dropped).count();
            if let (true, Some(next)) = (left > 1, self.after(None, round + 1)) {
                return self.go_to(next, round + 1, finer);
            }
        }
        let tried = &self.tried[..self.many];
        let reference = if finer {
            best(tried).min(self.best)
        } else {
            best(tried)
        };
        let found = lowest_as_good(tried, reference);
        let lower = FINER.map(|share| found.percent * share);
        if !finer && lower[0] >= self.bounds.least {
            self.best = best(&self.tried[..self.many]);
            return self.try_all([found.percent, lower[1], lower[0]].into_iter(), true);
        }
        self.best = reference;
        self.phase = Phase::Proving(Proof {
            percent: found.percent,
            ..Proof::default()
        });
        Some(found.percent)
    }

    fn go_to(&mut self, at: usize, round: usize, finer: bool) -> Option<f64> {
        self.phase = Phase::Trying { at, round, finer };
        Some(self.tried[at].percent)
    }

    /// The floor that is tried after one, or first, in a round: down in even ones, up in odd ones.
    fn after(&self, at: Option<usize>, round: usize) -> Option<usize> {
        let there = |at: &usize| !self.tried[*at].dropped;
        if round.is_multiple_of(2) {
            (at.map_or(0, |at| at + 1)..self.many).find(there)
        } else {
            (0..at.unwrap_or(self.many)).rev().find(there)
        }
    }

    /// What was seen since the last judgement, once there is another to be made: something was
    /// reclaimed, and it is long enough ago.
    fn judge(&mut self, seen: &Sight) -> Option<Look> {
        let stall_us = seen.stall_us?;
        self.lives |= stall_us != *self.first_us.get_or_insert(stall_us);
        let counted = stall_us != std::mem::replace(&mut self.last_us, stall_us);
        let step_s = *self.step_s.get_or_insert(seen.now_s);
        let now = Counts {
            now_s: seen.now_s,
            stall_us,
            stolen: seen.stolen,
            needed: seen.needed_file + seen.needed_anon,
        };
        let Some(then) = self.begun else {
            let late = seen.now_s - step_s >= SETTLE_S;
            // From a moment on at which it was brought up to date.
            if late && (counted || seen.now_s - step_s >= SETTLE_S * 3.0) {
                self.begun = Some(now);
            }
            return None;
        };
        let seconds = now.now_s - then.now_s;
        if seconds < LEAST_S || (!counted && seconds < MOST_S) {
            return None;
        }
        (self.begun, self.step_s) = (None, None);
        let stalled = stall_us.saturating_sub(then.stall_us) as f64 / 1e6;
        let needed = now.needed.saturating_sub(then.needed) as f64;
        // So that a few pages more or less are not a multiple.
        let noise = seen.whole().managed as f64 * NOISE;
        (now.stolen > then.stolen).then_some(Look {
            stalls: stalled / seconds,
            pages: needed / seconds + noise.max(1.0),
        })
    }
}

fn best(tried: &[Tried]) -> f64 {
    let left = tried.iter().filter(|one| !one.dropped);
    left.map(Tried::mean).fold(f64::INFINITY, f64::min)
}

/// The lowest floor that is as good as the best. Where stalls have grown since that was measured none is: the
/// highest then, which is what the sweep found.
fn lowest_as_good(tried: &[Tried], reference: f64) -> Tried {
    let enough = reference * AS_GOOD + AS_GOOD_S;
    let good = |one: &&Tried| !one.dropped && one.mean() <= enough;
    let lowest = tried
        .iter()
        .filter(good)
        .min_by(|one, other| one.percent.total_cmp(&other.percent));
    lowest.or(tried.first()).copied().unwrap_or_default()
}
