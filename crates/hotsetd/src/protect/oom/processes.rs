//! Every process that could be killed, read from /proc into tables that are used again.
//!
//! A process has four short files: `status` (memory, user, pending SIGKILL), `stat` (start, session),
//! `oom_score_adj` and `cgroup`. The last three hardly change, and are read every three seconds: for a kill,
//! only `status` is read. Kernel threads have no memory of their own, so none of their files are read.
use super::rules::Rules;
use crate::os::fixed_string::Text;
use policy::victim::{Candidate, Eligibility};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::path::Path;

/// Memory of a process at an earlier sample, in pages.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    pid: i32,
    start: u64,
    memory: u64,
}

/// The values that the files that hardly change had for a process.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// With the memory of that time; `None`: a kernel thread or a zombie.
    process: Option<Candidate>,
    pid: i32,
    at_s: f64,
}

/// The processes.
pub struct Processes {
    proc: OwnedFd,
    page_kib: u64,
    own: i32,
    list: Vec<Candidate>,
    /// Two earlier samples. Growth counts from the older, which is at least half a second old.
    past: [Vec<Past>; 2],
    taken_s: [f64; 2],
    /// By ascending pid; and the same table while it is written anew.
    known: [Vec<Known>; 2],
    text: Vec<u8>,
    names: Box<[MaybeUninit<u8>; 8192]>,
}

/// Seconds between two samples that growth may count from.
pub const REMEMBER_S: f64 = 0.5;
/// Seconds for which an earlier sample counts.
const RECENT_S: f64 = 3.0;
/// All memory of a process younger than this, in seconds, counts as growth.
const YOUNG_S: f64 = 2.0;
/// Seconds for which the files that hardly change are not read again. A pid that was given to another
/// process meanwhile is noticed before the kill.
const FRESH_S: f64 = RECENT_S;
/// USER_HZ, the unit of time in /proc/PID/stat: 100 on every machine that Rust runs on.
const TICKS_A_S: f64 = 100.0;
/// Processes that the tables have room for from the start.
const ROOM: usize = 1024;

impl Processes {
    /// Opens /proc below `root`. `page_size`: bytes.
    ///
    /// # Errors
    /// When there is no /proc below `root`.
    pub fn open(root: &Path, page_size: u64) -> Result<Processes, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Processes {
            proc: rustix::fs::open(root.join("proc"), flags, Mode::empty())?,
            page_kib: (page_size / 1024).max(1),
            own: std::process::id() as i32,
            list: Vec::with_capacity(ROOM),
            past: [Vec::with_capacity(ROOM), Vec::with_capacity(ROOM)],
            taken_s: [f64::NEG_INFINITY; 2],
            known: [Vec::with_capacity(ROOM), Vec::with_capacity(ROOM)],
            text: vec![0; 8192],
            names: Box::new([MaybeUninit::uninit(); 8192]),
        })
    }

    /// Whether /proc is this machine's, as this very process sees it. Only then may a pid in it be killed.
    #[must_use]
    pub fn is_real(&self) -> bool {
        const PROC: rustix::fs::FsWord = 0x9fa0;
        let kernels = rustix::fs::fstatfs(&self.proc).is_ok_and(|found| found.f_type == PROC);
        let me = rustix::fs::readlinkat(&self.proc, "self", Vec::new());
        kernels && me.is_ok_and(|me| me.to_str() == Ok(&self.own.to_string()))
    }

    /// The processes of the last sample, by ascending pid.
    #[must_use]
    pub fn list(&self) -> &[Candidate] {
        &self.list
    }

    /// Seconds since the last sample that growth may count from.
    #[must_use]
    pub fn age_s(&self, now_s: f64) -> f64 {
        now_s - self.taken_s[1]
    }

    /// Reads all processes. A process that ends meanwhile is left out. `now_s` is CLOCK_MONOTONIC and
    /// `boot_s` CLOCK_BOOTTIME, in seconds.
    ///
    /// # Errors
    /// When /proc cannot be listed.
    pub fn sample(&mut self, now_s: f64, boot_s: f64, rules: &Rules) -> Result<(), Errno> {
        self.list.clear();
        self.known[1].clear();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.proc, ".", flags, Mode::empty())?;
        // Growth counts from the older sample, or from the newer unless it is of this very moment. A sample
        // of long ago does not show which process grows now.
        let fits = |&at: &usize| (REMEMBER_S / 5.0..RECENT_S).contains(&(now_s - self.taken_s[at]));
        let then = [0, 1].into_iter().find(fits);
        let mut names = RawDir::new(&folder, &mut self.names[..]);
        while let Some(entry) = names.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            let Some(pid) = number(name).and_then(|pid| i32::try_from(pid).ok()) else {
                continue;
            };
            let mut read = Reader {
                proc: &self.proc,
                text: &mut self.text,
                pid,
            };
            let known = known_of(&self.known[0], pid, now_s);
            let (found, at_s) = match known {
                Some(known) => (read.again(&known, self.page_kib, rules), known.at_s),
                None => (read.candidate(self.page_kib, rules), now_s),
            };
            self.known[1].push(Known {
                process: found,
                pid,
                at_s,
            });
            if let Some(mut process) = found {
                if pid == self.own || process.parent == self.own {
                    process.eligibility = Eligibility::Never;
                }
                let young = boot_s - process.start as f64 / TICKS_A_S < YOUNG_S;
                process.growth = match then {
                    _ if young => process.memory,
                    Some(then) => grown(&self.past[then], &process),
                    None => 0,
                };
                self.list.push(process);
            }
        }
        self.known[1].sort_unstable_by_key(|known| known.pid);
        self.known.swap(0, 1);
        // /proc lists by pid, but a folder that stands in for it lists in any order.
        self.list.sort_unstable_by_key(|process| process.pid);
        if now_s - self.taken_s[1] >= REMEMBER_S {
            self.remember(now_s);
        }
        Ok(())
    }

    /// Keeps the present sample, for growth to count from.
    fn remember(&mut self, now_s: f64) {
        self.past.swap(0, 1);
        self.taken_s = [self.taken_s[1], now_s];
        self.past[1].clear();
        self.past[1].extend(self.list.iter().map(|process| Past {
            pid: process.pid,
            start: process.start,
            memory: process.memory,
        }));
    }

    /// Whether the pid still belongs to the process that was sampled, and the process may still be killed.
    /// All files are read anew.
    #[must_use]
    pub fn is_still(&mut self, one: &Candidate, rules: &Rules) -> bool {
        let mut read = Reader {
            proc: &self.proc,
            text: &mut self.text,
            pid: one.pid,
        };
        let now = read.candidate(self.page_kib, rules);
        now.is_some_and(|now| {
            now.start == one.start && now.eligibility != Eligibility::Never && now.adj > -1000
        })
    }
}

/// The values of the files that hardly change, if they were read within [`FRESH_S`].
fn known_of(known: &[Known], pid: i32, now_s: f64) -> Option<Known> {
    let at = known.binary_search_by_key(&pid, |known| known.pid).ok()?;
    let fresh = (0.0..FRESH_S).contains(&(now_s - known[at].at_s));
    fresh.then_some(known[at])
}

/// Pages that a process has grown by since `past`: all of its pages, where it was not in `past`.
fn grown(past: &[Past], one: &Candidate) -> u64 {
    match past.binary_search_by_key(&one.pid, |past| past.pid) {
        Ok(at) if past[at].start == one.start => one.memory.saturating_sub(past[at].memory),
        _ => one.memory,
    }
}

/// Reads the files of one process.
struct Reader<'a> {
    proc: &'a OwnedFd,
    text: &'a mut Vec<u8>,
    pid: i32,
}

impl Reader<'_> {
    fn file(&mut self, name: &str) -> Option<&[u8]> {
        let place = Text::<48>::of(format_args!("{}/{name}", self.pid));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::openat(self.proc.as_fd(), place.as_str(), flags, Mode::empty());
        let length = rustix::io::read(file.ok()?, &mut self.text[..]).ok()?;
        Some(&self.text[..length])
    }

    fn candidate(&mut self, page_kib: u64, rules: &Rules) -> Option<Candidate> {
        let pid = self.pid;
        let mut one = status(self.file("status")?, page_kib)?;
        one.pid = pid;
        (one.start, one.session) = self.start_and_session()?;
        let adj = self.file("oom_score_adj")?;
        one.adj = std::str::from_utf8(adj).ok()?.trim().parse().ok()?;
        let cgroup = self.file("cgroup").map_or("", |text| cgroup(text));
        one.eligibility = match pid {
            1 => Eligibility::Never,
            _ => rules.of(one.name(), cgroup, one.uid),
        };
        Some(one)
    }

    /// As [`Reader::candidate`], where the files that hardly change have been read before.
    fn again(&mut self, known: &Known, page_kib: u64, rules: &Rules) -> Option<Candidate> {
        let before = known.process?;
        let now = status(self.file("status")?, page_kib)?;
        if (now.name, now.uid) != (before.name, before.uid) {
            return self.candidate(page_kib, rules);
        }
        Some(Candidate {
            memory: now.memory,
            dying: now.dying,
            parent: now.parent,
            ..before
        })
    }

    /// Fields 22 and 6 of stat. They are counted from the end of the name, which may hold any character.
    fn start_and_session(&mut self) -> Option<(u64, i32)> {
        let text = self.file("stat")?;
        let behind = text.iter().rposition(|&byte| byte == b')')? + 1;
        let rest = std::str::from_utf8(&text[behind..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let session = fields.nth(3)?.parse().ok()?;
        let start = fields.nth(15)?.parse().ok()?;
        Some((start, session))
    }
}

/// Reads `status`; `None`: a kernel thread or a zombie, which have no memory.
fn status(text: &[u8], page_kib: u64) -> Option<Candidate> {
    let mut one = Candidate::default();
    let (mut anon, mut swap, mut killed) = (None, 0, false);
    for line in text.split(|&byte| byte == b'\n') {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            continue;
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let first = value.split(|byte| byte.is_ascii_whitespace()).next();
        let first = first.unwrap_or_default();
        match name {
            b"Name" => {
                let length = value.len().min(15);
                one.name[..length].copy_from_slice(&value[..length]);
            }
            b"PPid" => one.parent = number(first)? as i32,
            b"Uid" => one.uid = number(first)? as u32,
            b"RssAnon" => anon = number(first),
            // Linux before 4.5 and some sandboxes have no RssAnon. VmRSS includes file pages.
            b"VmRSS" => anon = anon.or(number(first)),
            b"VmSwap" => swap = number(first)?,
            b"SigPnd" | b"ShdPnd" => {
                const SIGKILL: u64 = 1 << 8;
                let set = std::str::from_utf8(first).ok()?;
                killed |= u64::from_str_radix(set, 16).is_ok_and(|set| set & SIGKILL != 0);
            }
            _ => {}
        }
    }
    one.memory = (anon? + swap) / page_kib;
    one.dying = killed;
    Some(one)
}

/// The path in the line of cgroup v2, `0::/path`.
fn cgroup(text: &[u8]) -> &str {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let unified = text.lines().find_map(|line| line.strip_prefix("0::"));
    unified.unwrap_or_default()
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
