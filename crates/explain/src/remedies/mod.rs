//! What would have helped: the same minutes with other settings, daemons and memory.
//!
//! A model of what the record shows, with nothing fitted. Each file states what it takes for granted:
//!
//! * [`course`]: the waiting over time, and the growth.
//! * [`killers`]: no daemon, earlyoom and hotsetd, which end a program at a moment that the record shows.
//! * [`keeping`]: a floor under file pages, and MGLRU's min_ttl_ms.
//! * [`room`]: more memory, zram, a smaller pool of huge pages.
//! * [`limits`]: a limit on the culprit, or a higher one on a cgroup.
//! * [`remedy`]: estimates, and the answer that follows from their bounds.
//!
//! For all of them: programs do what they did in the record until a change would have shown. A program that is ended
//! does not start again, unless it did in the record: then nothing is sure.
pub mod course;
pub(crate) mod keeping;
mod killers;
mod limits;
pub mod remedy;
mod room;

use crate::episode::LEAST_LOST_S;
use crate::Story;
use course::{Ahead, Course};
use remedy::{Answer, Change, Remedy};

/// Every change, best first. `ahead`: what hotsetd's policy would have asked for, where it could be run.
#[must_use]
pub fn find(story: &Story, ahead: Option<&Ahead>) -> Vec<Remedy> {
    let course = Course::new(story);
    let mut found = vec![
        killers::nothing(&course),
        killers::earlyoom(&course),
        killers::hotsetd(&course, ahead),
        keeping::floor(&course),
        keeping::min_ttl(&course),
        room::zram(&course),
        room::memory(&course),
        limits::limit(&course),
    ];
    found.extend(room::pool(&course));
    found.extend(limits::raise(&course));
    if course.was_s < LEAST_LOST_S {
        found.iter_mut().for_each(too_short);
    }
    if course.comes_back() {
        found.iter_mut().for_each(starts_again);
    }
    let rank = |remedy: &Remedy| match remedy.answer {
        Answer::Helps => 0,
        Answer::CannotTell => 1,
        Answer::DoesNotHelp => 2,
    };
    let lost = |remedy: &Remedy| remedy.estimate.map_or(f64::MAX, |found| found.lost_s);
    found.sort_by(|a, b| {
        let answers = rank(a).cmp(&rank(b));
        answers.then(lost(a).total_cmp(&lost(b)))
    });
    found
}

/// Says why what ends a program is not sure to help.
fn starts_again(remedy: &mut Remedy) {
    let ends_it = matches!(
        remedy.change,
        Change::Earlyoom | Change::Hotsetd | Change::Floor | Change::MinTtl | Change::Limit
    );
    if ends_it && remedy.answer == Answer::CannotTell {
        remedy.why += "; but what was killed started again";
    }
}

/// Where hardly anything waited there is nothing to shorten. What ends a program itself spares nobody.
fn too_short(remedy: &mut Remedy) {
    let spares = matches!(
        remedy.change,
        Change::Memory | Change::Zram | Change::Pool | Change::RaisedLimit
    );
    if remedy.answer == Answer::Helps && !spares {
        remedy.answer = Answer::DoesNotHelp;
        remedy.why = "hardly anything waited, and this ends a program too".into();
    }
}
