//! More room: memory, zram, a smaller pool of huge pages.
//!
//! Assumptions:
//!
//! * A growth that went on until a kill goes on by half as much again, at its rate. Room of M bytes shifts the
//!   exhaustion by M / rate, and the same freeze comes, the larger the memory the longer. Whether a growth fills more
//!   room than that nobody can tell.
//! * A growth that stopped, and programs that did not grow, need what was missing and no more: what lay in swap, and
//!   evicted pages that the kernel remembers. That is an upper bound: some of it nobody needs again.
//! * zram holds 2 to 4 bytes in one. What is used all the time waits there too, for the compressor. All that fits in goes
//!   there and comes back once, at most 50 us a page each way; while it fills, everything may stand still.
use super::course::{Course, Growing};
use super::remedy::{Change, Estimate, Remedy};
use crate::verdict::Kind;
use crate::words::seconds;
use units::format_bytes;

/// Machines of at least so much get as much more; smaller ones twice as much. Bytes.
const MORE: u64 = 4 << 30;
/// The most zram, and its share of memory where that is less. Bytes.
const ZRAM: u64 = 2 << 30;
const ZRAM_SHARE: u64 = 2;
/// Bytes that zram holds in one: lzo-rle and zstd, of programs' heaps (Documentation/admin-guide/blockdev/zram.rst).
const RATIO: (f64, f64) = (2.0, 4.0);

/// Of a growth whose end nobody saw: two of three go on by so much more, as lengths without a scale do (the chance to
/// outlast x times what one has had is 1 / x).
const GOES_ON: f64 = 0.5;
/// Seconds to compress 4 KiB or to read them back, at most: lzo-rle on the slowest machines here.
const COMPRESSED_S: f64 = 50e-6;
/// These bytes.
const PAGE: f64 = 4096.0;

/// Bytes that are gained, at least and at most, and seconds of waiting that come with them at most.
struct Room {
    least: f64,
    most: f64,
    waits_s: f64,
}

impl Room {
    fn of(bytes: f64) -> Room {
        Room {
            least: bytes,
            most: bytes,
            waits_s: 0.0,
        }
    }
}

/// Twice the memory, or 4 GiB more.
pub fn memory(course: &Course) -> Remedy {
    let total = course.total() as u64;
    let more = total.min(MORE);
    let name = match more == total {
        true => format!("twice the memory ({})", format_bytes(2.0 * total as f64)),
        false => format!("{} more memory", format_bytes(more as f64)),
    };
    let cannot = match course.story.verdict.kind {
        Kind::CgroupLimit => Some("a cgroup was at its own limit; the machine had memory left"),
        Kind::Fragmentation => Some("memory was free, but in pieces: there was no lack of it"),
        _ => None,
    };
    let found = match cannot {
        Some(why) => Remedy::judged(
            Change::Memory,
            name,
            course.was_s,
            Estimate::just(course.was_s),
            why.into(),
        ),
        None => with_room(course, Change::Memory, name, Room::of(more as f64)),
    };
    found.of_bytes(more)
}

/// zram of 2 GiB or half of memory, besides the swap that is there.
pub fn zram(course: &Course) -> Remedy {
    let size = ZRAM.min(course.total() as u64 / ZRAM_SHARE);
    let name = format!("zram of {}", format_bytes(size as f64));
    let judged = |estimate, why: &str| {
        Remedy::judged(
            Change::Zram,
            name.clone(),
            course.was_s,
            estimate,
            why.into(),
        )
    };
    let kind = course.story.verdict.kind;
    let no_anon = match kind {
        Kind::Fragmentation => Some("memory was free, but in pieces"),
        Kind::Kernel => Some("the kernel's own memory cannot be swapped"),
        _ => None,
    };
    let found = match no_anon {
        Some(why) => judged(Estimate::just(course.was_s), why),
        None if kind == Kind::CgroupLimit => {
            let why = "what the cgroup needs beyond its limit would go there, and wait for the compressor";
            judged(Estimate::between(0.0, course.was_s), why)
        }
        None if course.growing().is_none() => {
            let why = "whether the programs' pages are used all the time the record does not tell: in zram they wait too";
            judged(Estimate::between(0.0, course.was_s), why)
        }
        None => {
            // More than the programs have cannot go there.
            let most = (size as f64).min(course.story.verdict.in_it.anon);
            let net = |ratio: f64| most * (ratio - 1.0) / ratio;
            // Each page of it is compressed and read back once. While it fills, all may stand still.
            let fills_s = course.growing().map_or(0.0, |growing| most / growing.rate);
            let waits_s = 2.0 * most / PAGE * COMPRESSED_S + fills_s;
            let room = Room {
                least: net(RATIO.0),
                most: net(RATIO.1),
                waits_s,
            };
            with_room(course, Change::Zram, name.clone(), room)
        }
    };
    found.of_bytes(size)
}

/// No pool of huge pages, where it lay unused.
pub fn pool(course: &Course) -> Option<Remedy> {
    let free = course.story.verdict.in_it.hugetlb_free;
    if course.story.verdict.kind != Kind::HugePages {
        return None;
    }
    let name = "a pool without the unused huge pages".to_owned();
    Some(with_room(course, Change::Pool, name, Room::of(free)).of_bytes(free as u64))
}

/// With between so many and so many bytes more.
fn with_room(course: &Course, change: Change, name: String, room: Room) -> Remedy {
    let judged = |estimate, why| Remedy::judged(change, name.clone(), course.was_s, estimate, why);
    if let Some(growing) = course.growing().filter(|growing| growing.until_killed) {
        let (estimate, why) = later(course, &growing, &room);
        return judged(estimate, why);
    }
    let Some(missing) = course.missing() else {
        let why = "how much was missing the record does not tell";
        return Remedy::unknown(change, name, why);
    };
    let missing_text = format_bytes(missing as f64);
    if missing as f64 <= room.least {
        let why = format!("at most {missing_text} were missing, and fit in");
        return judged(Estimate::between(0.0, room.waits_s), why);
    }
    let why = format!(
        "up to {missing_text} were missing, and {} are gained; how much of it is needed the record does not tell",
        format_bytes(room.least)
    );
    judged(Estimate::between(0.0, course.was_s + room.waits_s), why)
}

/// A growth that went on until a kill.
fn later(course: &Course, growing: &Growing, room: &Room) -> (Estimate, String) {
    let (soonest_s, latest_s) = (room.least / growing.rate, room.most / growing.rate);
    let larger = 1.0 + room.most / course.total().max(1.0);
    let high_s = course.was_s * larger + room.waits_s;
    let grew = growing.taker.grew() as f64;
    if room.most <= GOES_ON * grew {
        let estimate = Estimate::between(course.was_s, high_s);
        let why = format!(
            "it grew until it was killed: the same comes {} later",
            match latest_s - soonest_s < 1.0 {
                true => seconds(latest_s),
                false => format!("{} to {}", seconds(soonest_s), seconds(latest_s)),
            }
        );
        return (estimate, why);
    }
    let estimate = Estimate::between(0.0, high_s);
    let why = format!(
        "it grew by {} until it was killed: whether it stops within {} more nobody saw",
        format_bytes(grew),
        format_bytes(room.most)
    );
    (estimate, why)
}
