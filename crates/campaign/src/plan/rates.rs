//! How fast this machine simulates each policy: measured on a small trace when a campaign is planned.
use anyhow::Result;
use serde::{Deserialize, Serialize};
use sim::registry::Choice;
use sim::Input;
use std::collections::BTreeMap;
use std::time::Instant;
use trace::generate::Spec;

/// Requests of the trace on which rates are measured, and its objects: a policy takes 5 ms or so.
const REQUESTS: u64 = 60_000;
const OBJECTS: u32 = 8_000;

/// Requests that each policy simulates in a second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    pub requests_per_second: BTreeMap<String, u64>,
}

impl Rates {
    /// Measures each policy at a tenth of the footprint.
    ///
    /// # Errors
    /// A policy cannot be built.
    pub fn measured(policies: &[Choice]) -> Result<Rates> {
        let spec = Spec::Zipf {
            objects: OBJECTS,
            alpha: 0.8,
        };
        let made = spec
            .trace("rates", REQUESTS, 1)
            .map_err(anyhow::Error::msg)?;
        let input = Input::of(&made)?;
        let mut requests_per_second = BTreeMap::new();
        for policy in policies {
            let begun = Instant::now();
            let mut running = policy.build(&input, u64::from(made.objects) / 10)?;
            sim::run(running.as_mut(), &input, &mut |_| {});
            let seconds = begun.elapsed().as_secs_f64().max(1e-6);
            let rate = (REQUESTS as f64 / seconds) as u64;
            requests_per_second.insert(policy.to_string(), rate.max(1));
        }
        Ok(Rates {
            requests_per_second,
        })
    }

    /// Seconds in which all policies simulate this many requests at one size each.
    pub fn seconds(&self, requests: u64) -> f64 {
        let each = self.requests_per_second.values();
        each.map(|rate| requests as f64 / (*rate).max(1) as f64)
            .sum()
    }
}
