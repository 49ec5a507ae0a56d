//! Stretches of time in which tasks waited for memory, or were killed for it.
use crate::points::Point;
use serde::Serialize;

/// A stretch counts from this share of the time on in which every task waited.
const FULL: f64 = 0.1;
/// Or in which some task did.
const SOME: f64 = 0.4;
/// Stretches that are as near as this to each other are one. Seconds.
const NEAR_S: f64 = 15.0;
/// An episode has lost at least so many seconds, or a process. Below, nobody notices.
pub const LEAST_LOST_S: f64 = 0.5;
/// Seconds after the end that belong to the story.
pub const AFTER_S: f64 = 20.0;

/// One stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Episode {
    /// Seconds since 1970.
    pub begin_s: f64,
    pub end_s: f64,
    /// Seconds in which every task waited for memory, and in which some task did.
    pub lost_s: f64,
    pub some_s: f64,
    /// Of `lost_s`, what only the disks' pressure shows. A large file that is read twice looks like this, too.
    pub disk_s: f64,
    pub kills: u64,
}

impl Episode {
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.end_s - self.begin_s
    }
}

/// Every episode, by time.
#[must_use]
pub fn find(points: &[Point]) -> Vec<Episode> {
    let mut found: Vec<Episode> = Vec::new();
    for point in points {
        if !counts(point) {
            continue;
        }
        let begin_s = point.unix_s - point.dt_s;
        let one = Episode {
            begin_s,
            end_s: point.unix_s,
            lost_s: point.full * point.dt_s,
            some_s: point.some * point.dt_s,
            disk_s: point.disk * point.dt_s,
            kills: point.kills,
        };
        match found.last_mut() {
            Some(last) if begin_s - last.end_s <= NEAR_S => {
                last.end_s = one.end_s;
                last.lost_s += one.lost_s;
                last.some_s += one.some_s;
                last.disk_s += one.disk_s;
                last.kills += one.kills;
            }
            _ => found.push(one),
        }
    }
    found.retain(|one| {
        one.kills > 0 || one.lost_s >= LEAST_LOST_S || one.some_s >= 2.0 * LEAST_LOST_S
    });
    found
}

/// Whether tasks waited so much, or one was killed, that the time is part of an episode.
#[must_use]
pub fn counts(point: &Point) -> bool {
    point.full >= FULL || point.some >= SOME || point.kills > 0
}

/// The episode that a person asks for: the one at this time or nearest to it, or else the last that lost a process, or a
/// second by the pressure of memory, or else the last.
#[must_use]
pub fn choose(found: &[Episode], at_s: Option<f64>) -> Option<&Episode> {
    let Some(at_s) = at_s else {
        let heavy = |one: &&Episode| one.kills > 0 || one.lost_s - one.disk_s >= 1.0;
        return found.iter().rev().find(heavy).or(found.last());
    };
    let away = |one: &Episode| (one.begin_s - at_s).max(at_s - one.end_s).max(0.0);
    found.iter().min_by(|a, b| away(a).total_cmp(&away(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(unix_s: f64, full: f64) -> Point {
        Point {
            unix_s,
            dt_s: 1.0,
            full,
            some: full,
            ..Point::default()
        }
    }

    #[test]
    fn stretches_that_are_near_are_one() {
        let mut points: Vec<Point> = (0..300).map(|s| point(f64::from(s), 0.0)).collect();
        for at in [100, 101, 110, 200] {
            points[at].full = 0.8;
        }
        points[250].kills = 1;
        points[280].full = 0.2;
        let found = find(&points);
        let times: Vec<_> = found
            .iter()
            .map(|one| (one.begin_s, one.end_s, one.kills))
            .collect();
        assert_eq!(
            times,
            [(99.0, 110.0, 0), (199.0, 200.0, 0), (249.0, 250.0, 1)]
        );
        assert!((found[0].lost_s - 2.4).abs() < 1e-9);
        assert_eq!(choose(&found, None), Some(&found[2]));
        assert_eq!(choose(&found, Some(105.0)), Some(&found[0]));
        assert_eq!(choose(&found, Some(190.0)), Some(&found[1]));
        assert_eq!(choose(&[], None), None);
        // What only disks show is not what a person asks for.
        (points[299].full, points[299].disk) = (1.0, 1.0);
        let found = find(&points);
        assert_eq!(found.len(), 4);
        assert_eq!(choose(&found, None), Some(&found[2]));
    }
}
