//! Why did the machine freeze? Records of a machine in, the story of a freeze out.
//!
//! * [`points`]: what changed from each record to the next.
//! * [`episode`]: stretches of time in which tasks waited for memory, or were killed for it.
//! * [`growth`]: who took the memory; [`courses`]: the memory of each of them over time.
//! * [`verdict`]: what kind of shortage it was, whose, and what to do.
//! * [`words`]: the story in sentences.
//! * [`foresight`]: the first moment at which it could be foreseen.
//! * [`klog`]: the same from a kernel's log, where there are no records.
//! * [`remedies`]: what would have helped.
//! * [`compose`]: the same pressure as an experiment of the lab.
//!
//! Pure: no I/O and no clock.
pub mod compose;
pub mod courses;
pub mod episode;
pub mod foresight;
pub mod growth;
pub mod klog;
pub mod points;
pub mod remedies;
mod reread;
pub mod verdict;
pub mod words;

use courses::Course;
use episode::Episode;
use flight::Record;
use foresight::Foresight;
use growth::Growth;
use points::Point;
use serde::Serialize;
use verdict::{Kind, Verdict, Waited};

/// The story of one episode.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    pub episode: Episode,
    pub growth: Growth,
    pub verdict: Verdict,
    pub foresight: Option<Foresight>,
    /// From the calm before to the end.
    #[serde(skip)]
    pub points: Vec<Point>,
    /// Those who grew most, most first.
    #[serde(skip)]
    pub courses: Vec<Course>,
    /// Cgroups by the time for which their tasks waited, most first.
    #[serde(skip)]
    pub waiting: Vec<Waited>,
}

/// Seconds of calm that are looked at before an episode.
pub const BEFORE_S: f64 = 900.0;

/// Tells an episode's story. `records`: of one boot, by time. `page_size`: bytes.
#[must_use]
pub fn tell(records: &[Record], page_size: u64, episode: &Episode) -> Story {
    let begin_s = episode.begin_s - BEFORE_S;
    let end_s = episode.end_s + episode::AFTER_S;
    let near: Vec<Record> = records
        .iter()
        .filter(|record| (begin_s..=end_s).contains(&record.unix_s))
        .cloned()
        .collect();
    let points = points::of(&near, page_size);
    let growth = growth::find(&near, &points, episode);
    let verdict = verdict::judge(&near, &points, episode, &growth);
    let courses = courses::of(&near, &points, &growth);
    // What the machine had left tells nothing of a cgroup's own limit, or of free memory in pieces.
    let foresight = match verdict.kind {
        Kind::CgroupLimit | Kind::Fragmentation => None,
        _ => foresight::find(&points, episode),
    };
    Story {
        episode: *episode,
        growth,
        verdict,
        foresight,
        points,
        courses,
        waiting: verdict::waiting(&near, episode),
    }
}
