//! Reports and kills that belong together.
use super::gather::Found;
use super::kills::{Hung, Kill};
use super::report::Report;
use super::stamp::At;
use serde::Serialize;

/// What is as near as this to the last belongs to it. Seconds.
const NEAR_S: f64 = 60.0;

/// One incident.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Incident {
    pub begin: At,
    pub end: At,
    /// Processes that the kernel killed, and programs that others ended.
    pub kills: u64,
    pub reports: Vec<Report>,
    pub by_programs: Vec<Kill>,
    pub hung: Vec<Hung>,
}

enum One {
    Report(Box<Report>),
    Kill(Kill),
    Hung(Hung),
}

impl One {
    fn at(&self) -> At {
        match self {
            One::Report(one) => one.at,
            One::Kill(one) => one.at,
            One::Hung(one) => one.at,
        }
    }
}

/// Every incident, in the order of the log.
#[must_use]
pub fn of(found: &Found) -> Vec<Incident> {
    let reports = found
        .reports
        .iter()
        .cloned()
        .map(|one| One::Report(Box::new(one)));
    let kills = found.kills.iter().cloned().map(One::Kill);
    let hung = found.hung.iter().cloned().map(One::Hung);
    let mut all: Vec<One> = reports.chain(kills).chain(hung).collect();
    let place = |one: &One| {
        let at = one.at();
        let boot_s = at.boot_s.unwrap_or(0.0);
        (at.unix_s.unwrap_or(f64::from(at.boot) * 1e9 + boot_s) * 1e3) as i64
    };
    all.sort_by_key(place);
    let mut incidents: Vec<Incident> = Vec::new();
    for one in all {
        let at = one.at();
        let near = incidents.last_mut().filter(|last| {
            let timeless = at
                == At {
                    boot: at.boot,
                    ..At::default()
                };
            at.since(&last.end)
                .map_or(timeless, |since_s| since_s <= NEAR_S)
        });
        match near {
            Some(last) => last.take(one),
            None => {
                let mut first = Incident {
                    begin: at,
                    ..Incident::default()
                };
                first.take(one);
                incidents.push(first);
            }
        }
    }
    incidents
}

impl Incident {
    fn take(&mut self, one: One) {
        self.end = one.at();
        match one {
            One::Report(report) => {
                self.kills += report.victims.len() as u64;
                self.reports.push(*report);
            }
            One::Kill(kill) => {
                self.kills += 1;
                self.by_programs.push(kill);
            }
            One::Hung(hung) => self.hung.push(hung),
        }
    }

    /// The moment of the report that says most, or the begin.
    #[must_use]
    pub fn at(&self) -> At {
        self.fullest().map_or(self.begin, |report| report.at)
    }

    /// The report that says most.
    #[must_use]
    pub fn fullest(&self) -> Option<&Report> {
        let says = |report: &&Report| std::cmp::Reverse(report.missing.len());
        // Of several, the first: later ones have fewer programs left.
        self.reports.iter().rev().max_by_key(says)
    }
}

/// The incident that a person asks for: nearest to this time, or else the last with a kill, or else the last.
#[must_use]
pub fn choose(incidents: &[Incident], at_s: Option<f64>) -> Option<&Incident> {
    let Some(at_s) = at_s else {
        let kills = |one: &&Incident| one.kills > 0 || !one.reports.is_empty();
        return incidents.iter().rev().find(kills).or(incidents.last());
    };
    let away = |one: &Incident| {
        let (begin_s, end_s) = (one.begin.unix_s?, one.end.unix_s?);
        Some((begin_s - at_s).max(at_s - end_s).max(0.0))
    };
    let known = incidents.iter().filter(|one| away(one).is_some());
    known.min_by(|a, b| away(a).unwrap_or(0.0).total_cmp(&away(b).unwrap_or(0.0)))
}
