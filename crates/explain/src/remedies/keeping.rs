//! What keeps pages in memory: a floor under clean file pages, and MGLRU's min_ttl_ms.
//!
//! Assumptions:
//!
//! * While file pages are fewer than the floor, all waiting is for file pages that the floor would have kept. After a kill,
//!   too: what the floor has kept need not be read again.
//! * Above the floor it changes nothing.
//! * At the floor, with swap full, a program is ended at once; with swap left, anonymous pages go in place of file
//!   pages, and may be waited for as much.
use super::course::Course;
use super::killers::least_with_hotsetd;
use super::remedy::{Change, Estimate, Remedy};
use crate::points::Point;
use units::format_bytes;

/// The floor, as a share of memory.
pub(crate) const FLOOR: f64 = 0.10;
/// Refaults a second that count, as of `Kind::CacheThrash`. Pages.
const REFAULTS: f64 = 10.0;
/// A part of the waiting that is less than this is left out of account: what is left is no shorter.
const PART: f64 = 1.0 - super::remedy::SHORTER;
/// `min_ttl_ms` of 1000. Seconds.
pub(crate) const TTL_S: f64 = 1.0;

/// A hard floor of 10% under clean file pages.
pub fn floor(course: &Course) -> Remedy {
    let bytes = FLOOR * course.total();
    let name = format!("a floor of 10% ({}) for file pages", format_bytes(bytes));
    let judged = |estimate, why: String| {
        let found = Remedy::judged(Change::Floor, name.clone(), course.was_s, estimate, why);
        found.of_bytes(bytes as u64)
    };
    let in_it = &course.story.verdict.in_it;
    if in_it.refault_file < REFAULTS {
        let why = "hardly any file page was read again".to_owned();
        return judged(Estimate::just(course.was_s), why);
    }
    let is_below = |point: &Point| (point.memory.file as f64) < bytes;
    let below_s = course.lost_where(is_below);
    let share = below_s / course.was_s.max(1e-9);
    if share < PART {
        let why = format!(
            "file pages stayed above it for {:.0}% of the waiting",
            100.0 * (1.0 - share)
        );
        return judged(Estimate::just(course.was_s - below_s), why);
    }
    let spent = course.first(|point| is_below(point) && Course::swap_is_full(point));
    let Some(spent) = spent else {
        let why = "file pages fell below it, but swap was left: programs' pages would go instead";
        // hotsetd, which can keep the floor too, does more than that.
        let low_s = (course.was_s - below_s).min(least_with_hotsetd(course));
        let estimate = Estimate::between(low_s, course.was_s);
        return judged(estimate, why.into());
    };
    let before_s = course.lost_until(spent.unix_s);
    let kept_s = course.lost_where(|point| is_below(point) && point.unix_s <= spent.unix_s);
    let again_s = match course.kill_s() {
        Some(kill_s) if !course.comes_back() => {
            course.lost_where(|point| is_below(point) && point.unix_s > kill_s)
        }
        _ => 0.0,
    };
    let ended_s = course.lost_when_ended(spent.unix_s + spent.dt_s, course.culprit_bytes());
    let high_s = (ended_s - again_s).max(0.0);
    let estimate = Estimate::between(before_s - kept_s, high_s);
    let why = "file pages fell below it with no swap left: a program is ended there, before files are read again";
    judged(estimate, why.into())
}

/// MGLRU's min_ttl_ms of 1000: it kills where pages of the last second would have to go.
///
/// At the earliest it kills when file pages are read again. At the latest when reclaim takes, within that second, as
/// many pages as there are that it can take.
pub fn min_ttl(course: &Course) -> Remedy {
    let name = "MGLRU with min_ttl_ms 1000".to_owned();
    let judged = |estimate, why: &str| {
        Remedy::judged(
            Change::MinTtl,
            name.clone(),
            course.was_s,
            estimate,
            why.into(),
        )
    };
    let begin_s = course.story.episode.begin_s;
    let early = course.first(|point| point.unix_s > begin_s && refaults(point) >= REFAULTS);
    let late = course.first(|point| {
        let memory = &point.memory;
        let anon = if Course::swap_is_full(point) {
            0
        } else {
            memory.anon
        };
        let young = point.rates.stolen * TTL_S;
        point.unix_s > begin_s && young >= (memory.file + anon) as f64
    });
    let until =
        |point: &Point| course.lost_when_ended(point.unix_s + TTL_S, course.culprit_bytes());
    match (early, late) {
        (None, None) => judged(
            Estimate::just(course.was_s),
            "no page was needed again within a second",
        ),
        (early, Some(late)) => {
            let first = early.map_or(late.unix_s, |early| early.unix_s.min(late.unix_s));
            let estimate = Estimate::between(course.lost_until(first), until(late));
            judged(
                estimate,
                "all that could be reclaimed went within a second: it kills then",
            )
        }
        (Some(early), None) => {
            let estimate = Estimate::between(course.lost_until(early.unix_s), course.was_s);
            judged(
                estimate,
                "pages were read again, but of what age they were the record does not tell",
            )
        }
    }
}

fn refaults(point: &Point) -> f64 {
    point.rates.refault_file + point.rates.refault_anon
}
