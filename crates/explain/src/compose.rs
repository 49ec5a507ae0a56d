//! A freeze as an experiment for `hotset lab run`: the record's pressure on a small guest, as it was and with each
//! change.
//!
//! Sizes and rates are in proportion to memory, so shares and times are the record's. What a record does not tell is
//! taken for granted, and [`Composed::assumed`] says so.
use crate::growth::{Taker, Who};
use crate::points::{Memory, Point};
use crate::remedies::keeping::{FLOOR, TTL_S};
use crate::remedies::remedy::{Change, Remedy};
use crate::verdict::Kind;
use crate::Story;
use std::fmt::Write;

/// Memory of the guest at most: a freeze is then over in a minute or two. Bytes.
const GUEST: u64 = 512 << 20;
/// Seconds of calm before.
const CALM_S: f64 = 12.0;
/// The freeze lasts as long as in the record, within these. Seconds.
const FREEZE_S: [f64; 2] = [30.0, 90.0];
/// Growth that would take longer is faster in the guest. Seconds.
const GROWS_S: f64 = 40.0;
/// Programs besides the culprit are given this share of memory at most, so that the guest starts. Likewise files.
const MOST: f64 = 0.6;
/// Of a cgroup at its limit: what it wants, as a share of the limit. Reclaim that never ends means more than there is.
const WANTED: f64 = 1.3;
/// The least that a disk reads. Bytes a second.
const SLOWEST: f64 = 5e6;

/// The experiment.
pub struct Composed {
    pub toml: String,
    /// The arm without a change is `as-it-was`.
    pub arms: Vec<(Change, &'static str)>,
    /// Sentences without their full stops.
    pub assumed: Vec<String>,
}

/// The arm without a change.
pub const AS_IT_WAS: &str = "as-it-was";

/// Composes an episode. `page_size`: bytes.
///
/// # Errors
/// Why this kind of shortage is not composed: a sentence without its full stop.
pub fn compose(story: &Story, remedies: &[Remedy], page_size: u64) -> Result<Composed, String> {
    let calm = calm(story).ok_or("the record has no moment of calm before")?;
    let guest = Guest::of(story, calm, page_size);
    let taker = guest.taker()?;
    let mut toml = String::new();
    // Writing to a String cannot fail.
    let _ = guest.write(&mut toml, &taker);
    let mut arms = Vec::new();
    for remedy in remedies {
        if let Some((name, settings)) = guest.arm(remedy, &taker) {
            let _ = write!(
                toml,
                "\n[[arms]]\nname = \"{name}\"\nbaseline = \"{AS_IT_WAS}\"\n{COMMON}{settings}\n"
            );
            arms.push((remedy.change, name));
        }
    }
    Ok(Composed {
        toml,
        arms,
        assumed: guest.assumed(&taker),
    })
}

const COMMON: &str = "kernel = \"vanilla\"\nlru = \"mglru\"\n";

/// The last moment before the culprit began to grow, or the calm before.
fn calm(story: &Story) -> Option<&Point> {
    let culprit = story.verdict.culprit.as_ref();
    let at_s = culprit.map_or(story.growth.calm_s, |taker| {
        taker.since_s.max(story.growth.calm_s)
    });
    let known = || story.points.iter().filter(|point| point.memory.total > 0);
    known()
        .rfind(|point| point.unix_s <= at_s)
        .or(known().next())
}

/// What the culprit had at a moment, bytes.
fn had(story: &Story, at_s: f64) -> u64 {
    let Some(culprit) = &story.verdict.culprit else {
        return 0;
    };
    let course = story.courses.iter().find(|one| one.who == culprit.who);
    let points = course.map_or(&[][..], |course| &course.points);
    let then = points.iter().rfind(|(moment_s, _)| *moment_s <= at_s);
    then.map_or(culprit.had, |(_, bytes)| *bytes)
}

/// The guest, and what it is made from.
struct Guest<'a> {
    story: &'a Story,
    calm: Memory,
    /// Bytes that the culprit had then.
    had: u64,
    /// The guest's memory as a share of the record's.
    scale: f64,
    /// Bytes a second, of the guest's disk.
    disk: f64,
}

/// What brings the shortage about, as a line of `[workers.taker]`.
struct Pressure {
    does: String,
    /// How many times as fast as in the record it grows.
    faster: f64,
    /// A line of the worker besides: its cgroup, or its limit.
    more: String,
    /// The period of the reader of files. Milliseconds.
    read_ms: u32,
}

impl<'a> Guest<'a> {
    fn of(story: &'a Story, calm: &Point, page_size: u64) -> Guest<'a> {
        let scale = (GUEST as f64 / calm.memory.total as f64).min(1.0);
        let pages = |point: &Point| point.rates.refault_file + point.rates.swap_in;
        let fastest = story.points.iter().map(pages).fold(0.0, f64::max);
        Guest {
            story,
            calm: calm.memory,
            had: had(story, calm.unix_s),
            scale,
            disk: (fastest * page_size as f64 * scale).max(SLOWEST),
        }
    }

    fn scaled(&self, bytes: u64) -> u64 {
        (bytes as f64 * self.scale) as u64
    }

    /// Memory of the guest, bytes.
    fn memory(&self) -> u64 {
        self.scaled(self.calm.total)
    }

    /// The culprit, or else what programs use together.
    fn taker(&self) -> Result<Pressure, String> {
        let verdict = &self.story.verdict;
        let culprit = verdict.culprit.as_ref();
        let touch = |bytes: u64, random: bool| {
            format!(
                "touch = {{ size = {}, period_ms = 500, fill = \"random\", random = {random} }}",
                self.scaled(bytes)
            )
        };
        let plain = |does: String| Pressure {
            does,
            faster: 1.0,
            more: "cgroup = \"taker\"\n".into(),
            read_ms: 1000,
        };
        match (verdict.kind, culprit) {
            (Kind::Program, Some(taker)) => {
                let (rate, faster) = self.pace(taker);
                // Only one that was killed would have taken more.
                let size = match self.story.episode.kills {
                    0 => format!(", size = {}", self.scaled(taker.has)),
                    _ => String::new(),
                };
                let does = format!("hog = {{ fill = \"mixed\", rate = {rate}{size} }}");
                Ok(Pressure {
                    faster,
                    ..plain(does)
                })
            }
            (Kind::Crowd, Some(taker)) => {
                let (rate, faster) = self.pace(taker);
                let count = match taker.who {
                    Who::Crowd { count, .. } => count.max(1),
                    _ => 1,
                };
                let each = (self.scaled(taker.has) / count).max(1 << 20);
                let period_ms = (each * 1000 / rate.max(1)).clamp(10, 10_000);
                let does = format!("forks = {{ size = {each}, period_ms = {period_ms} }}");
                Ok(Pressure {
                    faster,
                    ..plain(does)
                })
            }
            (Kind::CacheThrash, Some(taker)) => Ok(Pressure {
                read_ms: 500,
                ..plain(touch(taker.has, false))
            }),
            (Kind::SwapThrash, _) => {
                let used = self.story.points.iter().map(|point| {
                    let memory = &point.memory;
                    memory.anon + memory.swap.saturating_sub(memory.swap_free)
                });
                Ok(plain(touch(used.max().unwrap_or(0), true)))
            }
            (Kind::CgroupLimit, _) => {
                let limit = verdict.waited.as_ref().map_or(0, |waited| waited.limit);
                Ok(Pressure {
                    more: format!("memory_max = {}\n", self.scaled(limit).max(8 << 20)),
                    ..plain(touch((limit as f64 * WANTED) as u64, false))
                })
            }
            (kind, _) => Err(format!("a shortage by {} is not composed", words(kind))),
        }
    }

    /// Growth in bytes a second, and how much faster than in the record.
    fn pace(&self, taker: &Taker) -> (u64, f64) {
        let rate = taker.rate() * self.scale;
        let left = self.scaled(self.story.growth.calm_left) as f64;
        let least = left / GROWS_S;
        (
            rate.max(least).max(1.0) as u64,
            (least / rate.max(1.0)).max(1.0),
        )
    }

    fn write(&self, to: &mut String, taker: &Pressure) -> std::fmt::Result {
        let mb = |bytes: u64| bytes.div_ceil(1 << 20);
        let swap_mb = mb(self.scaled(self.calm.swap));
        let most = (self.memory() as f64 * MOST) as u64;
        let others = self.calm.anon.saturating_sub(self.had);
        let others = self.scaled(others).min(most).max(1 << 20);
        let files = self.scaled(self.calm.file).min(most).max(1 << 20);
        let disk = self.disk as u64;
        let is_killed = self.story.episode.kills > 0;
        let until = if is_killed {
            "until = \"killed\"\n"
        } else {
            ""
        };
        let freeze_s = match is_killed {
            true => FREEZE_S[1],
            false => self.story.episode.seconds().clamp(FREEZE_S[0], FREEZE_S[1]),
        };
        write!(
            to,
            "title = \"A freeze, composed from a record\"\nrepetitions = 1\nseed = 1\n\n\
             [machine]\nmemory_mb = {}\ncpus = 1\nzram_mb = 0\nswap_mb = {swap_mb}\n\
             scratch_mb = {}\ndisk_read = {disk}\ndisk_write = {disk}\nsample_ms = 500\n\n\
             [files]\nread = {files}\n\n\
             [workers.reader]\ndoes.probe = {{ file = \"read\", period_ms = {} }}\n\n\
             [workers.others]\ndoes.touch = {{ size = {others}, period_ms = 1000, fill = \"mixed\" }}\n\n\
             [workers.taker]\n{}does.{}\n\n\
             [[scenes]]\nname = \"calm\"\nrun = [\"reader\", \"others\"]\nseconds = {CALM_S}\n\n\
             [[scenes]]\nname = \"freeze\"\nrun = [\"reader\", \"others\", \"taker\"]\n{until}seconds = {freeze_s}\n\n\
             [[scenes]]\nname = \"after\"\nrun = [\"reader\", \"others\"]\nseconds = 10\n\n\
             [[arms]]\nname = \"{AS_IT_WAS}\"\n{COMMON}",
            mb(self.memory()),
            swap_mb + swap_mb / 8 + 32,
            taker.read_ms,
            taker.more,
            taker.does,
        )
    }

    /// The arm of a change, and its lines. `None`: it is not booted.
    fn arm(&self, remedy: &Remedy, taker: &Pressure) -> Option<(&'static str, String)> {
        let bytes = self.scaled(remedy.bytes);
        let mb = bytes.div_ceil(1 << 20);
        let limit = "/sys/fs/cgroup/work/shared-taker/memory.max";
        Some(match remedy.change {
            Change::Hotsetd => ("hotsetd", "daemon = {}".into()),
            Change::Floor => (
                "floor",
                format!(
                    "daemon = {{ config = {{ protect = {{ clean_min_ratio = {:.0} }} }} }}",
                    100.0 * FLOOR
                ),
            ),
            Change::MinTtl => (
                "min_ttl",
                format!(
                    "knobs = {{ \"/sys/kernel/mm/lru_gen/min_ttl_ms\" = {:.0} }}",
                    1e3 * TTL_S
                ),
            ),
            Change::Zram if mb > 0 => ("zram", format!("zram_mb = {mb}")),
            Change::Memory if mb > 0 => (
                "memory",
                format!("memory_mb = {}", (self.memory() + bytes).div_ceil(1 << 20)),
            ),
            Change::Limit if bytes > 0 && taker.more.starts_with("cgroup") => {
                ("limit", format!("knobs = {{ \"{limit}\" = {bytes} }}"))
            }
            // Without a daemon is what was booted; earlyoom comes from a package; a pool needs another bed.
            _ => return None,
        })
    }

    fn assumed(&self, taker: &Pressure) -> Vec<String> {
        let mut assumed = vec![format!(
            "one CPU, MGLRU, and a disk that reads {:.0} MB/s, in proportion the fastest second of the record",
            self.disk / 1e6
        )];
        if self.calm.swap > 0 {
            assumed.push("swap is on that disk".into());
        }
        assumed.push("a third of each page of programs is random".into());
        if taker.faster > 1.05 {
            assumed.push(format!("growth is {:.1} times as fast", taker.faster));
        }
        assumed
    }
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::HugePages => "the pool of huge pages",
        Kind::Fragmentation => "fragmentation",
        Kind::Kernel => "the kernel's own memory",
        Kind::SharedFiles => "files in memory",
        _ => "programs that the record does not name",
    }
}
