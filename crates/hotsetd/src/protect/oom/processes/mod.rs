//! Every process that could be killed, read from /proc into tables that are used again.
//!
//! All files of a process but `status` hardly change, and are read every three seconds: for a kill, only `status`
//! is read. Of a small process that does not grow even `status` is read only once `statm` has changed. Kernel threads
//! have no memory of their own, so none of their files are read again.
mod read_process;

use super::oom_group;
use super::rules::Rules;
use crate::os::fixed_string::Text;
use kernfs::meminfo::Meminfo;
use policy::victim::{share_out, Candidate, Eligibility};
use read_process::{number, Reader, NO_MEMORY};
use rustix::fs::{Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::path::Path;

/// What is known of a process from earlier samples.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// With the memory of that time; `None`: a kernel thread, a zombie, or a process that could not be read.
    process: Option<Candidate>,
    pid: i32,
    /// Pid and start time identify a process. 0: never read.
    start: u64,
    /// Of the folder /proc/PID: a pid that was given to another process has another. So has a process whose folder
    /// the kernel has dropped meanwhile, for want of memory.
    inode: u64,
    /// [`Reader::statm`] before the other files were read.
    statm: Option<u64>,
    at_s: f64,
    /// The time at which a SIGKILL was first seen to be pending.
    dying_s: Option<f64>,
    /// Pages at the times of [`Processes::taken_s`].
    past: [Option<u64>; 2],
}

impl Known {
    /// Whether the process matters only once its memory has changed. `small`: see [`Processes::sample`].
    fn is_quiet(&self, small: u64) -> bool {
        match &self.process {
            Some(one) => one.memory < small && one.growth == 0 && !one.dying,
            None => self.statm == Some(NO_MEMORY),
        }
    }
}

/// The processes.
pub struct Processes {
    reader: Reader,
    own: i32,
    /// Those of the last sample, by ascending pid, without those that hang or are left out. At its end are those that
    /// have ended since, or were just killed.
    pub list: Vec<Candidate>,
    /// Two earlier samples. Growth counts from the older, which is at least half a second old.
    taken_s: [f64; 2],
    /// By ascending pid; and the same table while it is written anew.
    known: [Vec<Known>; 2],
    /// Pid and start of processes that are left out.
    left_out: Vec<(i32, u64)>,
    /// Who was killed, and when: the latest.
    fallen: Vec<(Candidate, f64)>,
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
pub const TICKS_A_S: f64 = 100.0;
/// Processes that the tables have room for from the start.
const ROOM: usize = 1024;
/// Processes that are left out at once, at most: the latest.
const LEFT_OUT: usize = 16;
/// Processes that are remembered as killed, at most: twice a storm.
const FALLEN: usize = 16;

impl Processes {
    /// Opens /proc below `root`. `page_size`: bytes.
    ///
    /// # Errors
    /// When there is no /proc below `root`.
    pub fn open(root: &Path, page_size: u64, rules: Rules) -> Result<Processes, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Processes {
            reader: Reader {
                proc: rustix::fs::open(root.join("proc"), flags, Mode::empty())?,
                cgroups: root.join("sys/fs/cgroup"),
                page_kib: (page_size / 1024).max(1),
                rules,
                meminfo: Meminfo::default(),
                text: vec![0; 8192],
            },
            own: std::process::id() as i32,
            list: Vec::with_capacity(ROOM),
            taken_s: [f64::NEG_INFINITY; 2],
            known: [Vec::with_capacity(ROOM), Vec::with_capacity(ROOM)],
            left_out: Vec::with_capacity(LEFT_OUT),
            fallen: Vec::with_capacity(FALLEN),
            names: Box::new([MaybeUninit::uninit(); 8192]),
        })
    }

    /// Whether /proc is this machine's, as this very process sees it. Only then may a pid in it be killed.
    #[must_use]
    pub fn is_real(&self) -> bool {
        crate::os::process::is_own_proc(&self.reader.proc)
    }

    /// Leaves a process out of all further samples.
    pub fn leave_out(&mut self, pid: i32, start: u64) {
        if self.left_out.len() == LEFT_OUT {
            self.left_out.remove(0);
        }
        self.left_out.push((pid, start));
    }

    /// Remembers that hotsetd has killed a process: it counts in a storm while each kill comes as soon after the one before
    /// as a process is young.
    pub fn remember_killed(&mut self, one: &Candidate, now_s: f64) {
        if self.fallen.len() == FALLEN {
            self.fallen.remove(0);
        }
        self.fallen.push((*one, now_s));
    }

    /// Adds to the list who had memory at the last sample and has ended since, as dying: free pages may have been counted
    /// before. `small`: see [`Processes::sample`].
    fn list_ended(&mut self, small: u64) {
        let [now, before] = &self.known;
        let killed = |one: &Candidate| self.fallen.iter().any(|(victim, _)| victim.pid == one.pid);
        let was = before.iter().filter_map(|known| known.process);
        let was = was.filter(|one| !one.dying && one.memory >= small.max(1));
        for one in was.filter(|one| !killed(one)) {
            let at = now.binary_search_by_key(&one.pid, |known| known.pid);
            let there = at.is_ok_and(|at| {
                let process = now[at].process;
                process.is_some_and(|process| process.start == one.start)
            });
            if !there {
                self.list.push(Candidate {
                    growth: 0,
                    dying: true,
                    ..one
                });
            }
        }
    }

    /// Marks in the list who was killed of late, and adds who is there no more.
    fn list_fallen(&mut self, now_s: f64) {
        // Somebody may make each next one wait a little, so that there are never eight in a fixed time.
        let mut next_s = now_s;
        let ends = |(_, at_s): &&(Candidate, f64)| {
            let near = next_s - at_s < YOUNG_S;
            next_s = *at_s;
            near
        };
        let chain = self.fallen.iter().rev().take_while(ends).count();
        self.fallen.drain(..self.fallen.len() - chain);
        for (one, _) in &self.fallen {
            let same = |other: &&mut Candidate| (other.pid, other.start) == (one.pid, one.start);
            match self.list.iter_mut().find(same) {
                Some(there) => {
                    (there.fallen, there.fell_in_storm) = (true, one.fell_in_storm);
                }
                None => self.list.push(Candidate {
                    memory: 0,
                    growth: 0,
                    dying: true,
                    fallen: true,
                    ..*one
                }),
            }
        }
    }

    /// Seconds since the last sample that growth may count from.
    #[must_use]
    pub fn age_s(&self, now_s: f64) -> f64 {
        now_s - self.taken_s[1]
    }

    /// Reads all processes. A process that ends meanwhile is left out. `now_s` is CLOCK_MONOTONIC and
    /// `boot_s` CLOCK_BOOTTIME, in seconds. A process of fewer pages than `small` whose memory is as at the last
    /// sample is as it was; with 0 all are read.
    ///
    /// # Errors
    /// When /proc cannot be listed.
    pub fn sample(&mut self, now_s: f64, boot_s: f64, small: u64) -> Result<(), Errno> {
        self.read_all(now_s, small)?;
        // Growth counts from the older sample, or from the newer unless it is of this very moment. A sample
        // of long ago does not show which process grows now.
        let fits = |&at: &usize| (REMEMBER_S / 5.0..RECENT_S).contains(&(now_s - self.taken_s[at]));
        let then = [0, 1].into_iter().find(fits);
        self.list.clear();
        for known in &mut self.known[0] {
            let Some(one) = &mut known.process else {
                continue;
            };
            let young = boot_s - one.start as f64 / TICKS_A_S < YOUNG_S;
            one.growth = match then {
                _ if young => one.memory,
                Some(then) => one.memory.saturating_sub(known.past[then].unwrap_or(0)),
                None => 0,
            };
            let hangs = known.dying_s.is_some_and(|at_s| now_s - at_s >= HANGS_S);
            if hangs || self.left_out.contains(&(one.pid, one.start)) {
                continue;
            }
            let mut process = *one;
            if [process.pid, process.parent].contains(&self.own) {
                process.eligibility = Eligibility::Never;
            }
            self.list.push(process);
        }
        if let Some(pages) = self.reader.swap_in_use() {
            share_out(pages, &mut self.list);
        }
        self.list_ended(small);
        self.list_fallen(now_s);
        if now_s - self.taken_s[1] >= REMEMBER_S {
            self.taken_s = [self.taken_s[1], now_s];
            for known in &mut self.known[0] {
                known.past = [known.past[1], known.process.map(|one| one.memory)];
            }
        }
        Ok(())
    }

    /// Writes the table of what is known anew.
    fn read_all(&mut self, now_s: f64, small: u64) -> Result<(), Errno> {
        self.known[1].clear();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.reader.proc, ".", flags, Mode::empty())?;
        let mut names = RawDir::new(&folder, &mut self.names[..]);
        while let Some(entry) = names.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            let Some(pid) = number(name).and_then(|pid| i32::try_from(pid).ok()) else {
                continue;
            };
            let before = self.known[0].binary_search_by_key(&pid, |known| known.pid);
            let before = before.ok().map(|at| self.known[0][at]);
            let known = read_anew(&mut self.reader, pid, before, entry.ino(), now_s, small);
            self.known[1].push(known);
        }
        // /proc lists by pid, but a folder that stands in for it lists in any order.
        self.known[1].sort_unstable_by_key(|known| known.pid);
        self.known.swap(0, 1);
        Ok(())
    }

    /// The path of a process's cgroup, or the end of one that is long.
    pub fn cgroup(&mut self, pid: i32) -> Text<128> {
        Text::end_of(self.reader.cgroup_path(pid))
    }

    /// The processes that the kernel would kill together with this one (`memory.oom.group`).
    pub fn oom_group(&mut self, pid: i32) -> Vec<i32> {
        let path = Text::<512>::of(format_args!("{}", self.reader.cgroup_path(pid)));
        // Users name cgroups of their own: a part of a longer path may be that of another cgroup.
        let group = match path.is_cut() {
            true => None,
            false => oom_group::of(&self.reader.cgroups, path.as_str()),
        };
        group.map_or_else(Vec::new, |group| oom_group::processes(&group))
    }

    /// Whether the pid still belongs to the process that was sampled, and the process may still be killed.
    /// All files are read anew.
    #[must_use]
    pub fn is_still(&mut self, one: &Candidate) -> bool {
        let now = self.reader.candidate(one.pid);
        now.is_some_and(|now| {
            now.start == one.start && now.eligibility != Eligibility::Never && now.adj > -1000
        })
    }
}

/// Reads those files of a process that may have changed since `before`. `small`: see [`Processes::sample`].
fn read_anew(
    reader: &mut Reader,
    pid: i32,
    before: Option<Known>,
    inode: u64,
    now_s: f64,
    small: u64,
) -> Known {
    let quiet = before.filter(|before| before.is_quiet(small));
    let same = quiet.filter(|before| before.inode == inode);
    let statm = match (before, same) {
        (_, Some(same)) if same.process.is_none() => return same,
        (Some(_), _) if quiet.is_none() => None,
        _ => reader.statm(pid),
    };
    if let Some(same) = same.filter(|same| statm.is_some() && same.statm == statm) {
        return same;
    }
    let fresh = before.filter(|before| (0.0..FRESH_S).contains(&(now_s - before.at_s)));
    let fresh = fresh.and_then(|before| Some((before.process?, before.at_s)));
    let (process, at_s) = match fresh {
        Some((one, at_s)) => (reader.again(&one), at_s),
        None => (reader.candidate(pid), now_s),
    };
    // Its memory is on its way, though its files tell of none any more.
    let leaving = before.and_then(|before| before.process);
    let leaving = leaving.filter(|one| process.is_none() && reader.is_leaving(one));
    let process = process.or(leaving.map(|one| Candidate { dying: true, ..one }));
    let dying = process.is_some_and(|one| one.dying);
    let since_s = before.and_then(|before| before.dying_s).unwrap_or(now_s);
    let was = before.map_or(0, |before| before.start);
    let start = process.map_or(was, |one| one.start);
    Known {
        process,
        pid,
        start,
        inode,
        statm,
        at_s,
        dying_s: dying.then_some(since_s),
        past: match before {
            Some(before) if was == start => before.past,
            _ => [None; 2],
        },
    }
}

#[cfg(test)]
mod tests;
