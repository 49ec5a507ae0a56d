//! The hard guarantee: the hottest file pages, locked within a budget.
//!
//! By a thread of its own: reading every process's maps takes long, and mapping a file may wait for
//! a disk. It wakes once a minute, and at once when everything is to be let go.
use super::resident::{lock, mapped, Locked};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// What is locked is looked at again so often.
const EVERY: Duration = Duration::from_secs(60);
/// After everything was let go, nothing is locked for so long.
const REST: Duration = Duration::from_secs(300);
/// Files at most.
const FILES: usize = 512;
/// A file that only one process has mapped is nobody else's loss.
const USERS: u32 = 2;

/// What is locked, for the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub path: PathBuf,
    pub users: u32,
    pub bytes: u64,
}

#[derive(Default)]
struct Shared {
    bytes: AtomicU64,
    stop: AtomicBool,
    let_go: AtomicBool,
    locked: Mutex<Vec<(Locked, u32)>>,
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
        let shared = Arc::new(Shared::default());
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
        self.shared.bytes.load(Ordering::Relaxed)
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
        self.shared.wake.notify_one();
    }

    /// What is locked, the hottest first.
    #[must_use]
    pub fn contents(&self) -> Vec<Contents> {
        let Ok(locked) = self.shared.locked.try_lock() else {
            return Vec::new();
        };
        let contents = locked.iter().map(|(part, users)| Contents {
            path: part.path.clone(),
            users: *users,
            bytes: part.bytes,
        });
        contents.collect()
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
    let done = || shared.stop.load(Ordering::Relaxed);
    while !done() {
        fill(shared, root, budget, page);
        let mut wait = EVERY;
        if shared.let_go.load(Ordering::Relaxed) {
            clear(shared);
            wait = REST;
        }
        let Ok(asleep) = shared.asleep.lock() else {
            return;
        };
        let woken = |_: &mut ()| !done() && !shared.let_go.load(Ordering::Relaxed);
        match wait {
            // Rests in any case; only the end wakes it.
            REST => drop(
                shared
                    .wake
                    .wait_timeout_while(asleep, REST, |_: &mut ()| !done()),
            ),
            _ => drop(shared.wake.wait_timeout_while(asleep, wait, woken)),
        }
        if wait == REST {
            shared.let_go.store(false, Ordering::Relaxed);
        }
    }
    clear(shared);
}

fn clear(shared: &Shared) {
    if let Ok(mut locked) = shared.locked.lock() {
        locked.clear();
        shared.bytes.store(0, Ordering::Relaxed);
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
