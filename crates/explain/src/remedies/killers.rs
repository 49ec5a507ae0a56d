//! Who ends a program, and when: the kernel alone, earlyoom, hotsetd.
//!
//! Assumptions:
//!
//! * A kill at a moment of the record ends the waiting when the victim's memory is back, and what was evicted has been
//!   read again. What was waited until then is as recorded.
//! * The record knows a moment as exactly as its samples lie apart.
//! * hotsetd's writes and requests, in the record, changed the waiting by nothing that counts; its kills did.
//! * SIGTERM ends the victim at once.
use super::course::{Ahead, Course};
use super::remedy::{Change, Estimate, Remedy};
use crate::growth::Who;
use crate::points::Point;
use crate::words::{name_of, seconds};
use units::format_bytes;

/// earlyoom's defaults: SIGTERM where available memory and free swap are both at most this share (earlyoom(1), -m, -s).
const EARLYOOM: f64 = 0.10;
/// It looks at least once a second (`poll_loop`, earlyoom's main.c).
const EARLYOOM_POLL_S: f64 = 1.0;
/// hotsetd kills where no task got on for this share of so many seconds: `WAITED` and `WAITED_S` of policy's exhaustion.
const WAITED: f64 = 0.5;
/// And where file pages last no longer than this: `AT_ONCE_S` there.
const AT_ONCE_S: f64 = 1.0;
const WAITED_S: f64 = 5.0;

/// The kernel alone: what would have come without hotsetd.
pub fn nothing(course: &Course) -> Remedy {
    let name = "no daemon: the kernel alone".to_owned();
    let judged =
        |estimate, why| Remedy::judged(Change::Nothing, name.clone(), course.was_s, estimate, why);
    let Some(kill_s) = killed_by_hotsetd(course) else {
        let why = "hotsetd killed nobody: this is what came".to_owned();
        return judged(Estimate::just(course.was_s), why);
    };
    let at = course
        .points()
        .take_while(|point| point.unix_s < kill_s)
        .last();
    let rest = at.map_or(0, |point| {
        let memory = &point.memory;
        memory.free + memory.file + memory.swap_free
    });
    let Some(growing) = course.growing() else {
        return Remedy::unknown(
            Change::Nothing,
            name,
            "hotsetd's kill ended it; nobody grew, so when the kernel would have killed is not known",
        );
    };
    // All of what was left would have been waited for at most.
    let more_s = rest as f64 / growing.rate;
    let estimate = Estimate::between(course.was_s, course.was_s + more_s);
    let why = format!(
        "hotsetd's kill ended it; alone the kernel takes the last {} first, up to {} more",
        format_bytes(rest as f64),
        seconds(more_s)
    );
    judged(estimate, why)
}

/// When hotsetd killed. `None`: it did not.
fn killed_by_hotsetd(course: &Course) -> Option<f64> {
    let killed = course.waiting().filter(|point| point.kills_by_us > 0);
    killed.last().map(|point| point.unix_s)
}

/// earlyoom with its defaults.
pub fn earlyoom(course: &Course) -> Remedy {
    let name = "earlyoom with its defaults".to_owned();
    let judged =
        |estimate, why| Remedy::judged(Change::Earlyoom, name.clone(), course.was_s, estimate, why);
    let due = |point: &Point| {
        let memory = &point.memory;
        memory.available as f64 <= EARLYOOM * memory.total as f64
            && memory.swap_free as f64 <= EARLYOOM * memory.swap as f64
    };
    let Some(at) = course.first(due) else {
        let why = "it kills at 10% of memory and of swap, and as little was never left".to_owned();
        return judged(Estimate::just(course.was_s), why);
    };
    let low_s = course.lost_until(at.unix_s - at.dt_s);
    let victim = largest(course, at.unix_s);
    let before_s = course.story.episode.begin_s - at.unix_s;
    let when = match before_s > 0.0 {
        true => format!("{} before the waiting began", seconds(before_s)),
        false => format!("{} into the waiting", seconds(-before_s)),
    };
    if !victim.is_culprit && course.growing().is_some() {
        let why = format!(
            "it kills {when}, but {} is the largest then, which did not take the memory",
            victim.name
        );
        return judged(Estimate::between(low_s, course.was_s), why);
    }
    let high_s = course.lost_when_ended(at.unix_s + EARLYOOM_POLL_S, victim.bytes);
    let why = format!(
        "10% of memory and of swap were left {when}: it ends {}",
        victim.name
    );
    judged(Estimate::between(low_s, high_s), why)
}

/// hotsetd out of the box.
///
/// It kills where swap is full, free pages are under high, and file pages end within a second: at the first such moment of
/// the record, or at the latest when no task got on for half of five seconds. What it has reclaimed ahead, nobody
/// waits for: the lower bound is less by the share of direct reclaim that it asked for before. Protection can take away
/// more: see [`least_with_hotsetd`].
pub fn hotsetd(course: &Course, ahead: Option<&Ahead>) -> Remedy {
    let name = "hotsetd out of the box".to_owned();
    let judged =
        |estimate, why| Remedy::judged(Change::Hotsetd, name.clone(), course.was_s, estimate, why);
    if killed_by_hotsetd(course).is_some() {
        let why = "hotsetd ran, and killed: this is what came".to_owned();
        return judged(Estimate::just(course.was_s), why);
    }
    let foretold = foretold(course, ahead);
    let keeps = 1.0 - reclaimed_ahead(course, ahead);
    let kept_s = least_with_hotsetd(course);
    let rate = course.growing().map_or(0.0, |growing| growing.rate);
    let exhausted = course.first(|point| {
        Course::swap_is_full(point)
            && point.memory.free <= point.memory.high.max(1)
            && point.memory.file as f64 <= rate * AT_ONCE_S
    });
    let Some(at) = exhausted else {
        let why = match course.waiting().any(Course::swap_is_full) {
            true => format!("it kills nobody: memory did not end within a second; {foretold}"),
            false => format!("it kills nobody while swap is free; {foretold}"),
        };
        let estimate = Estimate::between(kept_s * keeps, course.was_s);
        return judged(estimate, why);
    };
    let late_s = waited_for_long(course, at.unix_s).unwrap_or(course.story.episode.end_s);
    let victim = largest(course, late_s);
    let low_s = course.lost_until(at.unix_s - at.dt_s).min(kept_s) * keeps;
    let high_s = course.lost_when_ended(late_s, victim.bytes);
    let why = format!(
        "swap and memory were used up {} into the waiting, when it kills; {foretold}",
        seconds((at.unix_s - course.story.episode.begin_s).max(0.0))
    );
    judged(Estimate::between(low_s, high_s), why)
}

/// Seconds of waiting that the learned floor cannot take away. It is not in a record, so nothing is sure but what was
/// waited while no file page was read again.
pub fn least_with_hotsetd(course: &Course) -> f64 {
    course.lost_where(|point| point.rates.refault_file == 0.0)
}

/// The share of direct reclaim in the episode that hotsetd's policy asked for, 0 to 1.
fn reclaimed_ahead(course: &Course, ahead: Option<&Ahead>) -> f64 {
    let stolen: f64 = course
        .waiting()
        .map(|point| point.rates.stolen_direct * point.dt_s)
        .sum();
    let asked = ahead.map_or(0.0, |ahead| ahead.bytes as f64);
    match stolen > 0.0 {
        true => (asked / stolen).min(1.0),
        false => 0.0,
    }
}

fn foretold(course: &Course, ahead: Option<&Ahead>) -> String {
    match ahead {
        None => "the record has no whole samples for its policy".into(),
        Some(Ahead {
            foretold_s: Some(at_s),
            bytes,
            ..
        }) => format!(
            "its policy foretold it {} before and asks for {} of reclaim",
            seconds((course.story.episode.begin_s - at_s).max(0.0)),
            format_bytes(*bytes as f64)
        ),
        Some(ahead) => format!(
            "its policy asks for {} of reclaim",
            format_bytes(ahead.bytes as f64)
        ),
    }
}

/// The first moment after `from_s` at which no task got on for half of five seconds.
fn waited_for_long(course: &Course, from_s: f64) -> Option<f64> {
    let waited = |end_s: f64| {
        let inside = course.points().filter(|point| {
            (end_s - WAITED_S..=end_s).contains(&(point.unix_s - point.dt_s / 2.0))
        });
        inside.map(|point| point.full * point.dt_s).sum::<f64>()
    };
    let after = course.points().filter(|point| point.unix_s >= from_s);
    let ends = after.map(|point| point.unix_s);
    ends.filter(|end_s| waited(*end_s) >= WAITED * WAITED_S)
        .reduce(f64::min)
}

struct Victim {
    name: String,
    /// At its peak.
    bytes: u64,
    is_culprit: bool,
}

/// The program with most memory at a time: the one that the kernel and daemons end.
fn largest(course: &Course, at_s: f64) -> Victim {
    // Between the calm and its peak a program is taken to grow in a line.
    let bytes_at = |taker: &crate::growth::Taker| {
        let grown_s = (at_s - taker.since_s) / (taker.peak_s - taker.since_s).max(0.1);
        taker.had as f64 + taker.grew() as f64 * grown_s.clamp(0.0, 1.0)
    };
    let takers = course.story.growth.takers.iter();
    let programs = takers.filter(|taker| matches!(taker.who, Who::Program { .. }));
    let found = programs.max_by(|a, b| bytes_at(a).total_cmp(&bytes_at(b)));
    let culprit = course.story.verdict.culprit.as_ref();
    match found {
        Some(taker) => Victim {
            name: name_of(&taker.who),
            bytes: taker.has,
            is_culprit: culprit.is_some_and(|culprit| culprit.who == taker.who),
        },
        None => Victim {
            name: "the largest program".into(),
            bytes: 0,
            is_culprit: course.growing().is_none(),
        },
    }
}
