//! The hard guarantee: the hottest file pages, locked within a budget.
//!
//! By a thread of its own: reading every process's maps takes long, and mapping a file may wait for
//! a disk. Executables and libraries are looked for once a minute, hot data twice a second; it wakes
//! at once when everything is to be let go.
use super::data::Data;
use super::resident::{lock, mapped, Locked};
use crate::harden::now_s;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Executables and libraries are looked at again so often.
const EVERY_S: f64 = 60.0;
/// What was read is listened to so often, ...
const LISTEN: Duration = Duration::from_millis(250);
/// ... and while the file that somebody reads is to be found, before it is closed again.
const STALK: Duration = Duration::from_millis(4);
/// After everything was let go, nothing is locked for so long.
const REST: Duration = Duration::from_secs(300);
/// Files at most.
const FILES: usize = 512;
/// A file that only one process has mapped is nobody else's loss.
const USERS: u32 = 2;
/// Its own nice value: what it locks is needed while everybody wants the CPU.
const NICE: i32 = -10;

/// What is locked, for the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub path: PathBuf,
    /// Processes that have it mapped; 0: it is read.
    pub users: u32,
    pub bytes: u64,
}

#[derive(Default)]
struct Shared {
    bytes: AtomicU64,
    stop: AtomicBool,
    let_go: AtomicBool,
    locked: Mutex<Vec<(Locked, u32)>>,
    /// Bytes of hot data; `bytes` are those of executables and libraries.
    data_bytes: AtomicU64,
    /// `None` where the kernel does not tell what is read.
    data: Mutex<Option<Data>>,
    wake: Condvar,
    asleep: Mutex<()>,
}

/// The thread, seen from the loop.
pub struct Locker {
    shared: Arc<Shared>,
    budget: u64,
}

impl Locker {
    /// Starts it. `budget`: bytes.
    ///
    /// # Errors
    /// When there is no memory for a thread.
    pub fn start(root: &Path, budget: u64, page: u64) -> std::io::Result<Locker> {
        Locker::start_with(root, budget, page, None)
    }

    /// The same with hot data among it.
    ///
    /// # Errors
    /// As [`Locker::start`].
    pub fn start_with(
        root: &Path,
        budget: u64,
        page: u64,
        data: Option<Data>,
    ) -> std::io::Result<Locker> {
        let shared = Arc::new(Shared {
            data: Mutex::new(data),
            ..Shared::default()
        });
        let (mine, root) = (Arc::clone(&shared), root.to_owned());
        std::thread::Builder::new()
            .name("hotsetd-lock".into())
            .stack_size(256 << 10)
            .spawn(move || work(&mine, &root, budget, page as usize))?;
        Ok(Locker { shared, budget })
    }

    /// Bytes that may be locked.
    #[must_use]
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Bytes that are.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let load = |bytes: &AtomicU64| bytes.load(Ordering::Relaxed);
        load(&self.shared.bytes) + load(&self.shared.data_bytes)
    }

    /// Lets go of everything, for a while. Waits for nothing: what the thread is just locking, it
    /// lets go of itself.
    pub fn let_go(&self) {
        if self.bytes() == 0 || self.shared.let_go.swap(true, Ordering::Relaxed) {
            return;
        }
        if let Ok(mut locked) = self.shared.locked.try_lock() {
            locked.clear();
            self.shared.bytes.store(0, Ordering::Relaxed);
        }
        if let Ok(mut data) = self.shared.data.try_lock() {
            data.iter_mut().for_each(Data::clear);
            self.shared.data_bytes.store(0, Ordering::Relaxed);
        }
        self.shared.wake.notify_one();
    }

    /// What is locked: hot data, then executables and libraries, the most shared first.
    #[must_use]
    pub fn contents(&self) -> Vec<Contents> {
        let (Ok(locked), Ok(data)) = (self.shared.locked.try_lock(), self.shared.data.try_lock())
        else {
            return Vec::new();
        };
        let data = data.as_ref().map(Data::contents).unwrap_or_default();
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
    }
}

fn work(shared: &Shared, root: &Path, budget: u64, page: usize) {
    // SAFETY: takes numbers only; 0 is this thread. Where it is refused it is merely later.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    let done = || shared.stop.load(Ordering::Relaxed);
    let mut filled_s = f64::NEG_INFINITY;
    while !done() {
        let mut wait = REST;
        if shared.let_go.load(Ordering::Relaxed) {
            clear(shared);
        } else {
            let data = shared.data_bytes.load(Ordering::Relaxed);
            let (now_s, listens) = (now_s(), has_data(shared));
            if now_s - filled_s >= EVERY_S {
                // Half of it is for data, where that is known.
                let most = if listens { budget / 2 } else { budget };
                fill(shared, root, most.min(budget.saturating_sub(data)), page);
                filled_s = now_s;
            }
            wait = match listens {
                true => listen(shared, now_s, budget, page),
                false => Duration::from_secs_f64(EVERY_S),
            };
        }
        let Ok(asleep) = shared.asleep.lock() else {
            return;
        };
        // Rest is rest: only the end shortens it.
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

/// Locks what is read again and again. Returns how long to wait.
fn listen(shared: &Shared, now_s: f64, budget: u64, page: usize) -> Duration {
    let Ok(mut data) = shared.data.lock() else {
        return LISTEN;
    };
    let Some(data) = data.as_mut() else {
        return LISTEN;
    };
    let left = budget.saturating_sub(shared.bytes.load(Ordering::Relaxed));
    data.look(now_s, left, page);
    shared.data_bytes.store(data.bytes(), Ordering::Relaxed);
    match data.is_stalking() {
        true => STALK,
        false => LISTEN,
    }
}

fn clear(shared: &Shared) {
    if let Ok(mut locked) = shared.locked.lock() {
        locked.clear();
        shared.bytes.store(0, Ordering::Relaxed);
    }
    if let Ok(mut data) = shared.data.lock() {
        data.iter_mut().for_each(Data::clear);
        shared.data_bytes.store(0, Ordering::Relaxed);
    }
}

/// Locks anew what is hottest now. Each file's new lock is taken before its old one is let go of.
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
        // A file that is gone or may not be locked leaves its room to the next.
        if let Ok(Some(part)) = lock(root, &hot.path, left, page) {
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

    fn until(what: &str, is: impl Fn() -> bool) {
        for _ in 0..500 {
            if is() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("not within 5 s: {what}");
    }

    /// A machine whose two processes share a library.
    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir_in("/dev/shm").unwrap();
        for pid in ["10", "11"] {
            let folder = root.path().join("proc").join(pid);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("maps"), "1-2 r-xp 0 08:01 7 /lib.so\n").unwrap();
        }
        std::fs::write(root.path().join("lib.so"), vec![1u8; 1 << 20]).unwrap();
        root
    }

    #[test]
    fn it_locks_within_its_budget_and_lets_go_at_a_word() {
        let root = root();
        let page = rustix::param::page_size() as u64;
        let locker = Locker::start(root.path(), 512 << 10, page).unwrap();
        until("it has locked", || locker.bytes() > 0);
        assert_eq!(locker.bytes(), 512 << 10);
        let contents = locker.contents();
        let wanted = Contents {
            path: "/lib.so".into(),
            users: 2,
            bytes: 512 << 10,
        };
        assert_eq!(contents, [wanted]);
        locker.let_go();
        until("it has let go", || {
            locker.bytes() == 0 && locker.contents().is_empty()
        });
    }
}
