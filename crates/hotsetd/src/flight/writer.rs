//! The thread that writes slots to the file. The event loop hands them over and never waits for the disk.
use crate::flight::disk::{open, read_slot, write_slot, Aligned};
use crate::flight::keep;
use flight::{Header, Kept, Layout};
use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::Arc;

/// Slots that wait for the disk at most.
const WAITING: usize = 32;
const STACK: usize = 64 << 10;

/// A slot, and the places of the file that it belongs to.
struct Order {
    bytes: Box<[u8]>,
    places: [Option<u64>; 3],
}

enum Job {
    Write(Order),
    /// Copies what was written last to where it stays.
    Keep(Kept),
}

/// What the thread has seen, for the event loop.
#[derive(Default)]
pub struct Seen {
    /// Writes that failed.
    pub failed: AtomicU64,
    /// The last error, as the kernel numbers it.
    pub errno: AtomicI32,
}

/// The thread, as the event loop sees it.
pub struct Writer {
    jobs: SyncSender<Job>,
    done: Receiver<Box<[u8]>>,
    spare: Vec<Box<[u8]>>,
    pub seen: Arc<Seen>,
    pub layout: Layout,
    /// The number of the next record.
    pub number: u64,
}

impl Writer {
    /// Opens the file, or makes it, and starts the thread. `bytes`: the file's size.
    ///
    /// # Errors
    /// The file cannot be made, or is not writable.
    pub fn start(
        path: &Path,
        layout: Layout,
        machine: &kernfs::samples::Machine,
    ) -> io::Result<Writer> {
        let file = match open_same(path, layout, machine) {
            Some(file) => file,
            None => create(path, layout, machine)?,
        };
        let number = next_number(&file, &layout);
        let (jobs, take) = mpsc::sync_channel(WAITING + 1);
        let (give, done) = mpsc::sync_channel(WAITING);
        let seen = Arc::new(Seen::default());
        let mut work = Work {
            buffer: Aligned::new(layout.slot as usize),
            file,
            layout,
            number,
            seen: seen.clone(),
        };
        std::thread::Builder::new()
            .name("hotsetd-flight".into())
            .stack_size(STACK)
            .spawn(move || work.run(&take, &give))?;
        let slot = || vec![0; layout.slot as usize].into_boxed_slice();
        Ok(Writer {
            jobs,
            done,
            spare: std::iter::repeat_with(slot).take(WAITING).collect(),
            seen,
            layout,
            number,
        })
    }

    /// Share of the slots, 0 to 1, that wait for the disk.
    pub fn backlog(&mut self) -> f64 {
        self.spare.extend(self.done.try_iter());
        1.0 - self.spare.len() as f64 / WAITING as f64
    }

    /// Hands a slot over. `false`: too many wait for the disk, and this one is lost.
    pub fn write(&mut self, slot: &[u8], places: [Option<u64>; 3]) -> bool {
        let Some(mut bytes) = self.spare.pop() else {
            return false;
        };
        bytes.copy_from_slice(slot);
        self.jobs
            .try_send(Job::Write(Order { bytes, places }))
            .is_ok()
    }

    /// Has the last records copied to where they stay.
    pub fn keep(&self, kept: Kept) {
        // Without room for the order, another event is being kept already.
        let _ = self.jobs.try_send(Job::Keep(kept));
    }
}

/// The thread's own.
struct Work {
    buffer: Aligned,
    file: OwnedFd,
    layout: Layout,
    /// The number of the next record.
    number: u64,
    seen: Arc<Seen>,
}

impl Work {
    fn run(&mut self, jobs: &Receiver<Job>, done: &SyncSender<Box<[u8]>>) {
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Write(order) => {
                    for place in order.places.into_iter().flatten() {
                        self.buffer.bytes().copy_from_slice(&order.bytes);
                        self.put(place);
                    }
                    self.number += 1;
                    let _ = done.send(order.bytes);
                }
                Job::Keep(kept) => self.keep(&kept),
            }
        }
    }

    fn keep(&mut self, kept: &Kept) {
        let Some(which) = keep::place(&self.file, &self.layout, &kept.why, self.buffer.bytes())
        else {
            return;
        };
        let count = self.layout.of_event().min(self.number).min(self.layout.all);
        for nth in 0..count {
            let from = self.layout.of_record(self.number - count + nth);
            if read_slot(&self.file, from, self.buffer.bytes()).is_ok()
                && keep::mark(self.buffer.bytes(), kept)
            {
                self.put(self.layout.of_kept(which, nth));
            }
        }
    }

    fn put(&mut self, place: u64) {
        if let Err(errno) = write_slot(&self.file, place, self.buffer.bytes()) {
            self.seen.failed.fetch_add(1, Ordering::Relaxed);
            self.seen
                .errno
                .store(errno.raw_os_error(), Ordering::Relaxed);
        }
    }
}

/// The file, if it is there and of this layout and machine.
fn open_same(path: &Path, layout: Layout, machine: &kernfs::samples::Machine) -> Option<OwnedFd> {
    let file = open(path, OFlags::RDWR).ok()?;
    let mut buffer = Aligned::new(layout.slot as usize);
    read_slot(&file, 0, buffer.bytes()).ok()?;
    let header: Header = serde_json::from_str(flight::slot::text(buffer.bytes()).ok()?).ok()?;
    let (here, there) = (machine, &header.machine);
    let same = header.schema == Header::SCHEMA
        && header.layout == layout
        && (here.page_size, here.cpus) == (there.page_size, there.cpus);
    same.then_some(file)
}

/// Makes the file. One that was there before, of another size or machine, is kept beside it.
fn create(path: &Path, layout: Layout, machine: &kernfs::samples::Machine) -> io::Result<OwnedFd> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = beside(path, "new");
    let _ = std::fs::remove_file(&new);
    let made = fill(&new, layout, machine);
    if made.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    let file = made?;
    if path.exists() {
        std::fs::rename(path, beside(path, "old"))?;
    }
    std::fs::rename(&new, path)?;
    Ok(file)
}

/// All of its space is taken at once, so that a disk that fills up later costs no record.
fn fill(path: &Path, layout: Layout, machine: &kernfs::samples::Machine) -> io::Result<OwnedFd> {
    let file = open(path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, layout.bytes()) {
        Ok(()) => {}
        // A file system that cannot: the file grows.
        Err(Errno::OPNOTSUPP) => rustix::fs::ftruncate(&file, layout.bytes())?,
        Err(errno) => return Err(errno.into()),
    }
    let header = Header {
        schema: Header::SCHEMA.into(),
        layout,
        machine: machine.clone(),
    };
    let mut text = serde_json::to_vec(&header)?;
    text.pop();
    let mut buffer = Aligned::new(layout.slot as usize);
    buffer.bytes()[..text.len()].copy_from_slice(&text);
    flight::slot::seal(buffer.bytes(), text.len());
    write_slot(&file, 0, buffer.bytes())?;
    rustix::fs::fsync(&file)?;
    Ok(file)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// The number of the record after the last. In [`Layout::all`] records lie in the order of their numbers up to the
/// last, and older ones follow: a search by halves finds it.
fn next_number(file: &OwnedFd, layout: &Layout) -> u64 {
    let mut buffer = Aligned::new(layout.slot as usize);
    let mut number = |nth: u64| {
        read_slot(file, layout.of_record(nth), buffer.bytes()).ok()?;
        keep::number(flight::slot::text(buffer.bytes()).ok()?)
    };
    let Some(first) = number(0) else {
        return 0;
    };
    let (mut known, mut beyond) = (0, layout.all);
    while known + 1 < beyond {
        let middle = known + (beyond - known) / 2;
        match number(middle) {
            Some(found) if found == first + middle => known = middle,
            _ => beyond = middle,
        }
    }
    first + known + 1
}
