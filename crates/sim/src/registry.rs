//! The policies by name. A new policy is a file in `policies/FAMILY/` and a line here.
use crate::error::Error;
use crate::policies::{
    adaptive, frequency, linux, multi_queue, opt, random, recency, reuse_distance,
};
use crate::policy::{Description, Running, Setup};
use crate::Input;
use std::collections::BTreeMap;

/// All policies, in the order in which they are listed.
pub const POLICIES: &[&Description] = &[
    &opt::POLICY,
    &recency::fifo::POLICY,
    &random::POLICY,
    &recency::mru::POLICY,
    &recency::lru::POLICY,
    &frequency::lru_k::POLICY,
    &frequency::lfu::POLICY,
    &recency::clock::POLICY,
    &reuse_distance::clock_pro::POLICY,
    &multi_queue::two_q::POLICY,
    &adaptive::arc::POLICY,
    &adaptive::car::POLICY,
    &reuse_distance::lirs::POLICY,
    &recency::sieve::POLICY,
    &multi_queue::s3_fifo::POLICY,
    &multi_queue::s4_fifo::POLICY,
    &frequency::w_tinylfu::POLICY,
    &adaptive::lecar::POLICY,
    &adaptive::cacheus::POLICY,
    &reuse_distance::lhd::POLICY,
    &linux::two_list::POLICY,
    &linux::mglru::POLICY,
];

/// A policy with its parameters, as written: `lirs` or `lirs:history=2,hir=0.01`.
#[derive(Clone)]
pub struct Choice {
    description: &'static Description,
    values: BTreeMap<String, String>,
}

impl Choice {
    /// Reads `name` or `name:parameter=value,...`. Case and hyphens of a name do not matter.
    ///
    /// # Errors
    /// A policy or a parameter that is not known.
    pub fn parse(text: &str) -> Result<Choice, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let description = POLICIES
            .iter()
            .find(|known| alike(known.name, name))
            .ok_or_else(|| Error::Policy {
                name: name.to_string(),
                known: names(POLICIES.iter().map(|known| known.name)),
            })?;
        let mut values = BTreeMap::new();
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
            let (parameter, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !description.parameters.iter().any(|p| p.name == parameter) {
                return Err(Error::Parameter {
                    policy: description.name.to_string(),
                    parameter: parameter.to_string(),
                    known: names(description.parameters.iter().map(|p| p.name)),
                });
            }
            values.insert(parameter.to_string(), value.to_string());
        }
        Ok(Choice {
            description,
            values,
        })
    }

    /// The description of the chosen policy.
    pub fn description(&self) -> &'static Description {
        self.description
    }

    /// The policy at a size, before the first request.
    ///
    /// # Errors
    /// A size of 0, or a parameter that the policy cannot take.
    pub fn build<'a>(&self, input: &Input<'a>, size: u64) -> Result<Box<dyn Running + 'a>, Error> {
        if size == 0 {
            return Err(Error::Size);
        }
        (self.description.build)(&self.setup(input, size))
    }

    /// The input for building the policy.
    pub(crate) fn setup<'a, 'p>(&'p self, input: &Input<'a>, size: u64) -> Setup<'a, 'p> {
        let most = input.objects().max(1);
        Setup {
            input: input.clone(),
            size: size.min(u64::from(most)) as u32,
            description: self.description,
            values: &self.values,
        }
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.description.name)?;
        for (index, (parameter, value)) in self.values.iter().enumerate() {
            let between = if index == 0 { ':' } else { ',' };
            write!(f, "{between}{parameter}={value}")?;
        }
        Ok(())
    }
}

/// Whether two names differ in case and hyphens alone: `S3FIFO` and `s3-fifo`.
fn alike(a: &str, b: &str) -> bool {
    let letters = |name: &str| -> String {
        let letters = name.chars().filter(|c| !matches!(c, '-' | '_'));
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    letters(a) == letters(b)
}

fn names(all: impl Iterator<Item = &'static str>) -> String {
    all.collect::<Vec<_>>().join(", ")
}
