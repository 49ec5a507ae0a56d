//! Which processes there are, for those that start them and those that kill them.
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Who ended a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    Ams,
    Lmkd,
    /// The kernel, as far as the harness knows.
    Oom,
    Daemon,
}

/// A process that may be killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub pid: i32,
    pub app: usize,
    pub adj: i32,
    /// Who killed it, once somebody has.
    pub by: Option<Who>,
}

/// All processes, by app. A process stays in it until it is reaped, so that its id is its own.
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

    /// Notes a new `oom_score_adj`; false where it was that already.
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

    /// Takes out an app that has been reaped.
    pub fn strike(&self, app: usize) -> Option<Entry> {
        self.all().remove(&app)
    }

    /// The living app with the highest `oom_score_adj`, if that is at least `least`; from now on it
    /// counts as killed by `who`.
    pub fn oldest(&self, least: i32, who: Who) -> Option<Entry> {
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
    fn the_highest_is_killed_once_and_nobody_below_the_least() {
        let book = Book::default();
        for (app, adj) in [(0, 0), (1, 901), (2, 900)] {
            book.enter(app, 100 + app as i32);
            book.rank(app, adj);
        }
        let app = |entry: Option<Entry>| entry.map(|entry| entry.app);
        assert_eq!(app(book.oldest(201, Who::Lmkd)), Some(1));
        assert_eq!(app(book.oldest(201, Who::Lmkd)), Some(2));
        assert_eq!(app(book.oldest(201, Who::Lmkd)), None);
        assert_eq!(app(book.oldest(0, Who::Ams)), Some(0));
        assert_eq!(book.strike(1).and_then(|entry| entry.by), Some(Who::Lmkd));
        assert_eq!(book.strike(1), None);
    }
}
