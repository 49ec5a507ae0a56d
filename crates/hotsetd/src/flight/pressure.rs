//! Which cgroups wait for memory: memory.pressure of each, on cgroup v2.
use crate::flight::budget::Budget;
use crate::os::clock::Clock;
use crate::os::fixed_string::Text;
use kernfs::psi::Pressure;
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, RawDir};
use std::mem::MaybeUninit;
use std::path::Path;

/// Cgroups that a record names.
const MOST: usize = 6;
/// Cgroups that are asked, at most: the first that are found, breadth first.
const ROOM: usize = 256;
/// Levels below the root: user.slice, user-UID.slice, user@UID.service, app.slice, a program's scope.
const LEVELS: u8 = 5;
/// Seconds between two rounds on a calm machine, and while tasks wait for memory.
const CALM_S: f64 = 60.0;
const PRESSED_S: f64 = 1.0;
/// Seconds after which new cgroups are looked for.
const LIST_S: f64 = 10.0;
/// Rounds take at most this share of a CPU in the long run.
const SHARE: f64 = 0.0003;

/// One cgroup as a record shows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    pub name: Text<128>,
    /// memory.current and memory.max, KiB; 0: no limit.
    pub kib: u64,
    pub max_kib: u64,
    /// Processes of it that the kernel has killed.
    pub oom_kills: u64,
    /// Microseconds since it began in which some of its tasks, or all, waited for memory.
    pub some_us: u64,
    pub full_us: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    one: Waiting,
    level: u8,
    /// Microseconds that were added at the last round; `None`: it was never asked.
    waited_us: Option<u64>,
}

/// The cgroups of the machine.
pub struct CgroupPressure {
    /// `None`: there are none of version 2.
    folder: Option<OwnedFd>,
    known: Vec<Known>,
    before: Vec<Known>,
    found: [Waiting; MOST],
    count: usize,
    asked_s: f64,
    listed_s: f64,
    budget: Budget,
}

impl CgroupPressure {
    pub fn open(root: &Path) -> CgroupPressure {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = root.join("sys/fs/cgroup");
        let unified = root.join("cgroup.controllers").exists();
        let folder = rustix::fs::open(root, flags, Mode::empty()).ok();
        CgroupPressure {
            folder: folder.filter(|_| unified),
            known: Vec::with_capacity(ROOM),
            before: Vec::with_capacity(ROOM),
            found: [Waiting::default(); MOST],
            count: 0,
            asked_s: f64::NEG_INFINITY,
            listed_s: f64::NEG_INFINITY,
            budget: Budget::new(SHARE),
        }
    }

    /// Those that waited most since the round before, most first. Above a cgroup that waits stand others that wait as
    /// long; they are left out.
    pub fn all(&self) -> &[Waiting] {
        &self.found[..self.count]
    }

    /// Asks all where it is time.
    pub fn update(&mut self, clock: &Clock, now_s: f64, pressed: bool) {
        let wanted_s = match pressed {
            true => PRESSED_S,
            false => CALM_S,
        };
        let is_due = self.budget.is_left(now_s) && now_s - self.asked_s >= wanted_s;
        if self.folder.is_none() || !is_due {
            return;
        }
        let begun_s = clock.thread_cpu_s();
        if now_s - self.listed_s >= LIST_S {
            self.list();
            self.listed_s = now_s;
        }
        self.ask();
        self.choose();
        self.asked_s = now_s;
        self.budget.take(clock.thread_cpu_s() - begun_s);
    }

    /// Finds the cgroups anew, breadth first.
    fn list(&mut self) {
        std::mem::swap(&mut self.known, &mut self.before);
        self.known.clear();
        self.known.push(Known::default());
        let mut next = 0;
        while let Some(parent) = self.known.get(next).copied() {
            next += 1;
            if parent.level < LEVELS {
                self.list_children(&parent);
            }
        }
        // The root has no pressure of its own: it is the machine's.
        self.known.remove(0);
    }

    fn list_children(&mut self, parent: &Known) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let path = match parent.one.name.as_str() {
            "" => ".",
            path => path,
        };
        let Some(folder) = &self.folder else { return };
        let Ok(folder) = rustix::fs::openat(folder, path, flags, Mode::empty()) else {
            return;
        };
        let mut names = [MaybeUninit::uninit(); 4096];
        let mut names = RawDir::new(&folder, &mut names);
        while let Some(Ok(entry)) = names.next() {
            let name = entry.file_name().to_bytes();
            let Ok(name) = std::str::from_utf8(name) else {
                continue;
            };
            if entry.file_type() != FileType::Directory || name.starts_with('.') {
                continue;
            }
            if self.known.len() == self.known.capacity() {
                return;
            }
            let mut path = parent.one.name;
            let slash = if path.as_str().is_empty() { "" } else { "/" };
            path.put(format_args!("{slash}{name}"));
            if path.is_cut() {
                continue;
            }
            let old = self.before.iter().find(|old| old.one.name == path);
            self.known.push(Known {
                one: Waiting {
                    name: path,
                    ..old.map(|old| old.one).unwrap_or_default()
                },
                level: parent.level + 1,
                waited_us: old.and_then(|old| old.waited_us),
            });
        }
    }

    fn ask(&mut self) {
        let Some(folder) = &self.folder else { return };
        for known in &mut self.known {
            let mut pressure = Pressure::default();
            let mut bytes = [0; 512];
            let text = read(folder, &known.one.name, "memory.pressure", &mut bytes);
            if text.is_none_or(|text| pressure.parse(text).is_err()) {
                known.waited_us = None;
                continue;
            }
            let total = |stall: Option<kernfs::psi::Stall>| stall.map_or(0, |stall| stall.total_us);
            let (some_us, full_us) = (total(pressure.some), total(pressure.full));
            // A cgroup that was never asked has waited since it began.
            known.waited_us = Some(some_us.saturating_sub(known.one.some_us));
            (known.one.some_us, known.one.full_us) = (some_us, full_us);
        }
    }

    fn choose(&mut self) {
        let mut top = [Known::default(); MOST];
        for known in &self.known {
            let waited_us = known.waited_us.unwrap_or(0);
            if waited_us > top[MOST - 1].waited_us.unwrap_or(0) && !self.is_for_others(known) {
                let at = top.partition_point(|other| other.waited_us >= known.waited_us);
                top.copy_within(at..MOST - 1, at + 1);
                top[at] = *known;
            }
        }
        self.count = top.iter().filter(|known| known.waited_us.is_some()).count();
        let Some(folder) = &self.folder else { return };
        for (into, known) in self.found.iter_mut().zip(&top[..self.count]) {
            *into = known.one;
            into.kib = number(folder, &known.one.name, "memory.current", "") >> 10;
            // "max" is no number: 0.
            into.max_kib = number(folder, &known.one.name, "memory.max", "") >> 10;
            into.oom_kills = number(folder, &known.one.name, "memory.events", "oom_kill ");
        }
    }

    /// Whether a cgroup below this one waited at least half as long.
    fn is_for_others(&self, known: &Known) -> bool {
        let waited_us = known.waited_us.unwrap_or(0);
        self.known.iter().any(|other| {
            let below = other
                .one
                .name
                .as_str()
                .strip_prefix(known.one.name.as_str());
            below.is_some_and(|below| below.starts_with('/'))
                && other.waited_us.unwrap_or(0) * 2 >= waited_us
        })
    }
}

/// The number on the line of a cgroup's file that begins with `field`; 0 where there is none.
fn number(folder: &OwnedFd, cgroup: &Text<128>, name: &str, field: &str) -> u64 {
    let mut bytes = [0; 512];
    let text = read(folder, cgroup, name, &mut bytes);
    let text = text.and_then(|text| std::str::from_utf8(text).ok());
    let mut lines = text.unwrap_or_default().lines();
    let found = lines.find_map(|line| line.strip_prefix(field)?.trim().parse().ok());
    found.unwrap_or(0)
}

/// A short file of a cgroup.
fn read<'t>(
    folder: &OwnedFd,
    cgroup: &Text<128>,
    name: &str,
    bytes: &'t mut [u8],
) -> Option<&'t [u8]> {
    let place = Text::<160>::of(format_args!("{cgroup}/{name}"));
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, place.as_str(), flags, Mode::empty()).ok()?;
    let length = rustix::io::read(file, &mut *bytes).ok()?;
    Some(&bytes[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, cgroup: &str, some_us: u64) {
        let top = root.join("sys/fs/cgroup");
        std::fs::create_dir_all(&top).unwrap();
        std::fs::write(top.join("cgroup.controllers"), "memory\n").unwrap();
        let folder = root.join("sys/fs/cgroup").join(cgroup);
        std::fs::create_dir_all(&folder).unwrap();
        let line =
            |kind: &str| format!("{kind} avg10=0.00 avg60=0.00 avg300=0.00 total={some_us}\n");
        std::fs::write(folder.join("memory.pressure"), line("some") + &line("full")).unwrap();
        std::fs::write(folder.join("memory.current"), "1048576\n").unwrap();
    }

    fn names(seen: &CgroupPressure) -> Vec<&str> {
        seen.all().iter().map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn those_that_waited_are_named_and_not_those_above_them() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "system.slice", 5_000);
        put(root.path(), "system.slice/db.service", 4_000);
        put(root.path(), "system.slice/idle.service", 0);
        put(root.path(), "user.slice", 100);
        let mut seen = CgroupPressure::open(root.path());
        seen.update(&Clock::System, 0.0, true);
        assert_eq!(names(&seen), ["system.slice/db.service", "user.slice"]);
        assert_eq!(seen.all()[0].kib, 1024);
        // Nobody has waited since.
        seen.update(&Clock::System, 0.5, true);
        assert_eq!(seen.all().len(), 2);
        seen.update(&Clock::System, 20.0, true);
        assert!(names(&seen).is_empty());
        // A new one, and one that waits again.
        put(root.path(), "system.slice/new.service", 70);
        put(root.path(), "user.slice", 150);
        seen.update(&Clock::System, 40.0, true);
        assert_eq!(names(&seen), ["system.slice/new.service", "user.slice"]);
    }

    #[test]
    fn one_round_that_cost_much_does_not_blind_it() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "db.slice", 10);
        let mut seen = CgroupPressure::open(root.path());
        seen.update(&Clock::System, 0.0, true);
        // As where the thread that asks reclaims memory for a while.
        seen.budget.take(0.01);
        put(root.path(), "db.slice", 900_000);
        seen.update(&Clock::System, 1.0, true);
        assert_eq!(seen.all()[0].some_us, 900_000);
    }

    #[test]
    fn a_machine_without_cgroups_has_none() {
        let root = tempfile::tempdir().unwrap();
        let mut seen = CgroupPressure::open(root.path());
        seen.update(&Clock::System, 0.0, true);
        assert!(seen.all().is_empty());
    }
}
