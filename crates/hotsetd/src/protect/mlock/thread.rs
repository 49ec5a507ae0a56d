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
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
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

/// A file with locked pages, for the status document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub path: PathBuf,
    /// Processes that have the file mapped; 0: the file is read.
    pub users: u32,
    pub bytes: u64,
}

#[derive(Default)]
struct Shared {
    /// Locked bytes of executables and libraries.
    bytes: AtomicU64,
    stop: AtomicBool,
    let_go: AtomicBool,
    locked: Mutex<Vec<(Locked, u32)>>,
    /// Locked bytes of hot data.
    data_bytes: AtomicU64,
    /// `None` where the kernel does not report reads.
    data: Mutex<Option<HotData>>,
    wake: Condvar,
    asleep: Mutex<()>,
}

/// The thread, seen from the daemon.
pub struct Locker {
    shared: Arc<Shared>,
    budget: u64,
    thread: Option<JoinHandle<()>>,
}

impl Locker {
    /// Starts the thread with at most a quarter of memory to lock: locked pages can serve nobody else.
    /// `None`: nothing is to be locked, or no thread can be started. All sizes are in bytes.
    pub fn open(
        root: &Path,
        lock_bytes: u64,
        memory: u64,
        page_size: u64,
        log: &mut Log,
    ) -> Option<Locker> {
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
        match Locker::start(root, budget, page_size, data.ok()) {
            Ok(locker) => Some(locker),
            Err(error) => {
                let message = format_args!(
                    "lock_mb: nothing is locked, because no thread can be started: {error}"
                );
                log.line(Level::Warning, MODULE, message);
                None
            }
        }
    }

    /// Starts the thread. `budget` and `page`: bytes.
    ///
    /// # Errors
    /// When the system has no memory for a thread.
    fn start(
        root: &Path,
        budget: u64,
        page: u64,
        data: Option<HotData>,
    ) -> std::io::Result<Locker> {
        let shared = Arc::new(Shared {
            data: Mutex::new(data),
            ..Shared::default()
        });
        let (mine, root) = (Arc::clone(&shared), root.to_owned());
        let thread = std::thread::Builder::new()
            .name("hotsetd-lock".into())
            .stack_size(256 << 10)
            .spawn(move || work(&mine, &root, budget, page as usize))?;
        Ok(Locker {
            shared,
            budget,
            thread: Some(thread),
        })
    }

    /// Bytes that may be locked.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.budget
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
        if let Ok(mut locked) = self.shared.locked.try_lock() {
            locked.clear();
            self.shared.bytes.store(0, Ordering::Relaxed);
        }
        if let Ok(mut data) = self.shared.data.try_lock() {
            data.iter_mut().for_each(HotData::clear);
            self.shared.data_bytes.store(0, Ordering::Relaxed);
        }
        self.shared.wake.notify_one();
    }

    /// The locked files: hot data, then executables and libraries, the most shared first.
    #[must_use]
    pub fn contents(&self) -> Vec<Contents> {
        let (Ok(locked), Ok(data)) = (self.shared.locked.try_lock(), self.shared.data.try_lock())
        else {
            return Vec::new();
        };
        let data = data.as_ref().map(HotData::contents).unwrap_or_default();
        let data = data.into_iter().map(|(path, bytes)| Contents {
            path,
            users: 0,
            bytes,
        });
        let mapped = locked.iter().map(|(part, users)| Contents {
            path: part.path.clone(),
            users: *users,
            bytes: part.bytes,
        });
        data.chain(mapped).collect()
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.let_go();
        self.shared.wake.notify_one();
        // The next locker needs the kernel's trace instance. A thread that hangs in a dead file system is left behind.
        let Some(thread) = self.thread.take() else {
            return;
        };
        let begun = Instant::now();
        while !thread.is_finished() {
            if begun.elapsed() > END {
                return;
            }
            self.shared.wake.notify_one();
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = thread.join();
    }
}

fn work(shared: &Shared, root: &Path, budget: u64, page: usize) {
    // SAFETY: takes numbers only; 0 is this thread. A refusal only makes the thread slower.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    let done = || shared.stop.load(Ordering::Relaxed);
    let mut filled_s = f64::NEG_INFINITY;
    while !done() {
        let mut wait = REST;
        if shared.let_go.load(Ordering::Relaxed) {
            clear(shared);
        } else {
            let data = shared.data_bytes.load(Ordering::Relaxed);
            let (now_s, has_data) = (now_s(), has_data(shared));
            if now_s - filled_s >= EVERY_S {
                // Half of the budget is for data, where reads are observed.
                let most = if has_data { budget / 2 } else { budget };
                fill(shared, root, most.min(budget.saturating_sub(data)), page);
                filled_s = now_s;
            }
            wait = match has_data {
                true => lock_data(shared, now_s, budget, page),
                false => Duration::from_secs_f64(EVERY_S),
            };
        }
        let Ok(asleep) = shared.asleep.lock() else {
            return;
        };
        // Only the end of the thread shortens a rest.
        let woken =
            |_: &mut ()| !done() && (wait == REST || !shared.let_go.load(Ordering::Relaxed));
        drop(shared.wake.wait_timeout_while(asleep, wait, woken));
        if wait == REST {
            shared.let_go.store(false, Ordering::Relaxed);
        }
    }
    clear(shared);
    if let Ok(mut data) = shared.data.lock() {
        *data = None;
    }
}

fn has_data(shared: &Shared) -> bool {
    shared.data.lock().is_ok_and(|data| data.is_some())
}

/// Locks the data that programs read again and again. Returns the time to wait.
fn lock_data(shared: &Shared, now_s: f64, budget: u64, page: usize) -> Duration {
    let Ok(mut data) = shared.data.lock() else {
        return DRAIN;
    };
    let Some(data) = data.as_mut() else {
        return DRAIN;
    };
    let left = budget.saturating_sub(shared.bytes.load(Ordering::Relaxed));
    data.update(now_s, left, page);
    shared.data_bytes.store(data.bytes(), Ordering::Relaxed);
    match data.is_searching() {
        true => SEARCH,
        false => DRAIN,
    }
}

fn clear(shared: &Shared) {
    if let Ok(mut locked) = shared.locked.lock() {
        locked.clear();
        shared.bytes.store(0, Ordering::Relaxed);
    }
    if let Ok(mut data) = shared.data.lock() {
        data.iter_mut().for_each(HotData::clear);
        shared.data_bytes.store(0, Ordering::Relaxed);
    }
}

/// Locks the executables and libraries that are hottest now. Each file's new lock is taken before its old
/// one is let go of.
fn fill(shared: &Shared, root: &Path, budget: u64, page: usize) {
    let mut fresh: Vec<(Locked, u32)> = Vec::new();
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
            fresh.push((part, hot.users));
        }
    }
    if let Ok(mut locked) = shared.locked.lock() {
        *locked = fresh;
        shared.bytes.store(budget - left, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    fn until(goal: &str, is: impl Fn() -> bool) {
        for _ in 0..500 {
            if is() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("not within 5 s: {goal}");
    }

    /// A machine whose two processes share a library.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        std::fs::write(root.path().join("lib.so"), vec![1u8; 1 << 20]).unwrap();
        let inode = std::fs::metadata(root.path().join("lib.so")).unwrap().ino();
        let maps = format!("1-2 r-xp 0 08:01 {inode} /lib.so\n");
        for pid in ["10", "11"] {
            let folder = root.path().join("proc").join(pid);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("maps"), &maps).unwrap();
        }
        root
    }

    #[test]
    fn a_shared_library_is_locked_within_the_budget_and_let_go_on_request() {
        let root = root();
        let page = rustix::param::page_size() as u64;
        let locker = Locker::start(root.path(), 512 << 10, page, None).unwrap();
        until("something is locked", || locker.bytes() > 0);
        assert_eq!(locker.bytes(), 512 << 10);
        let contents = locker.contents();
        let wanted = Contents {
            path: "/lib.so".into(),
            users: 2,
            bytes: 512 << 10,
        };
        assert_eq!(contents, [wanted]);
        locker.let_go();
        until("nothing is locked", || {
            locker.bytes() == 0 && locker.contents().is_empty()
        });
    }
}
