//! Reads the files of one process in /proc.
//!
//! A process has four short files: `status` (memory, user, pending SIGKILL), `stat` (start, session),
//! `oom_score_adj` and `cgroup`. `statm` costs half of `status`, and shows whether there is anything new in it.
use crate::os::fixed_string::Text;
use crate::protect::oom::rules::{Owner, Rules};
use kernfs::meminfo::Meminfo;
use policy::victim::{Candidate, Eligibility};
use random::fnv1a;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, RawDir};
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

/// Reads the files of processes, one after the other.
pub(super) struct Reader {
    pub proc: OwnedFd,
    /// Where cgroup v2 is mounted.
    pub cgroups: PathBuf,
    pub page_kib: u64,
    pub rules: Rules,
    pub meminfo: Meminfo,
    /// The text of a file passes through it.
    pub text: Vec<u8>,
}

/// [`Reader::statm`] of a process that has no memory of its own.
pub(super) const NO_MEMORY: u64 = 0;
/// Threads that are looked at, at most, for the memory of a process whose first thread has ended. All that have not
/// ended share it.
const THREADS: usize = 64;

impl Reader {
    /// Reads all four files; `None`: the process has ended, is a zombie, or a kernel thread.
    pub fn candidate(&mut self, pid: i32) -> Option<Candidate> {
        let (mut one, contained) = self.status(pid)?;
        let stat = self.stat(pid)?;
        (one.start, one.session) = (stat.start, stat.session);
        let adj = self.file(pid, "oom_score_adj")?;
        one.adj = std::str::from_utf8(adj).ok()?.trim().parse().ok()?;
        let text = read(&self.proc, pid, "cgroup", &mut self.text);
        let cgroup = text.map_or("", cgroup);
        one.cgroup = fnv1a(cgroup.bytes());
        let owner = Owner {
            uid: one.uid,
            contained,
        };
        let by_rules = self.rules.of(one.name(), cgroup, owner);
        one.eligibility = match (by_rules, preference(&self.cgroups, cgroup)) {
            _ if pid == 1 => Eligibility::Never,
            (Eligibility::Never, _) | (_, None) => by_rules,
            (_, Some(preference)) => preference,
        };
        Some(one)
    }

    /// A number for the text of `statm`, by which the process's memory is known to be as before; [`NO_MEMORY`] for a
    /// kernel thread or a zombie. `None`: the process has ended, or there is no such file.
    pub fn statm(&mut self, pid: i32) -> Option<u64> {
        self.file(pid, "statm").map(|text| match text {
            [b'0', b' ', ..] => NO_MEMORY,
            _ => fnv1a(text.iter().copied()),
        })
    }

    /// Pages of swap that are in use, and not in memory as well.
    pub fn swap_in_use(&mut self) -> Option<u64> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.proc, "meminfo", flags, Mode::empty()).ok()?;
        let length = rustix::io::read(file, &mut *self.text).ok()?;
        self.meminfo.parse(&self.text[..length]).ok()?;
        let meminfo = &self.meminfo;
        let free = meminfo.swap_free()? + meminfo.swap_cached()?;
        Some(meminfo.swap_total()?.saturating_sub(free) / self.page_kib)
    }

    /// The path of the process's cgroup (v2); empty where it has none.
    pub fn cgroup_path(&mut self, pid: i32) -> &str {
        self.file(pid, "cgroup").map_or("", cgroup)
    }

    /// As [`Reader::candidate`], where the files that hardly change had the values in `before`.
    pub fn again(&mut self, before: &Candidate) -> Option<Candidate> {
        let (now, _) = self.status(before.pid)?;
        if (now.name, now.uid) != (before.name, before.uid) {
            return self.candidate(before.pid);
        }
        Some(Candidate {
            memory: now.memory,
            shared: now.shared,
            swapped: now.swapped,
            missing: now.missing,
            dying: now.dying,
            parent: now.parent,
            ..*before
        })
    }

    fn file(&mut self, pid: i32, name: &str) -> Option<&[u8]> {
        read(&self.proc, pid, name, &mut self.text)
    }

    /// Whether the process, of which no file tells of memory any more, is still giving it back: it ends, and has not
    /// ended.
    pub fn is_leaving(&mut self, one: &Candidate) -> bool {
        // PF_EXITING in include/linux/sched.h.
        const EXITING: u64 = 4;
        let Some(stat) = self.stat(one.pid).filter(|stat| stat.start == one.start) else {
            return false;
        };
        let zombie = matches!(stat.state, "Z" | "X");
        // Of a process with threads the first may have ended before the others.
        stat.threads > 1 || !zombie && stat.flags & EXITING != 0
    }

    /// Reads `status`: the process, and whether it lives in a namespace of pids, as in a container. `None`: a kernel
    /// thread or a zombie, which have no memory.
    fn status(&mut self, pid: i32) -> Option<(Candidate, bool)> {
        let mut fields = self.fields(pid, "status")?;
        if fields.resident().is_none() && fields.threads > 1 {
            fields = self.thread_with_memory(pid)?;
        }
        let one = Candidate {
            pid,
            memory: (fields.resident()? + fields.swap + fields.tables) / self.page_kib,
            shared: fields.shared / self.page_kib,
            swapped: fields.swap / self.page_kib,
            missing: fields.missing() / self.page_kib,
            ..fields.process
        };
        Some((one, fields.contained))
    }

    /// Where the first thread has ended (pthread_exit(3)), the process's own files tell of no memory.
    fn thread_with_memory(&mut self, pid: i32) -> Option<Fields> {
        let folder = open(&self.proc, pid, "task")?;
        let mut names = [MaybeUninit::uninit(); 2048];
        let mut names = RawDir::new(&folder, &mut names);
        for _ in 0..THREADS {
            let entry = names.next()?.ok()?;
            let Some(thread) = number(entry.file_name().to_bytes()) else {
                continue;
            };
            let place = Text::<32>::of(format_args!("task/{thread}/status"));
            let fields = self.fields(pid, place.as_str());
            if let Some(fields) = fields.filter(|fields| fields.resident().is_some()) {
                return Some(fields);
            }
        }
        None
    }

    /// Reads the lines of `status` of a process, or of a thread.
    ///
    /// The line of a user's groups comes before those of memory, and may be as long as it likes. A line that is
    /// longer than the text's room is passed over.
    fn fields(&mut self, pid: i32, name: &str) -> Option<Fields> {
        let file = open(&self.proc, pid, name)?;
        let mut fields = Fields::default();
        let (mut kept, mut cut) = (0, false);
        loop {
            let length = rustix::io::read(&file, &mut self.text[kept..]).ok()?;
            if length == 0 {
                break;
            }
            let end = kept + length;
            let mut begin = 0;
            while let Some(line) = self.text[begin..end].iter().position(|&byte| byte == b'\n') {
                if !std::mem::take(&mut cut) {
                    fields.read(&self.text[begin..begin + line])?;
                }
                begin += line + 1;
            }
            self.text.copy_within(begin..end, 0);
            kept = end - begin;
            if kept == self.text.len() {
                (kept, cut) = (0, true);
            }
        }
        Some(fields)
    }

    /// Reads `stat`. Its fields are counted from the end of the name, which may hold any character.
    fn stat(&mut self, pid: i32) -> Option<Stat<'_>> {
        let text = self.file(pid, "stat")?;
        let behind = text.iter().rposition(|&byte| byte == b')')? + 1;
        let rest = std::str::from_utf8(&text[behind..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        Some(Stat {
            state: fields.next()?,
            session: fields.nth(2)?.parse().ok()?,
            flags: fields.nth(2)?.parse().ok()?,
            threads: fields.nth(10)?.parse().ok()?,
            start: fields.nth(1)?.parse().ok()?,
        })
    }
}

/// Fields 3, 6, 9, 20 and 22 of `stat`.
struct Stat<'t> {
    state: &'t str,
    session: i32,
    flags: u64,
    threads: i64,
    /// Clock ticks since boot.
    start: u64,
}

fn open(proc: &OwnedFd, pid: i32, name: &str) -> Option<OwnedFd> {
    let place = Text::<48>::of(format_args!("{pid}/{name}"));
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat(proc, place.as_str(), flags, Mode::empty()).ok()
}

/// A short file of a process.
fn read<'t>(proc: &OwnedFd, pid: i32, name: &str, text: &'t mut [u8]) -> Option<&'t [u8]> {
    let file = open(proc, pid, name)?;
    let length = rustix::io::read(file, &mut *text).ok()?;
    Some(&text[..length])
}

/// The lines of `status` that count. KiB.
#[derive(Default)]
struct Fields {
    process: Candidate,
    anon: Option<u64>,
    /// All resident pages: Linux before 4.5 and some sandboxes tell no more.
    resident: Option<u64>,
    /// The most that `resident` has been.
    peak: u64,
    shared: u64,
    swap: u64,
    tables: u64,
    threads: u64,
    /// The process lives in a namespace of pids: in a container.
    contained: bool,
}

impl Fields {
    /// KiB; `None`: the lines tell of no memory.
    fn resident(&self) -> Option<u64> {
        match self.anon {
            Some(anon) => Some(anon + self.shared),
            None => self.resident,
        }
    }

    /// KiB that were in memory once, and are neither there nor in swap.
    fn missing(&self) -> u64 {
        let there = self.resident.unwrap_or(self.peak) + self.swap;
        self.peak.saturating_sub(there)
    }

    /// `None`: the line is not as the kernel writes it.
    fn read(&mut self, line: &[u8]) -> Option<()> {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else {
            return Some(());
        };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let mut words = value.split(|byte| byte.is_ascii_whitespace());
        let first = words.next().unwrap_or_default();
        let one = &mut self.process;
        match name {
            b"Name" => {
                let length = value.len().min(15);
                one.name[..length].copy_from_slice(&value[..length]);
            }
            b"PPid" => one.parent = number(first)? as i32,
            b"Uid" => one.uid = number(first)? as u32,
            b"NSpid" => self.contained = words.next().is_some(),
            b"RssAnon" => self.anon = number(first),
            b"RssShmem" => self.shared = number(first)?,
            b"VmRSS" => self.resident = number(first),
            b"VmHWM" => self.peak = number(first)?,
            b"VmPTE" => self.tables = number(first)?,
            b"VmSwap" => self.swap = number(first)?,
            b"Threads" => self.threads = number(first)?,
            b"SigPnd" | b"ShdPnd" => {
                const SIGKILL: u64 = 1 << 8;
                let set = std::str::from_utf8(first).ok()?;
                one.dying |= u64::from_str_radix(set, 16).is_ok_and(|set| set & SIGKILL != 0);
            }
            _ => {}
        }
        Some(())
    }
}

/// The path in the line of cgroup v2, `0::/path`.
fn cgroup(text: &[u8]) -> &str {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let unified = text.lines().find_map(|line| line.strip_prefix("0::"));
    unified.unwrap_or_default()
}

/// What the unit of a cgroup says by `ManagedOOMPreference=` (systemd.resource-control(5)), which systemd keeps in an
/// extended attribute. As for systemd-oomd, `omit` counts in full only on a cgroup of root's: users own their units.
fn preference(cgroups: &Path, cgroup: &str) -> Option<Eligibility> {
    let place = Text::<512>::of(format_args!("{}{cgroup}", cgroups.display()));
    let says = |name: &str| {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(place.as_str(), name, &mut value);
        length.is_ok_and(|length| value[..length].starts_with(b"1"))
    };
    if says("user.oomd_omit") {
        let owner = rustix::fs::stat(place.as_str()).ok()?.st_uid;
        return Some(match owner {
            0 => Eligibility::Never,
            _ => Eligibility::Last,
        });
    }
    says("user.oomd_avoid").then_some(Eligibility::Last)
}

pub(super) fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
