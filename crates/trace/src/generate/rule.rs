//! The rules by which a guest's worker accesses pages, as rules of the generator.
use super::spec::{Part, Spec};
use protocol::work::access::Rule;

/// Requests of a burst of [`Rule::HotAndScan`], on average.
const BURST: f64 = 64.0;

impl Spec {
    /// The generator's rule for `rule`, with pages as objects. Sizes must be in bytes already
    /// ([`protocol::size::Size::resolve`]). None for a recorded sequence, which is not drawn.
    pub fn of(rule: &Rule) -> Option<Spec> {
        let (first, all) = rule.pages();
        let (first, all) = (first.unwrap_or(0) as u32, all as u32);
        let rest = all - first;
        Some(match rule {
            Rule::Loop { .. } => Spec::Loop { objects: all },
            Rule::Zipf { alpha, .. } => Spec::Zipf {
                objects: all,
                alpha: *alpha,
            },
            Rule::Uniform { .. } => Spec::Uniform { objects: all },
            Rule::TwoPool { .. } => Spec::TwoPool {
                first,
                second: rest,
            },
            Rule::HotAndScan { share, .. } => {
                let hot = Part {
                    weight: *share,
                    spec: Spec::Uniform { objects: first },
                };
                let scan = Part {
                    weight: 1.0 - share,
                    spec: Spec::Scan { objects: rest },
                };
                Spec::Mix {
                    parts: vec![hot, scan],
                    burst: BURST,
                }
            }
            Rule::Recorded { .. } => return None,
        })
    }
}
