//! Counts the starts and kills of a scene.
use std::collections::BTreeMap;

use super::book::KilledBy;
use crate::channel::Channel;

/// The kinds of starts: how an app came to the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    Cold,
    Warm,
    Hot,
}

/// Kills by killer, and kills of the app in front.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    pub by: BTreeMap<KilledBy, u32>,
    pub front: u32,
}

impl Kills {
    /// Splits the kills that were neither by AMS nor by lmkd. The argument is the number of the
    /// kernel's; the rest are a daemon's.
    pub fn split(&mut self, oom_kills: u32) {
        let unknown = self.by.remove(&KilledBy::Oom).unwrap_or(0);
        let own = unknown.min(oom_kills);
        self.by.insert(KilledBy::Oom, own);
        self.by.insert(KilledBy::Daemon, unknown - own);
    }
}

#[derive(Default)]
pub struct Tally {
    begin_ms: f64,
    starts: BTreeMap<Start, u32>,
    /// Starts that ended with the app's death.
    pub lost: u32,
    cached: f64,
    samples: u32,
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
        self.samples += 1;
    }

    pub fn report(&self, worker: &str, kills: &Kills, channel: &Channel) {
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
            ("kills_ams", by(KilledBy::Ams)),
            ("kills_lmkd", by(KilledBy::Lmkd)),
            ("kills_oom", by(KilledBy::Oom)),
            ("kills_daemon", by(KilledBy::Daemon)),
            ("kills", kills.by.values().sum::<u32>().into()),
            ("kills_front", f64::from(kills.front)),
            ("cached", self.cached / f64::from(self.samples.max(1))),
        ];
        // A ratio to 0 is left out.
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
    fn counts_are_observed_with_every_ratio_that_has_a_denominator() {
        let mut tally = Tally::begin(5.0);
        for _ in 0..6 {
            tally.started(Start::Hot);
        }
        tally.started(Start::Cold);
        tally.started(Start::Cold);
        tally.cached(3);
        tally.cached(5);
        let mut kills = Kills {
            by: BTreeMap::from([(KilledBy::Ams, 2), (KilledBy::Oom, 3)]),
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
