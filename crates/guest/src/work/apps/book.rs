//! The processes of all apps, shared by the parts that start and that kill them.
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The killers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KilledBy {
    Ams,
    Lmkd,
    /// The kernel or a daemon: the harness did not kill the process.
    Oom,
    Daemon,
}

/// A process that may be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub pid: i32,
    pub app: usize,
    pub adj: i32,
    /// The killer; none for a process that was not killed.
    pub by: Option<KilledBy>,
}

/// All processes, by app. A process stays until it is reaped, so that its process id stays its own.
#[derive(Default)]
pub struct Book(Mutex<BTreeMap<usize, Entry>>);

impl Book {
    fn all(&self) -> MutexGuard<'_, BTreeMap<usize, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self, app: usize, pid: i32) {
        let entry = Entry {
            pid,
            app,
            adj: 0,
            by: None,
        };
        self.all().insert(app, entry);
    }

    /// Stores a new `oom_score_adj`; returns false if the value is unchanged.
    pub fn rank(&self, app: usize, adj: i32) -> bool {
        let mut all = self.all();
        match all.get_mut(&app) {
            Some(entry) if entry.adj != adj => {
                entry.adj = adj;
                true
            }
            _ => false,
        }
    }

    /// Removes an app that has been reaped.
    pub fn strike(&self, app: usize) -> Option<Entry> {
        self.all().remove(&app)
    }

    /// The living app with the highest `oom_score_adj`, if that is at least `least`. It counts as
    /// killed by `who` from now on.
    pub fn oldest(&self, least: i32, who: KilledBy) -> Option<Entry> {
        let mut all = self.all();
        let alive = all.values_mut().filter(|entry| entry.by.is_none());
        let oldest = alive.max_by_key(|entry| entry.adj)?;
        if oldest.adj < least {
            return None;
        }
        oldest.by = Some(who);
        Some(*oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_is_killed_once_and_none_below_the_least() {
        let book = Book::default();
        for (app, adj) in [(0, 0), (1, 901), (2, 900)] {
            book.enter(app, 100 + app as i32);
            book.rank(app, adj);
        }
        let app = |entry: Option<Entry>| entry.map(|entry| entry.app);
        assert_eq!(app(book.oldest(201, KilledBy::Lmkd)), Some(1));
        assert_eq!(app(book.oldest(201, KilledBy::Lmkd)), Some(2));
        assert_eq!(app(book.oldest(201, KilledBy::Lmkd)), None);
        assert_eq!(app(book.oldest(0, KilledBy::Ams)), Some(0));
        assert_eq!(
            book.strike(1).and_then(|entry| entry.by),
            Some(KilledBy::Lmkd)
        );
        assert_eq!(book.strike(1), None);
    }
}
