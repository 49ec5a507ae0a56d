//! The rules that a guest's worker accesses pages by, as rules of the generator.
use super::{Part, Spec};
use raw::access::Rule;

/// Requests of a burst of [`Rule::HotAndScan`], on average.
const BURST: f64 = 64.0;

impl Spec {
    /// An object is a page; sizes must be bytes by now ([`raw::size::Size::resolve`]). None where
    /// nothing is drawn: what was recorded.
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
