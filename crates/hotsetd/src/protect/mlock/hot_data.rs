//! Hot data: parts of files that programs read again and again, locked in memory.
use super::executables::{lock_part, open_quietly, Locked};
use super::limits::Limits;
use super::read_events::{ReadEvent, ReadEvents};
use policy::stack_distance::{Part, ReadHistory, PART};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{FileType, Stat};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Seconds between two selections of the hottest parts.
const SELECT_S: f64 = 0.5;
/// Searches, at most, for a file that was not found while its reader had it open.
const TRIES: u32 = 500;

/// Descriptors of a thread that are looked at. A user may have a million.
const DESCRIPTORS: usize = 4096;

/// An open file that has a hot part.
struct Found {
    file: OwnedFd,
    path: PathBuf,
    length: u64,
}

/// A file as the kernel's events name it.
type Name = ((u32, u32), u64);

fn name_of(part: &Part) -> Name {
    (part.device, part.inode)
}

/// A file that has a hot part.
#[derive(Default)]
struct HotFile {
    found: Option<Found>,
    searches: u32,
}

impl HotFile {
    /// Whether it is searched for. It can only be found while a process has it open.
    fn is_wanted(&self) -> bool {
        self.found.is_none() && self.searches < TRIES
    }
}

/// Observes reads, and locks the hottest data.
pub struct HotData {
    root: PathBuf,
    events: ReadEvents,
    /// Looked up anew with each selection.
    limits: Limits,
    history: ReadHistory,
    files: BTreeMap<Name, HotFile>,
    locked: BTreeMap<Part, Locked>,
    selected_s: f64,
}

impl HotData {
    /// Begins to observe reads. `memory`: bytes of the machine.
    ///
    /// # Errors
    /// As [`ReadEvents::open`].
    pub fn open(root: &Path, memory: u64) -> std::io::Result<HotData> {
        Ok(HotData {
            root: root.to_owned(),
            events: ReadEvents::open(root)?,
            limits: Limits::new(root),
            history: ReadHistory::new(memory),
            files: BTreeMap::new(),
            locked: BTreeMap::new(),
            selected_s: f64::NEG_INFINITY,
        })
    }

    /// Whether a file is searched for.
    #[must_use]
    pub fn is_searching(&self) -> bool {
        self.files.values().any(HotFile::is_wanted)
    }

    /// Bytes that are locked.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.locked.values().map(|part| part.bytes).sum()
    }

    /// Files with locked parts, and the locked bytes of each.
    #[must_use]
    pub fn contents(&self) -> BTreeMap<PathBuf, u64> {
        let mut contents = BTreeMap::new();
        for part in self.locked.values() {
            *contents.entry(part.path.clone()).or_default() += part.bytes;
        }
        contents
    }

    /// Lets go of everything.
    pub fn clear(&mut self) {
        self.locked.clear();
        self.files.clear();
    }

    /// Takes the reads since the last call, and locks the hottest parts within `budget` bytes. `page`: bytes.
    pub fn update(&mut self, now_s: f64, budget: u64, page: usize) {
        let (history, files) = (&mut self.history, &self.files);
        let mut chances: BTreeSet<(Name, u32)> = BTreeSet::new();
        self.events.drain(|ReadEvent { tid, part }| {
            history.read(part, now_s);
            let name = name_of(&part);
            if files.get(&name).is_some_and(HotFile::is_wanted) {
                chances.insert((name, tid));
            }
        });
        for (name, tid) in chances {
            self.search(name, tid);
        }
        if now_s - self.selected_s >= SELECT_S {
            self.selected_s = now_s;
            self.select(now_s, budget, page);
        }
    }

    /// Searches for the file among those that thread `tid` has open.
    fn search(&mut self, name: Name, tid: u32) {
        let wanted = self.files.get_mut(&name).filter(|file| file.is_wanted());
        let Some(file) = wanted else { return };
        file.searches += 1;
        let thread = self.root.join(format!("proc/{tid}"));
        if !self.limits.has_one(&thread) {
            file.found = find(&thread, name);
        }
        if file.found.is_some() {
            // The file's hot parts are locked at once, while the file is still there.
            self.selected_s = f64::NEG_INFINITY;
        }
    }

    /// Locks the hottest parts, and unlocks the others.
    fn select(&mut self, now_s: f64, budget: u64, page: usize) {
        self.limits = Limits::new(&self.root);
        let room = usize::try_from(budget / PART).unwrap_or(usize::MAX);
        let locked = &self.locked;
        let hot = self
            .history
            .hottest(now_s, room, |part| locked.contains_key(part));
        let names: BTreeSet<Name> = hot.iter().map(name_of).collect();
        // A file is held open no longer than it is hot: an open file keeps its file system busy.
        self.files.retain(|name, file| {
            let deleted = |found: &Found| !is_there(&found.file);
            names.contains(name) && !file.found.as_ref().is_some_and(deleted)
        });
        let keep: BTreeSet<&Part> = hot.iter().collect();
        let files = &mut self.files;
        self.locked
            .retain(|part, _| keep.contains(part) && files.contains_key(&name_of(part)));
        let mut left = budget.saturating_sub(self.bytes());
        for part in &hot {
            let file = self.files.entry(name_of(part)).or_default();
            let Some(found) = &file.found else { continue };
            let begin = part.at * PART;
            let length = PART.min(found.length.saturating_sub(begin));
            if self.locked.contains_key(part) || length == 0 || length > left {
                continue;
            }
            // A part that cannot be locked leaves its room to the next.
            if let Ok(locked) = lock_part(&found.file, &found.path, begin, length as usize, page) {
                left -= locked.bytes.min(left);
                self.locked.insert(*part, locked);
            }
        }
    }
}

/// Whether the file still has a name.
fn is_there(file: &OwnedFd) -> bool {
    rustix::fs::fstat(file).is_ok_and(|stat| stat.st_nlink > 0)
}

/// The inode in a text of /proc/TID/fdinfo.
fn inode_of(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("ino:"))?;
    line.trim().parse().ok()
}

/// The file among those that a thread has open. `None`: the thread has ended, or has closed the file. `thread`: its
/// folder in /proc.
fn find(thread: &Path, ((major, minor), inode): Name) -> Option<Found> {
    let is_it = |stat: &Stat| {
        stat.st_ino == inode && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
    };
    let descriptors = std::fs::read_dir(thread.join("fd")).ok()?.flatten();
    let files = descriptors.take(DESCRIPTORS).filter_map(|entry| {
        // stat(2) of a file on a dead server never returns. fdinfo asks nobody (Linux 5.14).
        let told = std::fs::read_to_string(thread.join("fdinfo").join(entry.file_name()));
        let told = told.ok().and_then(|text| inode_of(&text));
        if told.is_some_and(|told| told != inode) {
            return None;
        }
        let place = entry.path();
        let stat = rustix::fs::stat(&place).ok().filter(is_it)?;
        Some((stat.st_dev == rustix::fs::makedev(major, minor), place))
    });
    // Some file systems (btrfs) show programs another device than the one in the kernel's events.
    let (_, place) = files.max_by_key(|(same_device, _)| *same_device)?;
    let file = open_quietly(&place).ok()?;
    // The thread may have closed the file meanwhile, and opened another with this descriptor's number.
    let stat = rustix::fs::fstat(&file).ok().filter(is_it)?;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or(place);
    Some(Found {
        file,
        path,
        length: u64::try_from(stat.st_size).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    const PAGE: usize = 4096;

    /// A machine whose process 7 has a file of two parts open, and whose kernel reports reads.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        for folder in ["", "instances/hotset/"] {
            let event = format!("sys/kernel/tracing/{folder}events/filemap/mm_filemap_get_pages");
            std::fs::create_dir_all(root.path().join(event)).unwrap();
        }
        std::fs::create_dir_all(root.path().join("proc/7/fd")).unwrap();
        let file = root.path().join("data");
        std::fs::write(&file, vec![1u8; 2 * PART as usize]).unwrap();
        std::os::unix::fs::symlink(&file, root.path().join("proc/7/fd/3")).unwrap();
        std::fs::write(pipe(root.path()), "").unwrap();
        root
    }

    fn pipe(root: &Path) -> PathBuf {
        root.join("sys/kernel/tracing/instances/hotset/trace_pipe")
    }

    /// The kernel's lines of a reading of the whole file by process 7.
    fn read_all(root: &Path) {
        use std::io::Write;
        let stat = std::fs::metadata(root.join("data")).unwrap();
        let (major, minor) = (rustix::fs::major(stat.dev()), rustix::fs::minor(stat.dev()));
        let mut pipe = std::fs::OpenOptions::new()
            .append(true)
            .open(pipe(root))
            .unwrap();
        for at in 0..2 {
            let ofs = at * PART;
            writeln!(
                pipe,
                " reader-7 [000] ..... 1.0: mm_filemap_get_pages: dev={major}:{minor} ino={:x} \
                 ofs={ofs}-{}",
                stat.ino(),
                ofs + 131_071
            )
            .unwrap();
        }
    }

    #[test]
    fn data_that_is_read_three_times_is_locked_until_it_is_no_longer_read() {
        let root = root();
        let mut data = HotData::open(root.path(), 64 * PART).unwrap();
        let mut locked = Vec::new();
        for second in 0..4 {
            read_all(root.path());
            data.update(f64::from(second), 16 * PART, PAGE);
            locked.push(data.bytes());
        }
        // The third reading makes the file hot. The fourth names the thread that has it open.
        assert_eq!(locked[..2], [0, 0]);
        assert_eq!(data.bytes(), 2 * PART);
        let contents: Vec<_> = data.contents().into_iter().collect();
        assert_eq!(contents, [(root.path().join("data"), 2 * PART)]);
        // A smaller budget holds the first part only.
        data.update(5.0, PART, PAGE);
        assert_eq!(data.bytes(), PART);
        data.update(70.0, 16 * PART, PAGE);
        assert_eq!((data.bytes(), data.files.len()), (0, 0));
    }

    /// The pages would stay charged to the pod, which could not get rid of them.
    #[test]
    fn what_a_pod_with_a_limit_reads_is_not_locked() {
        for (limit, locked) in [("512000000\n", 0), ("max\n", 2 * PART)] {
            let root = root();
            let pod = root.path().join("sys/fs/cgroup/pod");
            std::fs::create_dir_all(&pod).unwrap();
            std::fs::write(pod.join("memory.max"), limit).unwrap();
            std::fs::write(root.path().join("proc/7/cgroup"), "0::/pod\n").unwrap();
            let mut data = HotData::open(root.path(), 64 * PART).unwrap();
            for second in 0..4 {
                read_all(root.path());
                data.update(f64::from(second), 16 * PART, PAGE);
            }
            assert_eq!(data.bytes(), locked);
        }
    }

    #[test]
    fn a_deleted_file_is_unlocked() {
        let root = root();
        let mut data = HotData::open(root.path(), 64 * PART).unwrap();
        for second in 0..4 {
            read_all(root.path());
            data.update(f64::from(second), 16 * PART, PAGE);
        }
        assert_eq!(data.bytes(), 2 * PART);
        std::fs::remove_file(root.path().join("data")).unwrap();
        data.update(5.0, 16 * PART, PAGE);
        assert_eq!(data.bytes(), 0);
    }

    #[test]
    fn a_file_is_found_among_those_that_a_thread_has_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, [1; 5000]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let (stat, own) = (file.metadata().unwrap(), std::process::id());
        let device = (rustix::fs::major(stat.dev()), rustix::fs::minor(stat.dev()));
        let thread = |tid: u32| PathBuf::from(format!("/proc/{tid}"));
        let found = find(&thread(own), (device, stat.ino())).unwrap();
        assert_eq!((found.path, found.length), (path, 5000));
        assert!(find(&thread(own), (device, u64::MAX)).is_none());
        drop(file);
        assert!(find(&thread(u32::MAX), (device, stat.ino())).is_none());
    }
}
