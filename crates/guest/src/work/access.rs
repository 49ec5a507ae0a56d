//! Pages accessed by rule, and which of them were in memory: see [`raw::access::Access`].
use anyhow::{bail, ensure, Context, Result};
use raw::access::{Access, By, Rule};
use raw::spec::Fill;
use rustix::fs::{flock, FlockOperation};
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use trace::generate::Spec;

use super::{data_path, memory, stopping, Random};
use crate::channel::{now_ms, Channel};
use crate::setup;

const PAGE: usize = 4096;
/// Looks at how much is resident, over the whole run.
const LOOKS: usize = 50;
/// Accesses between two readings of memory.stat: fewer than the 64 changes below which the kernel does
/// not add up (MEMCG_CHARGE_BATCH, mm/memcontrol.c).
const FRESH: usize = 32;

/// Where the lab puts recorded sequences: page numbers, 4 bytes each, least significant first.
const RECORDED: &str = "/hotset/recorded";

/// What will be accessed; locked in memory, charged to whom the process belongs when it is drawn.
pub struct Sequence {
    pages: Vec<u32>,
    buffer: Vec<u8>,
}

impl Sequence {
    pub fn draw(access: &Access, seed: u64) -> Result<Sequence> {
        let pages = match (&access.rule, Spec::of(&access.rule)) {
            (_, Some(spec)) => drawn(&spec, access.requests, seed)?,
            (Rule::Recorded { trace, .. }, None) => {
                recorded(Path::new(RECORDED), trace, access.requests)?
            }
            (rule, None) => bail!("nothing is drawn and nothing was recorded: {rule:?}"),
        };
        let sequence = Sequence {
            pages,
            buffer: vec![1; PAGE],
        };
        let all = std::mem::size_of_val(&sequence.pages[..]);
        // SAFETY: the range is a live vector that is neither grown nor dropped before the process ends.
        let result = unsafe { libc::mlock(sequence.pages.as_ptr().cast(), all) };
        ensure!(result == 0, "mlock: {}", std::io::Error::last_os_error());
        Ok(sequence)
    }
}

fn drawn(spec: &Spec, requests: u64, seed: u64) -> Result<Vec<u32>> {
    let mut pages = Vec::with_capacity(requests as usize);
    let drawn = spec.requests(requests, seed, |some| pages.extend_from_slice(some));
    drawn.map_err(anyhow::Error::msg)?;
    Ok(pages)
}

fn recorded(folder: &Path, trace: &str, requests: u64) -> Result<Vec<u32>> {
    let path = folder.join(trace);
    let bytes = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
    let numbers = bytes.chunks_exact(4).take(requests as usize);
    let pages: Vec<u32> = numbers
        .map(|number| u32::from_le_bytes([number[0], number[1], number[2], number[3]]))
        .collect();
    let has = pages.len();
    ensure!(
        has as u64 == requests,
        "{trace} has {has} requests, not {requests}"
    );
    Ok(pages)
}

/// What is accessed, mapped in any case: mincore(2) wants a mapping.
struct Ground {
    at: *mut u8,
    file: Option<File>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Anon,
    Mapped,
    Pread,
}

impl Ground {
    fn open(access: &Access, pages: u64) -> Result<Ground> {
        let len = pages as usize * PAGE;
        let (name, how) = match &access.by {
            By::Anon {} => {
                let at = memory::map(len)?.as_mut_ptr();
                let how = How::Anon;
                return Ok(Ground {
                    at,
                    file: None,
                    how,
                });
            }
            By::Mapped { file } => (file, How::Mapped),
            By::Pread { file } => (file, How::Pread),
        };
        let path = data_path(name);
        let file = match access.ahead {
            true => File::open(&path).with_context(|| format!("opening {path}"))?,
            false => open_without_reading_ahead(&path)?,
        };
        let has = file.metadata()?.len();
        ensure!(
            has >= len as u64,
            "{path} has {has} bytes and {len} are accessed"
        );
        // SAFETY: a fresh read-only mapping of a file that nothing writes to, never unmapped.
        let at = unsafe {
            mmap(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ,
                MapFlags::SHARED,
                &file,
                0,
            )
        };
        Ok(Ground {
            at: at.with_context(|| format!("mapping {path}"))?.cast(),
            file: Some(file),
            how,
        })
    }

    fn lock(&self, pages: u64) -> Result<()> {
        let len = pages as usize * PAGE;
        // SAFETY: the range is part of a mapping of ours.
        let result = unsafe { libc::mlock(self.at.cast(), len) };
        let why = std::io::Error::last_os_error();
        ensure!(result == 0, "locking {len} bytes: {why}");
        Ok(())
    }

    /// Which of `pages` pages from one on are in memory, into the low bits of `found`.
    fn look(&self, from: usize, found: &mut [u8]) -> Result<()> {
        // SAFETY: the range is within the mapping, and `found` has a byte for each of its pages.
        let result = unsafe {
            let at = self.at.add(from * PAGE);
            libc::mincore(at.cast(), found.len() * PAGE, found.as_mut_ptr())
        };
        let why = std::io::Error::last_os_error();
        ensure!(result == 0, "mincore: {why}");
        Ok(())
    }

    fn resident(&self, room: &mut [u8]) -> Result<u64> {
        self.look(0, room)?;
        Ok(room.iter().map(|page| u64::from(page & 1)).sum())
    }

    fn access(
        &self,
        page: usize,
        buffer: &mut [u8],
        fresh: bool,
        random: &mut Random,
    ) -> Result<()> {
        match (self.how, &self.file) {
            (How::Pread, Some(file)) => {
                let at = (page * PAGE) as u64;
                file.read_exact_at(buffer, at).context("reading a page")?;
            }
            // SAFETY: within the mapping, which is private memory of ours and nobody else's.
            (How::Anon, _) if fresh => unsafe {
                let page = std::slice::from_raw_parts_mut(self.at.add(page * PAGE), PAGE);
                random.page(page, Fill::Mixed);
                page[0] = 1;
            },
            // SAFETY: within the mapping. Volatile: the compiler would see that nobody reads it.
            _ => unsafe {
                std::ptr::read_volatile(self.at.add(page * PAGE));
            },
        }
        Ok(())
    }
}

/// memory.stat of the process's own cgroup, which the kernel brings up to date when it is read.
struct Statistics {
    file: File,
    room: Vec<u8>,
}

impl Statistics {
    fn open() -> Result<Statistics> {
        let own = std::fs::read_to_string("/proc/self/cgroup").context("/proc/self/cgroup")?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::"));
        let path = format!("/sys/fs/cgroup{}/memory.stat", own.unwrap_or("/"));
        let file = File::open(&path).with_context(|| format!("opening {path}"))?;
        let room = vec![0; 8192];
        Ok(Statistics { file, room })
    }

    fn refresh(&mut self) -> Result<()> {
        self.file
            .read_at(&mut self.room, 0)
            .context("memory.stat")?;
        Ok(())
    }
}

/// Accesses all, and says what was in memory.
pub fn run(
    worker: &str,
    access: &Access,
    sequence: Sequence,
    seed: u64,
    channel: &Channel,
) -> Result<()> {
    let Sequence { pages, mut buffer } = sequence;
    let (first, all) = access.rule.pages();
    let orders = serde_json::to_string(access)?;
    channel.event("access", format!("{worker} {orders}"));
    let ground = Ground::open(access, all)?;
    if let Some(first) = first.filter(|_| access.lock_first) {
        ground.lock(first)?;
    }
    let mut random = Random::new(seed);
    let mut seen = vec![false; all as usize];
    let mut room = vec![0; all as usize];
    let first = first.unwrap_or(0);
    // Requests and hits of the first pool, and of the rest.
    let mut counts = [(0u64, 0u64); 2];
    let mut resident = Vec::with_capacity(LOOKS);
    let mut statistics = match access.fresh_statistics {
        true => Some(Statistics::open()?),
        false => None,
    };
    let begin = now_ms();
    let faults = major_faults();
    let every = (pages.len() / LOOKS).max(1);
    for (turn, &page) in pages.iter().enumerate() {
        let page = page as usize;
        if let Some(statistics) = statistics.as_mut().filter(|_| turn % FRESH == 0) {
            statistics.refresh()?;
        }
        let mut found = [0];
        ground.look(page, &mut found)?;
        let count = &mut counts[usize::from(page as u64 >= first)];
        count.0 += 1;
        count.1 += u64::from(found[0] & 1);
        let fresh = !std::mem::replace(&mut seen[page], true);
        ground.access(page, &mut buffer, fresh, &mut random)?;
        if turn % every == every - 1 {
            resident.push(ground.resident(&mut room)? as f64);
            if stopping() {
                return Ok(());
            }
        }
    }
    let (requests, hits) = (counts[0].0 + counts[1].0, counts[0].1 + counts[1].1);
    let share = |(requests, hits): (u64, u64)| hits as f64 / requests.max(1) as f64;
    let mut values = vec![
        ("requests", requests as f64),
        ("misses", (requests - hits) as f64),
        ("hit", share((requests, hits))),
        ("majflt", (major_faults() - faults) as f64),
        ("done_ms", now_ms() - begin),
    ];
    if first > 0 {
        values.push(("hit_first", share(counts[0])));
        values.push(("hit_rest", share(counts[1])));
    }
    // Of the second half: before, memory may not have been full.
    let half = &resident[resident.len() / 2..];
    let mean = half.iter().sum::<f64>() / half.len().max(1) as f64;
    values.push(("resident_mean", mean));
    let most = resident.iter().copied().fold(0.0, f64::max);
    values.push(("resident_max", most));
    for (name, value) in values {
        channel.observe(format!("{worker}.{name}"), begin, value);
    }
    Ok(())
}

/// Opens a file of which nothing is read ahead, by read(2) or by a fault: an open file keeps what its
/// disk reads ahead at that moment. MADV_RANDOM would do it too, and have reclaim overlook that a
/// mapped page was accessed (`vma_has_recency()`): first in, first out.
fn open_without_reading_ahead(path: &str) -> Result<File> {
    let device = std::fs::metadata(path)
        .with_context(|| format!("opening {path}"))?
        .dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    let knob = format!("/sys/dev/block/{major}:{minor}/queue/read_ahead_kb");
    let what = || format!("reading {knob}");
    // One at a time, or another would take the 0 for what was there before.
    let turn = File::open(&knob).with_context(what)?;
    flock(&turn, FlockOperation::LockExclusive).with_context(what)?;
    let before = std::fs::read_to_string(&knob).with_context(what)?;
    setup::write(&knob, "0")?;
    let file = File::open(path).with_context(|| format!("opening {path}"));
    setup::write(&knob, before.trim())?;
    file
}

fn major_faults() -> i64 {
    // SAFETY: getrusage(2) fills the struct, which lives through the call; zeros are a valid one.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_majflt
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raw::size::Size;

    #[test]
    fn what_was_recorded_is_read_as_it_is_and_not_beyond_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let bytes: Vec<u8> = [0u32, 1, 0, 70_000].map(u32::to_le_bytes).concat();
        std::fs::write(folder.path().join("a.csv"), bytes).unwrap();
        let read = |name, requests| recorded(folder.path(), name, requests);
        assert_eq!(read("a.csv", 4).unwrap(), [0, 1, 0, 70_000]);
        assert_eq!(read("a.csv", 3).unwrap(), [0, 1, 0]);
        let error = read("a.csv", 5).unwrap_err().to_string();
        assert!(error.contains("has 4 requests, not 5"), "{error}");
        assert!(read("b.csv", 1).is_err());
    }

    #[test]
    fn a_rule_draws_pages_within_its_size_and_both_pools() {
        let rule = Rule::HotAndScan {
            hot: Size::Bytes(40 << 12),
            scan: Size::Bytes(1000 << 12),
            share: 0.5,
        };
        let access = Access {
            rule,
            requests: 1500,
            by: By::Anon {},
            lock_first: false,
            ahead: false,
            fresh_statistics: false,
        };
        let drawn = Sequence::draw(&access, 3).unwrap().pages;
        assert_eq!(drawn.len(), 1500);
        assert!(drawn.iter().all(|page| *page < 1040));
        let hot = drawn.iter().filter(|page| **page < 40).count();
        assert!((400..1100).contains(&hot), "{hot}");
        let scan: Vec<u32> = drawn.into_iter().filter(|page| *page >= 40).collect();
        assert!(scan
            .windows(2)
            .all(|pair| pair[0] + 1 == pair[1] || pair[1] == 40));
    }
}
