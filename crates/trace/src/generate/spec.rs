//! What to generate.
use super::{mix, patterns, Part, Pcg64};
use crate::{advise_huge, Trace};

/// A rule that requests follow. Objects are numbered from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// Object of rank k with probability in proportion to 1 / k^alpha; ranks in random order.
    Zipf { objects: u32, alpha: f64 },
    /// Self-similar: a fraction `alpha` of requests to a fraction `beta` of objects, again and again
    /// within these; object 1 is the hottest. LRU-K's "zipfian random access".
    SelfSimilar { objects: u32, alpha: f64, beta: f64 },
    /// All objects alike.
    Uniform { objects: u32 },
    /// Each object once, in order; from the first again when requests are left.
    Scan { objects: u32 },
    /// All objects in order, again and again.
    Loop { objects: u32 },
    /// By turns one object of a small pool and one of a large pool, each pool uniform: LRU-K's index
    /// and record pages.
    TwoPool { first: u32, second: u32 },
    /// A Markov chain of phases, each with its own working set, uniform within it.
    Markov {
        /// Phases; the next one is any other.
        phases: u32,
        /// Objects of a phase's working set.
        objects: u32,
        /// Of a working set, the share that the next phase has too.
        overlap: f64,
        /// Requests of a phase, on average (geometrically distributed).
        mean: f64,
    },
    /// Bursts of several rules, each with objects of its own.
    Mix {
        parts: Vec<Part>,
        /// Requests of a burst, on average (geometrically distributed).
        burst: f64,
    },
}

impl Spec {
    /// Loop, scan and zipf together, over about `objects` objects: of the requests 40 % zipf(0.8) over a
    /// tenth of the objects, 40 % a loop over a fifth, 20 % a scan over the rest, in bursts of 64.
    pub fn loop_scan_zipf(objects: u32) -> Spec {
        let (hot, looped) = (objects / 10, objects / 5);
        let part = |weight, spec| Part { weight, spec };
        Spec::Mix {
            parts: vec![
                part(
                    0.4,
                    Spec::Zipf {
                        objects: hot,
                        alpha: 0.8,
                    },
                ),
                part(0.4, Spec::Loop { objects: looped }),
                part(
                    0.2,
                    Spec::Scan {
                        objects: objects - hot - looped,
                    },
                ),
            ],
            burst: 64.0,
        }
    }

    /// How many objects there may be.
    pub fn objects(&self) -> u64 {
        match self {
            Spec::Zipf { objects, .. }
            | Spec::SelfSimilar { objects, .. }
            | Spec::Uniform { objects }
            | Spec::Scan { objects }
            | Spec::Loop { objects } => u64::from(*objects),
            Spec::TwoPool { first, second } => u64::from(*first) + u64::from(*second),
            Spec::Markov {
                phases, objects, ..
            } => {
                let stride = u64::from(patterns::stride(self));
                stride * u64::from(phases.saturating_sub(1)) + u64::from(*objects)
            }
            Spec::Mix { parts, .. } => parts.iter().map(|p| p.spec.objects()).sum(),
        }
    }

    /// Is it possible at all?
    ///
    /// # Errors
    /// What is not, in words.
    pub fn check(&self) -> Result<(), String> {
        if self.objects() == 0 {
            return Err("no objects: at least one is needed".into());
        }
        if self.objects() >= u64::from(u32::MAX) {
            return Err(format!(
                "{} objects: fewer than 4294967295 are possible",
                self.objects()
            ));
        }
        let share = |name: &str, x: f64| match x > 0.0 && x < 1.0 {
            true => Ok(()),
            false => Err(format!("{name} {x}: more than 0 and less than 1")),
        };
        let mean = |name: &str, x: f64| match (1.0..=1e12).contains(&x) {
            true => Ok(()),
            false => Err(format!("{name} {x}: 1 to 1e12 requests")),
        };
        match self {
            Spec::Zipf { alpha, .. } => match (0.0..=100.0).contains(alpha) {
                true => Ok(()),
                false => Err(format!("alpha {alpha}: 0 to 100")),
            },
            Spec::SelfSimilar { alpha, beta, .. } => {
                share("alpha", *alpha)?;
                share("beta", *beta)
            }
            Spec::Uniform { .. } | Spec::Scan { .. } | Spec::Loop { .. } => Ok(()),
            Spec::TwoPool { first, second } => match *first > 0 && *second > 0 {
                true => Ok(()),
                false => Err("a pool without objects".into()),
            },
            Spec::Markov {
                phases,
                objects,
                overlap,
                mean: length,
            } => {
                if *phases == 0 || *objects == 0 {
                    return Err("a phase without objects, or no phase".into());
                }
                if !(0.0..1.0).contains(overlap) {
                    return Err(format!("overlap {overlap}: 0 and more, less than 1"));
                }
                mean("mean", *length)
            }
            Spec::Mix { parts, burst } => {
                for part in parts {
                    if !(part.weight > 0.0 && part.weight.is_finite()) {
                        return Err(format!("weight {}: more than 0", part.weight));
                    }
                    part.spec.check()?;
                }
                mean("burst", *burst)
            }
        }
    }

    /// Gives requests to `take`, a slice at a time, objects from 0.
    ///
    /// # Errors
    /// As [`Spec::check`], before the first request.
    pub fn requests(
        &self,
        requests: u64,
        seed: u64,
        mut take: impl FnMut(&[u32]),
    ) -> Result<(), String> {
        self.check()?;
        self.draw(requests, &mut Pcg64::new(seed), &mut take);
        Ok(())
    }

    /// All requests in memory, renumbered.
    ///
    /// # Errors
    /// As [`Spec::check`].
    pub fn trace(&self, name: &str, requests: u64, seed: u64) -> Result<Trace, String> {
        let mut ids: Vec<u32> = Vec::with_capacity(requests as usize);
        advise_huge(&mut ids);
        let mut dense: Vec<u32> = vec![u32::MAX; self.objects() as usize];
        let mut objects = 0;
        self.requests(requests, seed, |drawn| {
            ids.extend(drawn.iter().map(|&object| {
                let id = &mut dense[object as usize];
                if *id == u32::MAX {
                    *id = objects;
                    objects += 1;
                }
                *id
            }));
        })?;
        Ok(Trace {
            name: name.to_string(),
            ids,
            objects,
            ..Trace::default()
        })
    }

    pub(super) fn draw(&self, requests: u64, rng: &mut Pcg64, take: &mut dyn FnMut(&[u32])) {
        match self {
            Spec::Mix { parts, burst } => mix::draw(parts, *burst, requests, rng, take),
            simple => patterns::draw(simple, requests, rng, take),
        }
    }
}
