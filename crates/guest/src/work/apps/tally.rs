//! What is counted over a scene.
use std::collections::BTreeMap;

use super::book::Who;
use crate::channel::Channel;

/// How an app came to the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    Cold,
    Warm,
    Hot,
}

/// Who was killed by whom, and how often it was the app in front.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    pub by: BTreeMap<Who, u32>,
    pub front: u32,
}

impl Kills {
    /// Of those that neither AMS nor lmkd killed the kernel says how many were its own; the rest were
    /// a daemon's.
    pub fn split(&mut self, oom_kills: u32) {
        let unknown = self.by.remove(&Who::Oom).unwrap_or(0);
        let own = unknown.min(oom_kills);
        self.by.insert(Who::Oom, own);
        self.by.insert(Who::Daemon, unknown - own);
    }
}

#[derive(Default)]
pub struct Tally {
    begin_ms: f64,
    starts: BTreeMap<Start, u32>,
    /// Starts that ended with the app's death.
    pub lost: u32,
    cached: f64,
    looks: u32,
}

impl Tally {
    pub fn begin(begin_ms: f64) -> Tally {
        Tally {
            begin_ms,
            ..Tally::default()
        }
    }

    pub fn started(&mut self, start: Start) {
        *self.starts.entry(start).or_default() += 1;
    }

    pub fn cached(&mut self, count: usize) {
        self.cached += count as f64;
        self.looks += 1;
    }

    pub fn tell(&self, worker: &str, kills: &Kills, channel: &Channel) {
        for (name, value) in self.values(kills) {
            channel.observe(format!("{worker}.{name}"), self.begin_ms, value);
        }
    }

    fn values(&self, kills: &Kills) -> Vec<(&'static str, f64)> {
        let of = |start| f64::from(self.starts.get(&start).copied().unwrap_or(0));
        let by = |who| f64::from(kills.by.get(&who).copied().unwrap_or(0));
        let (hot, warm, cold) = (of(Start::Hot), of(Start::Warm), of(Start::Cold));
        let mut values = vec![
            ("hot", hot),
            ("warm", warm),
            ("cold", cold),
            ("launches", hot + warm + cold),
            ("lost", f64::from(self.lost)),
            ("kills_ams", by(Who::Ams)),
            ("kills_lmkd", by(Who::Lmkd)),
            ("kills_oom", by(Who::Oom)),
            ("kills_daemon", by(Who::Daemon)),
            ("kills", kills.by.values().sum::<u32>().into()),
            ("kills_front", f64::from(kills.front)),
            ("cached", self.cached / f64::from(self.looks.max(1))),
        ];
        // A ratio to none at all is no number.
        for (name, above, below) in [
            ("hot_to_cold", hot, cold),
            ("hot_to_warm", hot, warm),
            ("warm_to_cold", warm, cold),
        ] {
            if below > 0.0 {
                values.push((name, above / below));
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_the_ratios_that_there_are() {
        let mut tally = Tally::begin(5.0);
        for _ in 0..6 {
            tally.started(Start::Hot);
        }
        tally.started(Start::Cold);
        tally.started(Start::Cold);
        tally.cached(3);
        tally.cached(5);
        let mut kills = Kills {
            by: BTreeMap::from([(Who::Ams, 2), (Who::Oom, 3)]),
            front: 1,
        };
        kills.split(1);
        let values: BTreeMap<_, _> = tally.values(&kills).into_iter().collect();
        assert_eq!(values["hot_to_cold"], 3.0);
        assert_eq!(values["warm_to_cold"], 0.0);
        assert!(!values.contains_key("hot_to_warm"));
        assert_eq!((values["kills"], values["kills_lmkd"]), (5.0, 0.0));
        assert_eq!((values["kills_oom"], values["kills_daemon"]), (1.0, 2.0));
        assert_eq!((values["launches"], values["cached"]), (8.0, 4.0));
    }
}
