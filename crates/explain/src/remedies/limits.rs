//! Limits of cgroups: a new one on the culprit, or a higher one where a cgroup reached its own.
//!
//! Assumptions:
//!
//! * The culprit grew in a line from when its growth began.
//! * At its limit it is ended where no swap is left. Else it swaps on its own, and while the others sleep that counts as
//!   a standstill: `full` of PSI leaves out tasks that want nothing.
use super::course::Course;
use super::remedy::{Change, Estimate, Remedy};
use crate::growth::{Taker, Who};
use crate::verdict::Kind;
use crate::words::{name_of, seconds};
use units::format_bytes;

/// What it had in the calm, and half of it more.
const LIMIT: f64 = 1.5;
/// One that was not there in the calm has no measure of its own: half of the memory that was left then.
const OF_LEFT: f64 = 0.5;

/// Seconds between two counts of programs in calm times (hotsetd's flight recorder).
const COUNTED_S: f64 = 60.0;

/// MemoryMax= for the culprit.
pub fn limit(course: &Course) -> Remedy {
    let verdict = &course.story.verdict;
    let name = "a limit (MemoryMax=) on the program".to_owned();
    let unknown = |why: &str| Remedy::unknown(Change::Limit, name.clone(), why);
    let taker = match (&verdict.culprit, verdict.kind) {
        (_, Kind::CgroupLimit) => {
            let why = "the cgroup had a limit, and reached it".to_owned();
            let estimate = Estimate::just(course.was_s);
            return Remedy::judged(Change::Limit, name, course.was_s, estimate, why);
        }
        (Some(taker), _) if matches!(taker.who, Who::Program { .. }) => taker,
        (Some(taker), Kind::Crowd) => {
            let why = format!("for {} one unit must hold them all", name_of(&taker.who));
            return unknown(&why);
        }
        (Some(taker), _) => {
            let why = format!("{} belong to no program", name_of(&taker.who));
            let estimate = Estimate::just(course.was_s);
            return Remedy::judged(Change::Limit, name, course.was_s, estimate, why);
        }
        (None, _) => return unknown("the record names no program"),
    };
    let bytes = most(course, taker);
    let name = format!(
        "a limit of {} on {}",
        format_bytes(bytes),
        name_of(&taker.who)
    );
    judged(course, taker, name, bytes).of_bytes(bytes as u64)
}

/// The limit that is tried. Bytes.
fn most(course: &Course, taker: &Taker) -> f64 {
    match taker.had {
        0 => OF_LEFT * course.calm_available() as f64,
        had => LIMIT * had as f64,
    }
}

fn judged(course: &Course, taker: &Taker, name: String, bytes: f64) -> Remedy {
    let answer =
        |estimate, why| Remedy::judged(Change::Limit, name.clone(), course.was_s, estimate, why);
    if taker.has as f64 <= bytes {
        let why = format!("it had {} at most", format_bytes(taker.has as f64));
        return answer(Estimate::just(course.was_s), why);
    }
    let rate = course
        .growing()
        .map_or(taker.rate(), |growing| growing.rate);
    let reached_s = taker.since_s + (bytes - taker.had as f64) / rate.max(1.0);
    let before_s = course.story.episode.begin_s - reached_s;
    // In calm times programs are counted once a minute: it may have been as large earlier.
    let low_s = course.lost_until(reached_s - COUNTED_S);
    let swaps_s = swaps_s(course, reached_s, rate);
    let high_s = match course.comes_back() {
        true => course.was_s + swaps_s,
        false => course.lost_until(reached_s) + swaps_s,
    };
    let why = match before_s > 0.0 {
        true => format!(
            "it reaches that {} before the waiting began",
            seconds(before_s)
        ),
        false => format!("it reaches that {} into the waiting", seconds(-before_s)),
    };
    let why = match taker.had {
        0 => format!("{why}; half of what was left in the calm"),
        _ => why,
    };
    let why = match swaps_s > 0.0 {
        true => format!("{why}, and swaps on its own for up to {}", seconds(swaps_s)),
        false => why,
    };
    answer(Estimate::between(low_s, high_s), why)
}

/// Seconds for which a program at its limit swaps instead of being ended, at most: until swap is full, or it ends.
fn swaps_s(course: &Course, reached_s: f64, rate: f64) -> f64 {
    let Some(at) = course.first(|point| point.unix_s >= reached_s) else {
        return 0.0;
    };
    let rest_s = course.story.episode.end_s - reached_s;
    let full_s = at.memory.swap_free as f64 / rate.max(1.0);
    match (Course::swap_is_full(at), course.growing()) {
        (true, _) => 0.0,
        // What it needs beyond its limit comes and goes, as long as it runs.
        (false, Some(growing)) if growing.until_killed => full_s.min(rest_s),
        (false, _) => rest_s,
    }
}

/// A limit that is half as much higher, where a cgroup reached its own.
pub fn raise(course: &Course) -> Option<Remedy> {
    let verdict = &course.story.verdict;
    let waited = verdict.waited.as_ref().filter(|one| one.limit > 0)?;
    if verdict.kind != Kind::CgroupLimit {
        return None;
    }
    let bytes = LIMIT * waited.limit as f64;
    let name = format!("a limit of {} for {}", format_bytes(bytes), waited.name);
    let gained = (bytes - waited.limit as f64).min(verdict.in_it.available);
    let found = match course.missing() {
        Some(missing) if missing as f64 <= gained => {
            let why = format!(
                "at most {} were missing, and the machine has them",
                format_bytes(missing as f64)
            );
            Remedy::judged(
                Change::RaisedLimit,
                name,
                course.was_s,
                Estimate::just(0.0),
                why,
            )
        }
        Some(missing) => {
            let why = format!(
                "up to {} were missing, and {} are gained",
                format_bytes(missing as f64),
                format_bytes(gained)
            );
            let estimate = Estimate::between(0.0, course.was_s);
            Remedy::judged(Change::RaisedLimit, name, course.was_s, estimate, why)
        }
        None => Remedy::unknown(
            Change::RaisedLimit,
            name,
            "how much was missing the record does not tell",
        ),
    };
    Some(found.of_bytes(bytes as u64))
}
