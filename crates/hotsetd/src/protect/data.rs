//! Hot data: parts of files that programs read again and again, locked in memory.
use super::reads::{tidy, Reads, Seen};
use super::resident::{lock_part, Locked};
use policy::hot::{Heat, Part, PART};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What is hot is judged anew so often.
const JUDGE_S: f64 = 0.5;
/// A file that was not found while its reader had it open is looked for again, so often at most.
const TRIES: u32 = 500;

/// A file that a part of is hot.
struct Found {
    file: OwnedFd,
    path: PathBuf,
    length: u64,
}

/// A file as the kernel's events name it.
type Name = ((u32, u32), u64);

/// Watches what is read, and holds what is hot.
pub struct Data {
    root: PathBuf,
    reads: Reads,
    heat: Heat,
    files: BTreeMap<Name, Found>,
    /// Files that have hot parts and were not found yet, and how often they were looked for.
    wanted: BTreeMap<Name, u32>,
    locked: BTreeMap<Part, Locked>,
    judged_s: f64,
}

impl Data {
    /// `memory`: bytes of it.
    ///
    /// # Errors
    /// As [`Reads::open`].
    pub fn open(root: &Path, memory: u64) -> std::io::Result<Data> {
        tidy(root);
        Ok(Data {
            root: root.to_owned(),
            reads: Reads::open(root)?,
            heat: Heat::new(memory),
            files: BTreeMap::new(),
            wanted: BTreeMap::new(),
            locked: BTreeMap::new(),
            judged_s: f64::NEG_INFINITY,
        })
    }

    /// Is a file being looked for? It can only be found while somebody has it open.
    #[must_use]
    pub fn is_stalking(&self) -> bool {
        self.wanted.values().any(|&tries| tries < TRIES)
    }

    /// Bytes that are locked.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.locked.values().map(|part| part.bytes).sum()
    }

    /// Files of which something is locked, and how much.
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

    /// Listens, and holds what is hottest within `budget` bytes.
    pub fn look(&mut self, now_s: f64, budget: u64, page: usize) {
        let (heat, wanted) = (&mut self.heat, &mut self.wanted);
        let mut chances: BTreeSet<(Name, u32)> = BTreeSet::new();
        self.reads.drain(|Seen { tid, part }| {
            heat.read(part, now_s);
            let name = (part.device, part.inode);
            if wanted.get(&name).is_some_and(|&tries| tries < TRIES) {
                chances.insert((name, tid));
            }
        });
        for (name, tid) in chances {
            self.seek(name, tid);
        }
        if now_s - self.judged_s >= JUDGE_S {
            self.judged_s = now_s;
            self.judge(now_s, budget, page);
        }
    }

    /// Looks for the file among those that `tid` has open.
    fn seek(&mut self, name: Name, tid: u32) {
        if self.files.contains_key(&name) {
            return;
        }
        match find(&self.root, name, tid) {
            Some(found) => {
                self.wanted.remove(&name);
                self.files.insert(name, found);
                // What is hot of it is taken now, while it is still there.
                self.judged_s = f64::NEG_INFINITY;
            }
            None => *self.wanted.entry(name).or_default() += 1,
        }
    }

    fn judge(&mut self, now_s: f64, budget: u64, page: usize) {
        let room = usize::try_from(budget / PART).unwrap_or(usize::MAX);
        let locked = &self.locked;
        let hot = self
            .heat
            .hottest(now_s, room, |part| locked.contains_key(part));
        let names: BTreeSet<Name> = hot.iter().map(|part| (part.device, part.inode)).collect();
        self.wanted.retain(|name, _| names.contains(name));
        // Held on to no longer than it is hot: an open file keeps its file system busy.
        self.files.retain(|name, found| {
            let there = rustix::fs::fstat(&found.file).is_ok_and(|stat| stat.st_nlink > 0);
            there && names.contains(name)
        });
        let (keep, files): (BTreeSet<&Part>, _) = (hot.iter().collect(), &self.files);
        self.locked.retain(|part, _| {
            keep.contains(part) && files.contains_key(&(part.device, part.inode))
        });
        let mut left = budget.saturating_sub(self.bytes());
        for part in &hot {
            let name = (part.device, part.inode);
            let Some(found) = self.files.get(&name) else {
                self.wanted.entry(name).or_default();
                continue;
            };
            let begin = part.at * PART;
            let length = PART.min(found.length.saturating_sub(begin));
            if self.locked.contains_key(part) || length == 0 || length > left {
                continue;
            }
            // What may not be locked leaves its room to the next.
            if let Ok(locked) = lock_part(&found.file, &found.path, begin, length as usize, page) {
                left -= locked.bytes.min(left);
                self.locked.insert(*part, locked);
            }
        }
    }
}

/// The file among those that a thread has open.
fn find(root: &Path, ((major, minor), inode): Name, tid: u32) -> Option<Found> {
    let folder = root.join(format!("proc/{tid}/fd"));
    let is_it = |stat: &Stat| {
        stat.st_ino == inode && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
    };
    // A file system may tell programs another device than the kernel has for it (btrfs).
    let same = |stat: &Stat| stat.st_dev == rustix::fs::makedev(major, minor);
    let mut best: Option<(bool, PathBuf)> = None;
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let place = entry.path();
        let Ok(stat) = rustix::fs::statat(rustix::fs::CWD, &place, AtFlags::empty()) else {
            continue;
        };
        if is_it(&stat) && best.as_ref().is_none_or(|(sure, _)| !sure) {
            best = Some((same(&stat), place));
        }
    }
    let (_, place) = best?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let open = |flags| rustix::fs::open(&place, flags, Mode::empty());
    let file = open(flags | OFlags::NOATIME)
        .or_else(|_| open(flags))
        .ok()?;
    // It may have been closed, and its number given to another, between the two.
    let stat = rustix::fs::fstat(&file).ok().filter(is_it)?;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", raw(&file))).unwrap_or(place);
    Some(Found {
        file,
        path,
        length: u64::try_from(stat.st_size).unwrap_or(0),
    })
}

fn raw(file: &OwnedFd) -> i32 {
    use rustix::fd::AsRawFd;
    file.as_raw_fd()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    const PAGE: usize = 4096;

    /// A machine whose process 7 has a file of two megabytes open, and whose kernel tells of reads.
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
    fn what_is_read_a_third_time_is_locked_and_let_go_of_when_it_is_no_longer_read() {
        let root = root();
        let mut data = Data::open(root.path(), 64 * PART).unwrap();
        let mut locked = Vec::new();
        for second in 0..4 {
            read_all(root.path());
            data.look(f64::from(second), 16 * PART, PAGE);
            locked.push(data.bytes());
        }
        // Known to be hot at the third; who has it open is asked at the next.
        assert_eq!(locked[..2], [0, 0]);
        assert_eq!(data.bytes(), 2 * PART);
        let contents: Vec<_> = data.contents().into_iter().collect();
        assert_eq!(contents, [(root.path().join("data"), 2 * PART)]);
        // Within a smaller budget: what comes first of it.
        data.look(5.0, PART, PAGE);
        assert_eq!(data.bytes(), PART);
        data.look(70.0, 16 * PART, PAGE);
        assert_eq!((data.bytes(), data.files.len()), (0, 0));
    }

    #[test]
    fn a_file_that_is_deleted_is_let_go_of() {
        let root = root();
        let mut data = Data::open(root.path(), 64 * PART).unwrap();
        for second in 0..4 {
            read_all(root.path());
            data.look(f64::from(second), 16 * PART, PAGE);
        }
        assert_eq!(data.bytes(), 2 * PART);
        std::fs::remove_file(root.path().join("data")).unwrap();
        data.look(5.0, 16 * PART, PAGE);
        assert_eq!(data.bytes(), 0);
    }

    #[test]
    fn a_file_is_found_by_who_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        std::fs::write(&path, [1; 5000]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let (stat, own) = (file.metadata().unwrap(), std::process::id());
        let device = (rustix::fs::major(stat.dev()), rustix::fs::minor(stat.dev()));
        let found = find("/".as_ref(), (device, stat.ino()), own).unwrap();
        assert_eq!((found.path, found.length), (path, 5000));
        assert!(find("/".as_ref(), (device, u64::MAX), own).is_none());
        drop(file);
        assert!(find("/".as_ref(), (device, stat.ino()), u32::MAX).is_none());
    }
}
