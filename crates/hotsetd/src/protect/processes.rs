//! Every process that could be killed, read from /proc into tables that are used again.
//!
//! Four short files a process: `status` (memory, user, pending SIGKILL), `stat` (start, session),
//! `oom_score_adj`, `cgroup`. What hardly changes is read every few seconds: for a kill, `status` alone
//! is read, and of kernel threads, which have no memory of their own, nothing.
use super::marks::Marks;
use crate::text::Text;
use policy::victim::{Candidate, Mark};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::path::Path;

/// Memory of a process at an earlier look.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    pid: i32,
    start: u64,
    memory: u64,
}

/// What was found in the files that hardly change.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// With the memory of then; `None`: a kernel thread or a zombie.
    one: Option<Candidate>,
    pid: i32,
    at_s: f64,
}

/// The table.
pub struct Processes {
    proc: OwnedFd,
    page_kib: u64,
    own: i32,
    list: Vec<Candidate>,
    /// Two earlier looks; growth is counted from the older, which is half a second old at least.
    past: [Vec<Past>; 2],
    taken_s: [f64; 2],
    /// By ascending pid, and the same while it is written anew.
    known: [Vec<Known>; 2],
    text: Vec<u8>,
    names: Box<[MaybeUninit<u8>; 8192]>,
}

/// Seconds between two looks that are remembered.
pub const REMEMBER_S: f64 = 0.5;
/// An earlier look counts for so long; who is younger than this has grown in any case.
const RECENT_S: f64 = 3.0;
const YOUNG_S: f64 = 2.0;
/// What hardly changes is believed for so long. A number that was given to another process meanwhile
/// is found out before it is killed.
const FRESH_S: f64 = RECENT_S;
/// USER_HZ, in which /proc/PID/stat counts: 100 on every machine that Rust runs on.
const TICKS_A_S: f64 = 100.0;
const ROOM: usize = 1024;

impl Processes {
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

    /// Is it this machine's, and this process's own view of it? Only then is a pid in it a pid that
    /// may be killed.
    #[must_use]
    pub fn is_real(&self) -> bool {
        const PROC: rustix::fs::FsWord = 0x9fa0;
        let kernels = rustix::fs::fstatfs(&self.proc).is_ok_and(|found| found.f_type == PROC);
        let me = rustix::fs::readlinkat(&self.proc, "self", Vec::new());
        kernels && me.is_ok_and(|me| me.to_str() == Ok(&self.own.to_string()))
    }

    /// Those found by the last look, by ascending pid as /proc has them.
    #[must_use]
    pub fn list(&self) -> &[Candidate] {
        &self.list
    }

    /// Seconds since the last look that was remembered.
    #[must_use]
    pub fn age_s(&self, now_s: f64) -> f64 {
        now_s - self.taken_s[1]
    }

    /// Reads all of them. A process that ends meanwhile is left out.
    ///
    /// # Errors
    /// When /proc cannot be listed.
    pub fn look(&mut self, now_s: f64, marks: &Marks) -> Result<(), Errno> {
        self.list.clear();
        self.known[1].clear();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.proc, ".", flags, Mode::empty())?;
        // The older look, or the newer if it is not of this very moment; what was long ago says
        // nothing of who grows now.
        let fits = |&at: &usize| (REMEMBER_S / 5.0..RECENT_S).contains(&(now_s - self.taken_s[at]));
        let then = [0, 1].into_iter().find(fits);
        let boot_s = crate::harden::boot_s();
        let mut names = RawDir::new(&folder, &mut self.names[..]);
        while let Some(entry) = names.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            let Some(pid) = number(name).and_then(|pid| i32::try_from(pid).ok()) else {
                continue;
            };
            let mut read = Read {
                proc: &self.proc,
                text: &mut self.text,
                pid,
            };
            let known = known_of(&self.known[0], pid, now_s);
            let (found, at_s) = match known {
                Some(known) => (read.again(&known, self.page_kib, marks), known.at_s),
                None => (read.candidate(self.page_kib, marks), now_s),
            };
            self.known[1].push(Known {
                one: found,
                pid,
                at_s,
            });
            if let Some(mut one) = found {
                if pid == self.own || one.parent == self.own {
                    one.mark = Mark::Never;
                }
                let young = boot_s - one.start as f64 / TICKS_A_S < YOUNG_S;
                one.growth = match then {
                    _ if young => one.memory,
                    Some(then) => grown(&self.past[then], &one),
                    None => 0,
                };
                self.list.push(one);
            }
        }
        self.known[1].sort_unstable_by_key(|known| known.pid);
        self.known.swap(0, 1);
        // Regular folders list in any order, /proc by pid.
        self.list.sort_unstable_by_key(|one| one.pid);
        if now_s - self.taken_s[1] >= REMEMBER_S {
            self.past.swap(0, 1);
            self.taken_s = [self.taken_s[1], now_s];
            self.past[1].clear();
            self.past[1].extend(self.list.iter().map(|one| Past {
                pid: one.pid,
                start: one.start,
                memory: one.memory,
            }));
        }
        Ok(())
    }

    /// Is this still the process that was looked at, and not another with its number, and may it
    /// still be killed? Everything is read anew.
    #[must_use]
    pub fn is_still(&mut self, one: &Candidate, marks: &Marks) -> bool {
        let mut read = Read {
            proc: &self.proc,
            text: &mut self.text,
            pid: one.pid,
        };
        let now = read.candidate(self.page_kib, marks);
        now.is_some_and(|now| now.start == one.start && now.mark != Mark::Never && now.adj > -1000)
    }
}

/// What is known of it, if that is fresh.
fn known_of(known: &[Known], pid: i32, now_s: f64) -> Option<Known> {
    let at = known.binary_search_by_key(&pid, |known| known.pid).ok()?;
    let fresh = (0.0..FRESH_S).contains(&(now_s - known[at].at_s));
    fresh.then_some(known[at])
}

/// Growth since the look at `past`; all, where it was not there.
fn grown(past: &[Past], one: &Candidate) -> u64 {
    match past.binary_search_by_key(&one.pid, |past| past.pid) {
        Ok(at) if past[at].start == one.start => one.memory.saturating_sub(past[at].memory),
        _ => one.memory,
    }
}

struct Read<'a> {
    proc: &'a OwnedFd,
    text: &'a mut Vec<u8>,
    pid: i32,
}

impl Read<'_> {
    fn file(&mut self, name: &str) -> Option<&[u8]> {
        let place = Text::<48>::of(format_args!("{}/{name}", self.pid));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::openat(self.proc.as_fd(), place.as_str(), flags, Mode::empty());
        let length = rustix::io::read(file.ok()?, &mut self.text[..]).ok()?;
        Some(&self.text[..length])
    }

    fn candidate(&mut self, page_kib: u64, marks: &Marks) -> Option<Candidate> {
        let pid = self.pid;
        let mut one = status(self.file("status")?, page_kib)?;
        one.pid = pid;
        (one.start, one.session) = self.start_and_session()?;
        let adj = self.file("oom_score_adj")?;
        one.adj = std::str::from_utf8(adj).ok()?.trim().parse().ok()?;
        let cgroup = self.file("cgroup").map_or("", |text| cgroup(text));
        one.mark = match pid {
            1 => Mark::Never,
            _ => marks.of(one.name(), cgroup, one.uid),
        };
        Some(one)
    }

    /// The same, where the files that hardly change have been read.
    fn again(&mut self, known: &Known, page_kib: u64, marks: &Marks) -> Option<Candidate> {
        let before = known.one?;
        let now = status(self.file("status")?, page_kib)?;
        if (now.name, now.uid) != (before.name, before.uid) {
            return self.candidate(page_kib, marks);
        }
        Some(Candidate {
            memory: now.memory,
            dying: now.dying,
            parent: now.parent,
            ..before
        })
    }

    /// Fields 22 and 6 of stat, counted behind the name, which may hold anything.
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

/// What `status` says; `None` for a kernel thread or a zombie, which have no memory.
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
            // Before 4.5 and in some sandboxes: files are among it.
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

/// The path in cgroup v2's line, `0::/path`.
fn cgroup(text: &[u8]) -> &str {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let unified = text.lines().find_map(|line| line.strip_prefix("0::"));
    unified.unwrap_or_default()
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
