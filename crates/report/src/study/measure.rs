//! One number from one trial, as a figure or a promise measures it.
use protocol::plan::Statistic;
use protocol::record::{SceneRecord, Trial};
use serde::Serialize;
use std::collections::BTreeSet;

use super::stats;

/// The measure of a figure or a promise in a trial.
#[derive(Clone, Copy, Debug)]
pub struct Measure<'a> {
    pub scene: &'a str,
    pub metric: &'a str,
    pub statistic: Statistic,
}

/// The reason why a trial has no number. The text can be followed by "in 3 of 5 trials".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The trial has no such scene.
    NoScene(String),
    /// The scene ran, and recorded no value of this metric.
    NoValue(String),
    /// The statistic cannot be taken of this kind of metric.
    Unfit(String),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Missing::NoScene(scene) => write!(f, "scene {scene} never ran"),
            Missing::NoValue(metric) => match metric.strip_suffix(".read_ms") {
                Some(worker) => write!(f, "{worker} never finished a read"),
                None => write!(f, "{metric} was never recorded"),
            },
            Missing::Unfit(why) => f.write_str(why),
        }
    }
}

/// The names of all metrics that some trial of the run observed or sampled. A metric among them that
/// a trial lacks counts as observed zero times there.
pub fn series_names(trials: &[Trial]) -> BTreeSet<&str> {
    let observed = trials
        .iter()
        .flat_map(|t| &t.scenes)
        .flat_map(|s| s.observations.keys());
    let gauges = trials.iter().flat_map(|t| t.gauges.keys());
    observed.chain(gauges).map(String::as_str).collect()
}

/// The times in milliseconds and the values of an observation, or else of a gauge, within a scene.
pub fn series(trial: &Trial, scene: &SceneRecord, metric: &str) -> Option<Vec<(f64, f64)>> {
    if let Some(points) = scene.observations.get(metric) {
        return Some(points.clone());
    }
    let inside = |&&(t, _): &&(f64, f64)| scene.begin_ms <= t && t <= scene.end_ms;
    let points = trial.gauges.get(metric)?;
    Some(points.iter().filter(inside).copied().collect())
}

pub fn scene<'a>(trial: &'a Trial, name: &str) -> Option<&'a SceneRecord> {
    trial.scenes.iter().find(|s| s.name == name)
}

/// The values behind the number: all values of an observation, or the single one of a counter.
pub fn values(trial: &Trial, m: Measure, known: &BTreeSet<&str>) -> Result<Vec<f64>, Missing> {
    let scene = scene(trial, m.scene).ok_or_else(|| Missing::NoScene(m.scene.to_string()))?;
    match m.statistic {
        Statistic::Delta | Statistic::Rate => {
            if known.contains(m.metric) && !scene.counters.contains_key(m.metric) {
                return Err(Missing::Unfit(format!(
                    "{} is no counter and has no {}",
                    m.metric,
                    statistic_name(m.statistic)
                )));
            }
            let growth = counter(scene, m.metric)?;
            // The ratio of two growths is also the ratio of their rates.
            if m.statistic == Statistic::Delta || m.metric.contains('/') {
                return Ok(vec![growth]);
            }
            let seconds = (scene.end_ms - scene.begin_ms) / 1000.0;
            if seconds <= 0.0 {
                return Err(Missing::Unfit(format!("scene {} took no time", m.scene)));
            }
            Ok(vec![growth / seconds])
        }
        _ => match series(trial, scene, m.metric) {
            Some(points) => Ok(points.into_iter().map(|(_, v)| v).collect()),
            None if known.contains(m.metric) => Ok(Vec::new()),
            None if counter(scene, m.metric).is_ok() => Err(Missing::Unfit(format!(
                "{} is a counter and has no {}: use delta or rate",
                m.metric,
                statistic_name(m.statistic)
            ))),
            None => Err(Missing::NoValue(m.metric.to_string())),
        },
    }
}

/// The number of one trial.
pub fn number(trial: &Trial, m: Measure, known: &BTreeSet<&str>) -> Result<f64, Missing> {
    let values = values(trial, m, known)?;
    let number = match m.statistic {
        Statistic::Mean => stats::mean(&values),
        Statistic::Median => stats::median(&values),
        Statistic::P90 => stats::p90(&values),
        Statistic::P99 => stats::p99(&values),
        // The sum of no numbers is -0 in Rust.
        Statistic::Sum => Some(values.iter().sum::<f64>() + 0.0),
        Statistic::Max => stats::max(&values),
        Statistic::Min => stats::min(&values),
        Statistic::Count => Some(values.len() as f64),
        Statistic::First | Statistic::Delta | Statistic::Rate => values.first().copied(),
    };
    number.ok_or_else(|| Missing::NoValue(m.metric.to_string()))
}

/// The growth of a counter or of a sum of counters, or the ratio of two such growths.
fn counter(scene: &SceneRecord, metric: &str) -> Result<f64, Missing> {
    let sum = |names: &[&str]| -> Result<f64, Missing> {
        let grown = names.iter().map(|name| {
            let found = scene.counters.get(*name).copied();
            found.ok_or_else(|| Missing::NoValue(name.to_string()))
        });
        grown.sum()
    };
    let unfit = || Missing::Unfit(format!("{metric} is no metric"));
    let (above, below) = protocol::plan::parts(metric).ok_or_else(unfit)?;
    let above = sum(&above)?;
    match below.map(|names| sum(&names)).transpose()? {
        None => Ok(above),
        Some(0.0) => Err(Missing::Unfit(format!("{metric} has no value: n/0"))),
        Some(below) => Ok(above / below),
    }
}

/// The name of a statistic in an experiment file.
pub fn statistic_name(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Mean => "mean",
        Statistic::Median => "median",
        Statistic::P90 => "p90",
        Statistic::P99 => "p99",
        Statistic::Sum => "sum",
        Statistic::Max => "max",
        Statistic::Min => "min",
        Statistic::First => "first",
        Statistic::Count => "count",
        Statistic::Delta => "delta",
        Statistic::Rate => "rate",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::record::{Outcome, SCHEMA};
    use std::collections::BTreeMap;

    fn trial() -> Trial {
        let scene = SceneRecord {
            name: "calm".into(),
            begin_ms: 1000.0,
            end_ms: 3000.0,
            counters: BTreeMap::from([("vmstat.a".into(), 10.0), ("vmstat.b".into(), 4.0)]),
            observations: BTreeMap::from([(
                "probe.read_ms".into(),
                vec![(1100.0, 9.0), (1200.0, 1.0), (1300.0, 2.0)],
            )]),
        };
        Trial {
            schema: SCHEMA,
            arm: "a".into(),
            repetition: 0,
            seed: 1,
            outcome: Outcome::Ok,
            release: String::new(),
            mem_total_kb: 0,
            boot_s: 0.0,
            wall_s: 0.0,
            settings: BTreeMap::new(),
            scenes: vec![scene],
            events: vec![],
            gauges: BTreeMap::from([(
                "meminfo.MemFree".into(),
                vec![
                    (500.0, 100.0),
                    (1500.0, 20.0),
                    (2500.0, 40.0),
                    (3500.0, 90.0),
                ],
            )]),
            console_tail: vec![],
        }
    }

    fn take(scene: &str, metric: &str, statistic: Statistic) -> Result<f64, Missing> {
        let trials = [trial()];
        let known = series_names(&trials);
        let m = Measure {
            scene,
            metric,
            statistic,
        };
        number(&trials[0], m, &known)
    }

    #[test]
    fn every_statistic_of_an_observation() {
        for (statistic, known) in [
            (Statistic::Mean, 4.0),
            (Statistic::Median, 2.0),
            (Statistic::P90, 7.6),
            (Statistic::P99, 8.86),
            (Statistic::Sum, 12.0),
            (Statistic::Max, 9.0),
            (Statistic::Min, 1.0),
            (Statistic::First, 9.0),
            (Statistic::Count, 3.0),
        ] {
            let value = take("calm", "probe.read_ms", statistic).unwrap();
            assert!((value - known).abs() < 1e-9, "{statistic:?}: {value}");
        }
    }

    #[test]
    fn counters_their_sums_and_rates() {
        assert_eq!(take("calm", "vmstat.a", Statistic::Delta), Ok(10.0));
        assert_eq!(
            take("calm", "vmstat.a + vmstat.b", Statistic::Delta),
            Ok(14.0)
        );
        assert_eq!(take("calm", "vmstat.a+vmstat.b", Statistic::Rate), Ok(7.0));
        let share = "vmstat.b/(vmstat.a+vmstat.b)";
        assert_eq!(take("calm", share, Statistic::Delta), Ok(4.0 / 14.0));
        assert_eq!(take("calm", share, Statistic::Rate), Ok(4.0 / 14.0));
    }

    #[test]
    fn a_gauge_counts_only_within_its_scene() {
        assert_eq!(take("calm", "meminfo.MemFree", Statistic::Mean), Ok(30.0));
    }

    #[test]
    fn the_reason_names_what_is_missing() {
        let why = |r: Result<f64, Missing>| r.unwrap_err().to_string();
        assert_eq!(
            why(take("storm", "probe.read_ms", Statistic::Mean)),
            "scene storm never ran"
        );
        assert_eq!(
            why(take("calm", "other.read_ms", Statistic::Mean)),
            "other never finished a read"
        );
        assert_eq!(
            why(take("calm", "vmstat.a+vmstat.z", Statistic::Delta)),
            "vmstat.z was never recorded"
        );
        assert!(why(take("calm", "vmstat.a", Statistic::Mean)).contains("use delta or rate"));
        assert!(why(take("calm", "probe.read_ms", Statistic::Rate)).contains("is no counter"));
    }

    #[test]
    fn never_observed_here_counts_zero_only_if_known_elsewhere() {
        let mut trials = [trial(), trial()];
        trials[0].scenes[0].observations.clear();
        let known = series_names(&trials);
        let m = |statistic| Measure {
            scene: "calm",
            metric: "probe.read_ms",
            statistic,
        };
        assert_eq!(number(&trials[0], m(Statistic::Count), &known), Ok(0.0));
        let sum = number(&trials[0], m(Statistic::Sum), &known).unwrap();
        assert_eq!((sum, sum.is_sign_positive()), (0.0, true));
        assert!(number(&trials[0], m(Statistic::Mean), &known).is_err());
        assert!(number(&trials[0], m(Statistic::Count), &BTreeSet::new()).is_err());
    }
}
