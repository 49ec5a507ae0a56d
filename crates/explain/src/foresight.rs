//! The first moment at which the shortage could be foreseen.
use crate::episode::Episode;
use crate::points::Point;
use serde::Serialize;

/// A forecast that counts says that memory ends within so many seconds.
const WITHIN_S: f64 = 60.0;
/// Points that the line is drawn through: the seconds before.
const OVER_S: f64 = 15.0;
/// A forecast must hold for so many seconds: one that comes and goes warns nobody.
const HOLDS_S: f64 = 3.0;

/// A forecast.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Foresight {
    /// When it could first be made, seconds since 1970, and how long before the episode.
    pub at_s: f64,
    pub before_s: f64,
    /// What was left then, bytes, and by how much it fell, bytes a second.
    pub left: u64,
    pub falls: f64,
}

/// Finds it. `None`: what was left never fell towards its end before the episode.
#[must_use]
pub fn find(points: &[Point], episode: &Episode) -> Option<Foresight> {
    let before: Vec<&Point> = points
        .iter()
        .filter(|point| point.unix_s <= episode.begin_s)
        .collect();
    let mut held: Option<Foresight> = None;
    for (at, point) in before.iter().enumerate() {
        let from = before[..at]
            .iter()
            .rfind(|old| point.unix_s - old.unix_s >= OVER_S)
            .or(before[..at].first());
        let falls = from.map_or(0.0, |old| {
            let fell = old.memory.left() as f64 - point.memory.left() as f64;
            fell / (point.unix_s - old.unix_s).max(1.0)
        });
        let left = point.memory.left();
        if falls > 0.0 && left as f64 / falls <= WITHIN_S {
            held.get_or_insert(Foresight {
                at_s: point.unix_s,
                before_s: episode.begin_s - point.unix_s,
                left,
                falls,
            });
        } else {
            held = None;
        }
    }
    held.filter(|held| held.before_s >= HOLDS_S)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Memory;

    #[test]
    fn memory_that_falls_in_a_line_is_foreseen_a_minute_ahead() {
        let left = |second: u64| 10_000_u64 - 100 * second.saturating_sub(20).min(99);
        let points: Vec<Point> = (0..120)
            .map(|second| Point {
                unix_s: second as f64,
                memory: Memory {
                    available: left(second),
                    ..Memory::default()
                },
                ..Point::default()
            })
            .collect();
        let episode = Episode {
            begin_s: 119.0,
            end_s: 130.0,
            ..Episode::default()
        };
        let found = find(&points, &episode).unwrap();
        assert!((50.0..62.0).contains(&found.before_s), "{found:?}");
        assert!((found.falls - 100.0).abs() < 20.0);
        let calm = vec![points[0]; 50];
        assert_eq!(find(&calm, &episode), None);
    }
}
