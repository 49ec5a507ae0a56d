//! Every process that could be killed, read from /proc into tables that are used again.
//!
//! All files of a process but `status` hardly change, and are read every three seconds: for a kill, only `status`
//! is read. Kernel threads have no memory of their own, so none of their files are read.
use super::oom_group;
use super::read_process::{number, Reader};
use super::rules::Rules;
use crate::os::fixed_string::Text;
use policy::victim::{Candidate, Eligibility};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

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
    /// The time at which a SIGKILL was first seen to be pending.
    dying_s: Option<f64>,
}

/// The processes.
pub struct Processes {
    proc: OwnedFd,
    /// Where cgroup v2 is mounted.
    cgroups: PathBuf,
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
pub const RECENT_S: f64 = 3.0;
/// All memory of a process younger than this, in seconds, counts as growth.
const YOUNG_S: f64 = 2.0;
/// Seconds for which the files that hardly change are not read again. A pid that was given to another
/// process meanwhile is noticed before the kill.
const FRESH_S: f64 = RECENT_S;
/// A process that has had its SIGKILL for so many seconds hangs in the kernel (a dead file server). It is not waited
/// for, and not killed again.
const HANGS_S: f64 = super::kill::PATIENCE_S;
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
            cgroups: root.join("sys/fs/cgroup"),
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
                cgroups: &self.cgroups,
                text: &mut self.text,
                pid,
                page_kib: self.page_kib,
                rules,
            };
            let known = known_of(&self.known[0], pid);
            let fresh = known.filter(|known| (0.0..FRESH_S).contains(&(now_s - known.at_s)));
            let (found, at_s) = match fresh {
                Some(known) => (known.process.and_then(|one| read.again(&one)), known.at_s),
                None => (read.candidate(), now_s),
            };
            let dying = found.is_some_and(|one| one.dying);
            let since_s = known.and_then(|known| known.dying_s).unwrap_or(now_s);
            self.known[1].push(Known {
                process: found,
                pid,
                at_s,
                dying_s: dying.then_some(since_s),
            });
            if let Some(mut process) = found {
                let hangs = dying && now_s - since_s >= HANGS_S;
                if hangs || pid == self.own || process.parent == self.own {
                    process.eligibility = Eligibility::Never;
                }
                process.dying = dying && !hangs;
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

    /// The path of a process's cgroup, or the end of one that is long.
    pub fn cgroup(&mut self, pid: i32, rules: &Rules) -> Text<128> {
        let mut read = self.reader(pid, rules);
        let path = read.cgroup_path();
        let mut begin = path.len().saturating_sub(128);
        while !path.is_char_boundary(begin) {
            begin += 1;
        }
        Text::of(format_args!("{}", &path[begin..]))
    }

    fn reader<'a>(&'a mut self, pid: i32, rules: &'a Rules) -> Reader<'a> {
        Reader {
            proc: &self.proc,
            cgroups: &self.cgroups,
            text: &mut self.text,
            pid,
            page_kib: self.page_kib,
            rules,
        }
    }

    /// The processes that the kernel would kill together with this one (`memory.oom.group`).
    pub fn oom_group(&mut self, pid: i32, rules: &Rules) -> Vec<i32> {
        let path = Text::<512>::of(format_args!("{}", self.reader(pid, rules).cgroup_path()));
        // Users name cgroups of their own: a part of a longer path may be that of another cgroup.
        let group = match path.is_cut() {
            true => None,
            false => oom_group::of(&self.cgroups, path.as_str()),
        };
        group
            .map(|group| oom_group::processes(&group))
            .unwrap_or_default()
    }

    /// Whether the pid still belongs to the process that was sampled, and the process may still be killed.
    /// All files are read anew.
    #[must_use]
    pub fn is_still(&mut self, one: &Candidate, rules: &Rules) -> bool {
        let now = self.reader(one.pid, rules).candidate();
        now.is_some_and(|now| {
            now.start == one.start && now.eligibility != Eligibility::Never && now.adj > -1000
        })
    }
}

fn known_of(known: &[Known], pid: i32) -> Option<Known> {
    let at = known.binary_search_by_key(&pid, |known| known.pid).ok()?;
    Some(known[at])
}

/// Pages that a process has grown by since `past`: all of its pages, where it was not in `past`.
fn grown(past: &[Past], one: &Candidate) -> u64 {
    match past.binary_search_by_key(&one.pid, |past| past.pid) {
        Ok(at) if past[at].start == one.start => one.memory.saturating_sub(past[at].memory),
        _ => one.memory,
    }
}
