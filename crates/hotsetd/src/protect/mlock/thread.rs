//! The hard guarantee: the hottest file pages, locked within a budget.
//!
//! A thread of its own locks them: reading every process's maps takes long, and mapping a file may wait for
//! a disk. The thread finds executables and libraries once a minute, and hot data twice a second. It wakes
//! at once to let go of everything.
use super::executables::{lock, Locked};
use super::hot_data::HotData;
use super::mapped::mapped;
use crate::os::process::now_s;
use crate::protect::context::MODULE;
use crate::telemetry::log::{Level, Log};
use status::{LockedFile, LockedFiles};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Seconds between searches for executables and libraries.
const EVERY_S: f64 = 60.0;
/// Time between two readings of the read events.
const DRAIN: Duration = Duration::from_millis(250);
/// The same while a file is searched for: it can be found only while a program has it open.
const SEARCH: Duration = Duration::from_millis(4);
/// Time after a release in which nothing is locked.
const REST: Duration = Duration::from_secs(300);
/// Executables and libraries that are locked, at most.
const FILES: usize = 512;
/// Processes that must have a file mapped. A file of a single process slows only that process.
const USERS: u32 = 2;
/// The thread's nice value. The pages that it locks are needed while everybody wants the CPU.
const NICE: i32 = -10;
/// How long the end of the thread is waited for.
const END: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Shared {
    /// Locked bytes of executables and libraries.
    bytes: AtomicU64,
    stop: AtomicBool,
    let_go: AtomicBool,
    locked: Mutex<Vec<Locked>>,
    /// Locked bytes of hot data.
    data_bytes: AtomicU64,
    /// `None` where the kernel does not report reads.
    data: Mutex<Option<HotData>>,
}

/// The thread, seen from the daemon.
pub struct Locker {
    shared: Arc<Shared>,
    budget: u64,
    thread: JoinHandle<()>,
}

impl Locker {
    /// Starts the thread with at most a quarter of memory to lock: locked pages can serve nobody else.
    /// `None`: nothing is to be locked, or no thread can be started. `total`: pages of memory.
    pub fn open(
        root: &Path,
        lock_bytes: u64,
        total: u64,
        page_size: u64,
        log: &mut Log,
    ) -> Option<Locker> {
        let memory = total * page_size;
        let budget = lock_bytes.min(memory / 4);
        if budget == 0 {
            return None;
        }
        let data = HotData::open(root, memory);
        if let Err(error) = &data {
            let message = format_args!(
                "lock_mb: only executables and libraries are locked, because reads cannot be observed: \
                 {error}; lock_mb in hotsetd.conf(5) has a drop-in for it"
            );
            log.line(Level::Notice, MODULE, message);
        }
        let shared = Arc::new(Shared {
            data: Mutex::new(data.ok()),
            ..Shared::default()
        });
        let (mine, root) = (Arc::clone(&shared), root.to_owned());
        let thread = std::thread::Builder::new()
            .name("hotsetd-lock".into())
            .stack_size(256 << 10)
            .spawn(move || work(&mine, &root, budget, page_size as usize));
        if let Err(error) = &thread {
            let message = format_args!(
                "lock_mb: nothing is locked, because no thread can be started: {error}"
            );
            log.line(Level::Warning, MODULE, message);
        }
        Some(Locker {
            shared,
            budget,
            thread: thread.ok()?,
        })
    }

    /// Bytes that are locked.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let load = |bytes: &AtomicU64| bytes.load(Ordering::Relaxed);
        load(&self.shared.bytes) + load(&self.shared.data_bytes)
    }

    /// Lets go of everything for five minutes. Does not wait: the thread itself lets go of the file that it
    /// is locking at the moment.
    pub fn let_go(&self) {
        if self.bytes() == 0 || self.shared.let_go.swap(true, Ordering::Relaxed) {
            return;
        }
        let (locked, data) = (self.shared.locked.try_lock(), self.shared.data.try_lock());
        self.shared.clear(locked.ok(), data.ok());
        self.thread.thread().unpark();
    }

    /// The locked files: hot data, then executables and libraries, the most shared first.
    #[must_use]
    pub fn status(&self) -> LockedFiles {
        let mut files = Vec::new();
        let (locked, data) = (self.shared.locked.try_lock(), self.shared.data.try_lock());
        if let (Ok(locked), Ok(data)) = (locked, data) {
            let data = data.as_ref().map(HotData::contents).unwrap_or_default();
            files.extend(data.iter().map(|(path, bytes)| file(path, 0, *bytes)));
            let mapped = locked.iter();
            files.extend(mapped.map(|part| file(&part.path, part.users, part.bytes)));
        }
        LockedFiles {
            budget_bytes: self.budget,
            bytes: self.bytes(),
            files,
        }
    }
}

fn file(path: &Path, users: u32, bytes: u64) -> LockedFile {
    LockedFile {
        path: path.to_string_lossy().into_owned(),
        users,
        bytes,
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.let_go();
        // The next locker needs the kernel's trace instance. A thread that hangs in a dead file system is left behind.
        let begun = Instant::now();
        while !self.thread.is_finished() && begun.elapsed() <= END {
            self.thread.thread().unpark();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Shared {
    /// Lets go of everything that the caller has.
    fn clear(
        &self,
        locked: Option<MutexGuard<Vec<Locked>>>,
        data: Option<MutexGuard<Option<HotData>>>,
    ) {
        if let Some(mut locked) = locked {
            locked.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if let Some(mut data) = data {
            data.iter_mut().for_each(HotData::clear);
            self.data_bytes.store(0, Ordering::Relaxed);
        }
    }
}

fn work(shared: &Shared, root: &Path, budget: u64, page: usize) {
    // A refusal only makes the thread slower.
    let _ = rustix::process::setpriority_process(None, NICE);
    let (stop, let_go) = (&shared.stop, &shared.let_go);
    let mut filled_s = f64::NEG_INFINITY;
    while !stop.load(Ordering::Relaxed) {
        let rests = let_go.load(Ordering::Relaxed);
        let wait = if rests {
            shared.clear(shared.locked.lock().ok(), shared.data.lock().ok());
            REST
        } else {
            let now_s = now_s();
            if now_s - filled_s >= EVERY_S {
                fill(shared, root, budget, page);
                filled_s = now_s;
            }
            lock_data(shared, now_s, budget, page)
        };
        let begun = Instant::now();
        // Only the end of the thread shortens a rest.
        while !stop.load(Ordering::Relaxed) && (rests || !let_go.load(Ordering::Relaxed)) {
            let Some(left) = wait.checked_sub(begun.elapsed()) else {
                break;
            };
            std::thread::park_timeout(left);
        }
        if rests {
            let_go.store(false, Ordering::Relaxed);
        }
    }
    shared.clear(shared.locked.lock().ok(), None);
    if let Ok(mut data) = shared.data.lock() {
        *data = None;
    }
}

/// Locks the data that programs read again and again. Returns the time to wait.
fn lock_data(shared: &Shared, now_s: f64, budget: u64, page: usize) -> Duration {
    let mut data = shared.data.lock();
    let Some(data) = data.as_deref_mut().ok().and_then(Option::as_mut) else {
        return Duration::from_secs_f64(EVERY_S);
    };
    let left = budget.saturating_sub(shared.bytes.load(Ordering::Relaxed));
    data.update(now_s, left, page);
    shared.data_bytes.store(data.bytes(), Ordering::Relaxed);
    match data.is_searching() {
        true => SEARCH,
        false => DRAIN,
    }
}

/// Locks the executables and libraries that are hottest now. Each file's new lock is taken before its old
/// one is let go of.
fn fill(shared: &Shared, root: &Path, budget: u64, page: usize) {
    // Half of the budget is for data, where reads are observed.
    let observed = shared.data.lock().is_ok_and(|data| data.is_some());
    let most = if observed { budget / 2 } else { budget };
    let budget = most.min(budget.saturating_sub(shared.data_bytes.load(Ordering::Relaxed)));
    let mut fresh: Vec<Locked> = Vec::new();
    let mut left = budget;
    for hot in mapped(root)
        .iter()
        .filter(|hot| hot.users >= USERS)
        .take(FILES)
    {
        if left < page as u64 || shared.let_go.load(Ordering::Relaxed) {
            break;
        }
        // A file that cannot be locked leaves its room to the next.
        if let Ok(Some(part)) = lock(root, hot, left, page) {
            left -= part.bytes.min(left);
            fresh.push(part);
        }
    }
    if let Ok(mut locked) = shared.locked.lock() {
        *locked = fresh;
        shared.bytes.store(budget - left, Ordering::Relaxed);
    }
}
