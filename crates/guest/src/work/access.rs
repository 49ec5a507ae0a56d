//! Accesses pages by rule, and counts those that were in memory: see
//! [`protocol::work::access::Access`].
use anyhow::{bail, ensure, Context, Result};
use protocol::work::access::{Access, By, Rule};
use protocol::work::Fill;
use rustix::fs::{flock, FlockOperation};
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use trace::generate::Spec;

use super::memory::anon;
use crate::channel::{now_ms, Channel};
use crate::kernel_files::write;
use crate::paths::data_path;
use crate::work::stop::stopping;
use crate::xorshift::Random;

const PAGE: usize = 4096;
/// The number of samples of resident pages over the whole run.
const SAMPLES: usize = 50;
/// Accesses between two reads of memory.stat: fewer than the 64 changes up to which the kernel does
/// not add up (MEMCG_CHARGE_BATCH, mm/memcontrol.c).
const FRESH: usize = 32;

/// Folder of recorded sequences: page numbers, 4 bytes each, least significant byte first.
const RECORDED: &str = "/hotset/recorded";

/// The pages to access, locked in memory. They are charged to the cgroup of the process that draws
/// them.
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
            (rule, None) => {
                bail!("this rule neither draws nor names a recorded sequence: {rule:?}")
            }
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

/// The memory or file that is accessed. It is always mapped, since mincore(2) needs a mapping.
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
                let at = anon::map(len)?.as_mut_ptr();
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
        // SAFETY: the range is part of this process's own mapping.
        let result = unsafe { libc::mlock(self.at.cast(), len) };
        let why = std::io::Error::last_os_error();
        ensure!(result == 0, "locking {len} bytes: {why}");
        Ok(())
    }

    /// Sets the low bit of each byte of `found` whose page, counted from page `from`, is in memory.
    fn in_memory(&self, from: usize, found: &mut [u8]) -> Result<()> {
        // SAFETY: the range is within the mapping, and `found` has a byte for each of its pages.
        let result = unsafe {
            let at = self.at.add(from * PAGE);
            libc::mincore(at.cast(), found.len() * PAGE, found.as_mut_ptr())
        };
        let why = std::io::Error::last_os_error();
        ensure!(result == 0, "mincore: {why}");
        Ok(())
    }

    fn resident(&self, residency: &mut [u8]) -> Result<u64> {
        self.in_memory(0, residency)?;
        Ok(residency.iter().map(|page| u64::from(page & 1)).sum())
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
            // SAFETY: within the mapping, which is private memory of this process.
            (How::Anon, _) if fresh => unsafe {
                let page = std::slice::from_raw_parts_mut(self.at.add(page * PAGE), PAGE);
                random.page(page, Fill::Mixed);
                page[0] = 1;
            },
            // SAFETY: within the mapping. Volatile: the compiler would drop an unused read.
            _ => unsafe {
                std::ptr::read_volatile(self.at.add(page * PAGE));
            },
        }
        Ok(())
    }
}

/// memory.stat of the process's own cgroup. The kernel brings it up to date when it is read.
struct Statistics {
    file: File,
    buffer: Vec<u8>,
}

impl Statistics {
    fn open() -> Result<Statistics> {
        let own = std::fs::read_to_string("/proc/self/cgroup").context("/proc/self/cgroup")?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::"));
        let path = format!("/sys/fs/cgroup{}/memory.stat", own.unwrap_or("/"));
        let file = File::open(&path).with_context(|| format!("opening {path}"))?;
        let buffer = vec![0; 8192];
        Ok(Statistics { file, buffer })
    }

    fn refresh(&mut self) -> Result<()> {
        self.file
            .read_at(&mut self.buffer, 0)
            .context("memory.stat")?;
        Ok(())
    }
}

/// Accesses all pages, and observes the hits.
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
    let mut residency = vec![0; all as usize];
    let first = first.unwrap_or(0);
    // Requests and hits of the first pool, and of the rest.
    let mut counts = [(0u64, 0u64); 2];
    let mut resident = Vec::with_capacity(SAMPLES);
    let mut statistics = match access.fresh_statistics {
        true => Some(Statistics::open()?),
        false => None,
    };
    let begin = now_ms();
    let faults = major_faults();
    let every = (pages.len() / SAMPLES).max(1);
    for (turn, &page) in pages.iter().enumerate() {
        let page = page as usize;
        if let Some(statistics) = statistics.as_mut().filter(|_| turn % FRESH == 0) {
            statistics.refresh()?;
        }
        let mut found = [0];
        ground.in_memory(page, &mut found)?;
        let count = &mut counts[usize::from(page as u64 >= first)];
        count.0 += 1;
        count.1 += u64::from(found[0] & 1);
        let fresh = !std::mem::replace(&mut seen[page], true);
        ground.access(page, &mut buffer, fresh, &mut random)?;
        if turn % every == every - 1 {
            resident.push(ground.resident(&mut residency)? as f64);
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
    // Only the second half counts, since memory may not be full in the first half.
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

/// Opens a file whose pages come in without readahead, by read(2) or by a fault: an open file keeps the
/// readahead that its disk has at the time of open(2). MADV_RANDOM also switches readahead off, but hides
/// accesses to mapped pages from reclaim (`vma_has_recency()`).
fn open_without_reading_ahead(path: &str) -> Result<File> {
    let device = std::fs::metadata(path)
        .with_context(|| format!("opening {path}"))?
        .dev();
    let (major, minor) = (libc::major(device), libc::minor(device));
    let knob = format!("/sys/dev/block/{major}:{minor}/queue/read_ahead_kb");
    let context = || format!("reading {knob}");
    // One process at a time, so that no process takes the 0 for the original value.
    let turn = File::open(&knob).with_context(context)?;
    flock(&turn, FlockOperation::LockExclusive).with_context(context)?;
    let before = std::fs::read_to_string(&knob).with_context(context)?;
    write(&knob, "0")?;
    let file = File::open(path).with_context(|| format!("opening {path}"));
    write(&knob, before.trim())?;
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
    use protocol::size::Size;

    #[test]
    fn a_recorded_sequence_is_read_unchanged_and_not_beyond_its_end() {
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
