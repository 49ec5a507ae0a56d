//! The modules together.
use crate::{Config, Decision, Machine, Observation};

/// All modules and what they have learned.
pub struct Policy {
    config: Config,
    machine: Machine,
}

impl Policy {
    /// Makes all the room that [`Policy::observe`] needs.
    pub fn new(config: Config, machine: Machine) -> Self {
        Policy { config, machine }
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Takes one sample and fills `decision`, which it clears first.
    pub fn observe(&mut self, _observation: &Observation, decision: &mut Decision) {
        decision.clear();
        decision.next_sample_s = self.config.sample_near_s;
    }
}
