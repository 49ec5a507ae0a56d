//! The policies by name. A new one is a file in `policies/` and a line here.
use crate::policies::*;
use crate::policy::{Description, Error, Setup};
use crate::{Input, Running};
use std::collections::BTreeMap;

/// All policies, in the order in which they are listed.
pub const POLICIES: &[&Description] = &[
    &opt::POLICY,
    &fifo::POLICY,
    &random::POLICY,
    &mru::POLICY,
    &lru::POLICY,
    &lru_k::POLICY,
    &lfu::POLICY,
    &clock::POLICY,
    &clock_pro::POLICY,
    &two_q::POLICY,
    &arc::POLICY,
    &car::POLICY,
    &lirs::POLICY,
    &sieve::POLICY,
    &s3_fifo::POLICY,
    &w_tinylfu::POLICY,
    &lecar::POLICY,
    &linux_two_list::POLICY,
    &mglru::POLICY,
];

/// A policy with its parameters, as written: `lirs` or `lirs:history=2,hir=0.01`.
#[derive(Clone)]
pub struct Choice {
    description: &'static Description,
    values: BTreeMap<String, String>,
}

impl Choice {
    /// Reads `name` or `name:parameter=value,...`.
    ///
    /// # Errors
    /// A policy or a parameter that is not known.
    pub fn parse(text: &str) -> Result<Choice, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let description = POLICIES
            .iter()
            .find(|known| known.name.eq_ignore_ascii_case(name))
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

    /// What was chosen.
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
        let most = input.objects().max(1);
        (self.description.build)(&Setup {
            input: input.clone(),
            size: size.min(u64::from(most)) as u32,
            description: self.description,
            values: &self.values,
        })
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

fn names(all: impl Iterator<Item = &'static str>) -> String {
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return "none".to_string();
    }
    all.join(", ")
}
