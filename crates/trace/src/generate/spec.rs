//! The rules that a generated trace can follow.

/// A rule that requests follow. Objects are numbered from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// Object of rank k with probability in proportion to 1 / k^alpha; ranks in random order.
    Zipf { objects: u32, alpha: f64 },
    /// Self-similar: a fraction `alpha` of requests to a fraction `beta` of objects, and likewise within
    /// these. Object 1 is the hottest. LRU-K's "zipfian random access".
    SelfSimilar { objects: u32, alpha: f64, beta: f64 },
    /// All objects are equally likely.
    Uniform { objects: u32 },
    /// Each object once, in order. If requests are left, the scan starts over.
    Scan { objects: u32 },
    /// A loop: all objects in order, repeated.
    Loop { objects: u32 },
    /// One object of a small pool and one of a large pool in turn, each pool uniform: the index and record
    /// pages of the LRU-K paper.
    TwoPool { first: u32, second: u32 },
    /// A Markov chain of phases, each with its own working set, uniform within it.
    Markov {
        /// The number of phases. Each other phase is equally likely to be the next.
        phases: u32,
        /// Objects of a phase's working set.
        objects: u32,
        /// The share of a working set that is also in the next phase's.
        overlap: f64,
        /// Mean number of requests of a phase, which is geometrically distributed.
        mean: f64,
    },
    /// Bursts of several rules, each with objects of its own.
    Mix {
        parts: Vec<Part>,
        /// Mean number of requests of a burst, which is geometrically distributed.
        burst: f64,
    },
}

impl Spec {
    /// Loop, scan and zipf together, over about `objects` objects, in bursts of 64. Of the requests, 40 %
    /// are zipf(0.8) over a tenth of the objects, 40 % a loop over a fifth, and 20 % a scan over the rest.
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

    /// The number of objects that may be requested.
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
                let stride = u64::from(self.stride());
                stride * u64::from(phases.saturating_sub(1)) + u64::from(*objects)
            }
            Spec::Mix { parts, .. } => parts.iter().map(|p| p.spec.objects()).sum(),
        }
    }

    /// Checks that requests can be drawn by the rule.
    ///
    /// # Errors
    /// A parameter is out of its range; the message names it.
    pub fn check(&self) -> Result<(), String> {
        if self.objects() == 0 {
            return Err("objects: 0 is out of range (1 or more)".into());
        }
        if self.objects() >= u64::from(u32::MAX) {
            return Err(format!(
                "objects: {} in all is out of range (1 to 4294967294)",
                self.objects()
            ));
        }
        let share = |name: &str, x: f64| match x > 0.0 && x < 1.0 {
            true => Ok(()),
            false => Err(format!("{name}: {x} is out of range (above 0 and below 1)")),
        };
        let mean = |name: &str, x: f64| match (1.0..=1e12).contains(&x) {
            true => Ok(()),
            false => Err(format!("{name}: {x} is out of range (1 to 1e12)")),
        };
        match self {
            Spec::Zipf { alpha, .. } => match (0.0..=100.0).contains(alpha) {
                true => Ok(()),
                false => Err(format!("alpha: {alpha} is out of range (0 to 100)")),
            },
            Spec::SelfSimilar { alpha, beta, .. } => {
                share("alpha", *alpha)?;
                share("beta", *beta)
            }
            Spec::Uniform { .. } | Spec::Scan { .. } | Spec::Loop { .. } => Ok(()),
            Spec::TwoPool { first, second } => match *first > 0 && *second > 0 {
                true => Ok(()),
                false => Err("first, second: 0 is out of range (1 or more)".into()),
            },
            Spec::Markov {
                phases,
                objects,
                overlap,
                mean: length,
            } => {
                if *phases == 0 || *objects == 0 {
                    return Err("phases, objects: 0 is out of range (1 or more)".into());
                }
                if !(0.0..1.0).contains(overlap) {
                    return Err(format!(
                        "overlap: {overlap} is out of range (0 or more, below 1)"
                    ));
                }
                mean("mean", *length)
            }
            Spec::Mix { parts, burst } => {
                for part in parts {
                    if !(part.weight > 0.0 && part.weight.is_finite()) {
                        let weight = part.weight;
                        return Err(format!(
                            "part: a weight of {weight} is out of range (above 0)"
                        ));
                    }
                    let checked = part.spec.check();
                    checked.map_err(|problem| format!("part: {problem}"))?;
                }
                mean("burst", *burst)
            }
        }
    }
    /// Objects between the beginnings of two neighbouring working sets; 0 for rules without phases.
    pub(super) fn stride(&self) -> u32 {
        match self {
            Spec::Markov {
                objects, overlap, ..
            } => ((f64::from(*objects) * (1.0 - overlap)).round() as u32).max(1),
            _ => 0,
        }
    }
}

/// A rule in a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The share of bursts of the part, in proportion to the weights of all parts.
    pub weight: f64,
    pub spec: Spec,
}
