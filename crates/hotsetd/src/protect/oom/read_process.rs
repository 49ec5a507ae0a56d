//! Reads the files of one process in /proc.
//!
//! A process has four short files: `status` (memory, user, pending SIGKILL), `stat` (start, session),
//! `oom_score_adj` and `cgroup`. `statm` costs half of `status`, and shows whether there is anything new in it.
use super::rules::{Owner, Rules};
use crate::os::fixed_string::Text;
use policy::victim::{Candidate, Eligibility};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::path::Path;

/// Reads the files of the process `pid`. Pages have `page_kib` KiB. The text of a file passes through `text`.
pub(super) struct Reader<'a> {
    pub proc: &'a OwnedFd,
    /// Where cgroup v2 is mounted.
    pub cgroups: &'a Path,
    pub text: &'a mut [u8],
    pub pid: i32,
    pub page_kib: u64,
    pub rules: &'a Rules,
}

/// [`Reader::statm`] of a process that has no memory of its own.
pub(super) const NO_MEMORY: u64 = 0;

/// What `status` says.
struct Status {
    process: Candidate,
    /// The process lives in a namespace of pids: in a container.
    contained: bool,
}

impl Reader<'_> {
    /// Reads all four files; `None`: the process has ended, is a zombie, or a kernel thread.
    pub fn candidate(&mut self) -> Option<Candidate> {
        let pid = self.pid;
        let status = self.status()?;
        let mut one = status.process;
        one.pid = pid;
        (one.start, one.session) = self.start_and_session()?;
        let adj = self.file("oom_score_adj")?;
        one.adj = std::str::from_utf8(adj).ok()?.trim().parse().ok()?;
        let (rules, owner) = (
            self.rules,
            Owner {
                uid: one.uid,
                contained: status.contained,
            },
        );
        let cgroups = self.cgroups;
        let cgroup = self.cgroup_path();
        one.cgroup = number_of(cgroup.as_bytes());
        one.eligibility = match pid {
            1 => Eligibility::Never,
            _ => match (
                rules.of(one.name(), cgroup, owner),
                preference(cgroups, cgroup),
            ) {
                (Eligibility::Never, _) | (_, Some(Eligibility::Never)) => Eligibility::Never,
                (_, Some(last)) => last,
                (by_rules, None) => by_rules,
            },
        };
        Some(one)
    }

    /// A number for the text of `statm`, by which the process's memory is known to be as before; [`NO_MEMORY`] for a
    /// kernel thread or a zombie. `None`: the process has ended, or there is no such file.
    pub fn statm(&mut self) -> Option<u64> {
        self.file("statm").map(|text| match text {
            [b'0', b' ', ..] => NO_MEMORY,
            _ => number_of(text),
        })
    }

    /// The path of the process's cgroup (v2); empty where it has none.
    pub fn cgroup_path(&mut self) -> &str {
        self.file("cgroup").map_or("", |text| cgroup(text))
    }

    /// As [`Reader::candidate`], where the files that hardly change had the values in `before`.
    pub fn again(&mut self, before: &Candidate) -> Option<Candidate> {
        let now = self.status()?.process;
        if (now.name, now.uid) != (before.name, before.uid) {
            return self.candidate();
        }
        Some(Candidate {
            memory: now.memory,
            dying: now.dying,
            parent: now.parent,
            ..*before
        })
    }

    fn open(&self, name: &str) -> Option<OwnedFd> {
        let place = Text::<48>::of(format_args!("{}/{name}", self.pid));
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        rustix::fs::openat(self.proc.as_fd(), place.as_str(), flags, Mode::empty()).ok()
    }

    /// A short file.
    fn file(&mut self, name: &str) -> Option<&[u8]> {
        let file = self.open(name)?;
        let length = rustix::io::read(file, &mut self.text[..]).ok()?;
        Some(&self.text[..length])
    }

    /// Reads `status`; `None`: a kernel thread or a zombie, which have no memory.
    ///
    /// The line of a user's groups comes before those of memory, and may be as long as it likes. A line that is
    /// longer than the text's room is passed over.
    fn status(&mut self) -> Option<Status> {
        let file = self.open("status")?;
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
        fields.status(self.page_kib)
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

/// The lines of `status` that count. KiB.
#[derive(Default)]
struct Fields {
    process: Candidate,
    anon: Option<u64>,
    /// All resident pages: Linux before 4.5 and some sandboxes tell no more.
    resident: Option<u64>,
    shared: u64,
    swap: u64,
    tables: u64,
    contained: bool,
}

impl Fields {
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
            b"VmPTE" => self.tables = number(first)?,
            b"VmSwap" => self.swap = number(first)?,
            b"SigPnd" | b"ShdPnd" => {
                const SIGKILL: u64 = 1 << 8;
                let set = std::str::from_utf8(first).ok()?;
                one.dying |= u64::from_str_radix(set, 16).is_ok_and(|set| set & SIGKILL != 0);
            }
            _ => {}
        }
        Some(())
    }

    fn status(self, page_kib: u64) -> Option<Status> {
        let resident = match self.anon {
            Some(anon) => anon + self.shared,
            None => self.resident?,
        };
        Some(Status {
            process: Candidate {
                memory: (resident + self.swap + self.tables) / page_kib,
                ..self.process
            },
            contained: self.contained,
        })
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

/// FNV-1a: a number by which equal texts are known.
fn number_of(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

pub(super) fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
