//! Every knob that the daemon writes, below a root that tests may choose.
//!
//! A write can be undone after a kill at any moment. The steps of a write:
//!
//! 1. Read the knob.
//! 2. Journal the original and the new value, and wait for the disk.
//! 3. Read again, write, and read back.
//!
//! A value that is neither the one read before nor a value of the daemon's is the administrator's.
//! Then the knob is left alone.
//!
//! Boundaries of systemd's cgroups are written by systemd: see [`crate::actuate::unit_property`].
use crate::actuate::error::Error;
use crate::actuate::journal::{Entry, Journal, Name, Value};
use crate::actuate::knob_file::{self, canonical};
use crate::actuate::kswapd_nice::{self, Renice};
use crate::actuate::unit_property::{UnderWay, UnitProperty};
use crate::os::fixed_string::Text;
use rustix::io::Errno;
use std::path::{Path, PathBuf};

pub const WATERMARK_SCALE_FACTOR: &str = "vm.watermark_scale_factor";
pub const COMPACTION_PROACTIVENESS: &str = "vm.compaction_proactiveness";
pub const VFS_CACHE_PRESSURE: &str = "vm.vfs_cache_pressure";
pub const NEGATIVE_DENTRY_LIMIT: &str = "fs.negative-dentry-limit";

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Written, over this value.
    Written { from: Value },
    /// systemd is asked for the value: [`KnobWriter::ended`] has the outcome.
    Begun,
    /// The knob had the value already.
    Unchanged,
    /// Another program or a person has written the knob, which keeps this value.
    Yielded { found: Value },
    /// A dry run: the knob keeps this value.
    Dry { from: Value },
}

/// Writes knobs, and journals their originals.
pub struct KnobWriter {
    root: PathBuf,
    journal: Journal,
    dry: bool,
    renice: Renice,
    under_way: UnderWay,
}

/// A write that is journaled: the knob's line in the journal until now, and the new one.
type Intent = (Option<Entry>, Entry);

/// What [`KnobWriter::give_back`] did with a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenBack {
    /// The knob has its original value again.
    Restored { knob: Name, original: Value },
    /// The knob holds a value that is not the daemon's, and keeps it.
    Left { knob: Name, found: Value },
    /// The knob could not be given back: it stays in the journal.
    Failed { knob: Name, error: Error },
}

impl KnobWriter {
    /// `dry`: nothing is ever written, neither knob nor journal.
    pub fn new(root: &Path, journal: Journal, dry: bool) -> KnobWriter {
        KnobWriter {
            root: root.to_owned(),
            journal,
            dry,
            renice: kswapd_nice::renice,
            under_way: UnderWay::default(),
        }
    }

    /// Sets a thread's nice value by `renice`.
    pub fn with_renice(mut self, renice: Renice) -> KnobWriter {
        self.renice = renice;
        self
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// A knob's value now.
    ///
    /// # Errors
    /// The kernel lacks the knob, or the knob cannot be read.
    pub fn read(&self, knob: &str) -> Result<Value, Error> {
        if let Some(thread) = kswapd_nice::thread_of(knob) {
            let (_, nice) = kswapd_nice::find(&self.root, thread)?;
            return Ok(Value::of(format_args!("{nice}")));
        }
        match knob_file::read(&self.place(knob)) {
            // A unit that has stopped keeps its property.
            Err(Error::Missing) => self
                .property(knob)
                .and_then(|property| property.in_drop_in())
                .ok_or(Error::Missing),
            done => done,
        }
    }

    /// Writes `to`. `seen` is the value that the decision is based on, if there is one. If
    /// the knob has another value by now, somebody else wrote it.
    ///
    /// # Errors
    /// The knob cannot be read or written, or its original cannot be journaled. The knob
    /// keeps its value.
    pub fn set(&mut self, knob: &str, seen: Option<&str>, to: &str) -> Result<Outcome, Error> {
        let to = canonical(to);
        let (outcome, intent) = self.intend(knob, seen, &to)?;
        let Some((before, entry)) = intent else {
            return Ok(outcome);
        };
        if let Err(errno) = self.write(knob, &to) {
            match before {
                Some(before) => self.journal.note(before),
                None => self.journal.forget(knob),
            }
            .map_err(journal_error)?;
            return Err(Error::Write(errno));
        }
        if self.is_systemds(knob) {
            return Ok(outcome);
        }
        let found = self.read(knob)?;
        if found != to && seen.is_some() {
            // The policy's knobs take a value or refuse it: somebody else wrote this
            // one.
            self.journal.forget(knob).map_err(journal_error)?;
            return Ok(Outcome::Yielded { found });
        }
        // Another knob, such as nr_hugepages, may take a part of the value. That part
        // is the daemon's value then.
        if found == entry.original {
            self.journal.forget(knob)
        } else {
            let ours = [Some(found), None, None];
            self.journal.note(Entry { ours, ..entry })
        }
        .map_err(journal_error)?;
        Ok(outcome)
    }

    /// The steps before a write: the knob is read, and journaled. Returns the outcome, that of the write if there is
    /// to be one.
    fn intend(
        &mut self,
        knob: &str,
        seen: Option<&str>,
        to: &Value,
    ) -> Result<(Outcome, Option<Intent>), Error> {
        let from = self.read(knob)?;
        if seen.is_some_and(|seen| canonical(seen) != from) {
            self.observe(knob, &from)?;
            return Ok((Outcome::Yielded { found: from }, None));
        }
        if self.dry {
            let same = from == *to;
            let outcome = if same {
                Outcome::Unchanged
            } else {
                Outcome::Dry { from }
            };
            return Ok((outcome, None));
        }
        let before = self.journal.entry(knob).copied();
        let property = self.property(knob);
        // A drop-in from before hotsetd's first write is the administrator's.
        let set_by_them = property.as_ref().and_then(UnitProperty::in_drop_in);
        if before.map_or(set_by_them.is_some(), |entry| !entry.is_ours(&from)) {
            self.observe(knob, &from)?;
            return Ok((Outcome::Yielded { found: from }, None));
        }
        if from == *to {
            return Ok((Outcome::Unchanged, None));
        }
        let entry = Entry {
            knob: Name::of(format_args!("{knob}")),
            original: before.map_or(from, |entry| entry.original),
            // systemd writes later, or not at all: until then the knob keeps its value.
            ours: [
                before.map(|_| from).or(property.map(|_| from)),
                Some(*to),
                None,
            ],
        };
        self.journal.intend(entry).map_err(journal_error)?;
        // Writing the journal may have taken long, so the knob is read again.
        let again = self.read(knob)?;
        if again != from {
            self.observe(knob, &again)?;
            return Ok((Outcome::Yielded { found: again }, None));
        }
        Ok((Outcome::Written { from }, Some((before, entry))))
    }

    /// [`KnobWriter::set`] for a knob that systemd may have to write. Does not wait for systemd. Not to be called while
    /// the knob [is under way](KnobWriter::is_under_way).
    ///
    /// # Errors
    /// As [`KnobWriter::set`].
    pub fn begin(&mut self, knob: &str, to: &str) -> Result<Outcome, Error> {
        let Some(property) = self.property(knob) else {
            return self.set(knob, None, to);
        };
        debug_assert!(!self.is_under_way(knob));
        let to = canonical(to);
        let (outcome, intent) = self.intend(knob, None, &to)?;
        let (Outcome::Written { from }, Some((_, entry))) = (outcome, intent) else {
            return Ok(outcome);
        };
        let begun = self.under_way.begin(entry.knob, property, from, to);
        begun.map_err(Error::Write)?;
        Ok(Outcome::Begun)
    }

    /// Whether systemd is being asked for a value. Another one has to wait until [`KnobWriter::ended`].
    pub fn is_under_way(&self, knob: &str) -> bool {
        self.under_way.has(knob)
    }

    /// The outcome of [`KnobWriter::begin`], once, as soon as it is there.
    pub fn ended(&mut self, knob: &str) -> Option<Result<Outcome, Error>> {
        let ended = self.under_way.take(knob)?;
        Some(
            ended
                .map(|from| Outcome::Written { from })
                .map_err(Error::Write),
        )
    }

    /// Whether systemd writes the knob.
    pub fn is_systemds(&self, knob: &str) -> bool {
        self.property(knob).is_some()
    }

    fn property(&self, knob: &str) -> Option<UnitProperty> {
        UnitProperty::of(&self.root, knob)
    }

    /// Journals that `knob` may hold any of `values`. They can be written later without
    /// waiting for a disk or for memory. Returns the present value. [`KnobWriter::disarm`]
    /// ends the arming.
    ///
    /// # Errors
    /// The knob cannot be read, or the journal cannot be written.
    pub fn arm(&mut self, knob: &str, values: [&str; 2]) -> Result<Value, Error> {
        let found = self.read(knob)?;
        if self.dry {
            return Ok(found);
        }
        let before = self.journal.entry(knob).copied();
        let kept = before.filter(|entry| entry.is_ours(&found));
        let entry = Entry {
            knob: Name::of(format_args!("{knob}")),
            original: kept.map_or(found, |entry| entry.original),
            ours: [
                Some(canonical(values[0])),
                Some(canonical(values[1])),
                kept.map(|_| found),
            ],
        };
        self.journal.intend(entry).map_err(journal_error)?;
        Ok(found)
    }

    /// Ends [`KnobWriter::arm`]: the knob has the value again that it had when it was armed.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn disarm(&mut self, knob: &str) -> Result<(), Error> {
        let Some(entry) = self.journal.entry(knob).copied() else {
            return Ok(());
        };
        match entry.ours[2] {
            // An earlier value of the daemon's.
            Some(ours) => self.journal.note(Entry {
                ours: [Some(ours), None, None],
                ..entry
            }),
            None => self.journal.forget(knob),
        }
        .map_err(journal_error)
    }

    /// Leaves a knob to the administrator, with the value that it has.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn leave(&mut self, knob: &str) -> Result<(), Error> {
        if self.dry {
            return Ok(());
        }
        if let Some(entry) = self.journal.entry(knob) {
            self.remove_drop_in_of(entry);
        }
        self.journal.forget(knob).map_err(journal_error)
    }

    /// Removes a drop-in of the daemon's that would get in the way of the administrator's value.
    fn remove_drop_in_of(&self, entry: &Entry) {
        let property = self.property(entry.knob.as_str());
        let ours =
            property.filter(|one| one.in_drop_in().is_some_and(|found| entry.is_ours(&found)));
        // One that cannot be removed is gone at the next boot.
        let _ = ours.map(|one| one.remove_drop_in());
    }

    /// Takes note of a knob's value. Returns whether the administrator has written the knob since.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn observe(&mut self, knob: &str, value: &Value) -> Result<bool, Error> {
        match self.journal.entry(knob) {
            Some(entry) if !entry.is_ours(value) => {
                self.leave(knob)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Gives its original value to every knob that still holds a value of the daemon's.
    /// Removes the journal at the end.
    pub fn give_back(&mut self, mut report: impl FnMut(GivenBack)) {
        if self.dry {
            return;
        }
        self.under_way.wait();
        for entry in self.journal.entries().to_vec() {
            let knob = entry.knob;
            let done = self.read(knob.as_str()).and_then(|found| {
                if !entry.is_ours(&found) {
                    self.remove_drop_in_of(&entry);
                    return Ok(GivenBack::Left { knob, found });
                }
                let original = entry.original;
                match self.property(knob.as_str()) {
                    Some(property) => property.give_back(&original),
                    None => self.write(knob.as_str(), &original),
                }
                .map_err(Error::Write)?;
                Ok(GivenBack::Restored { knob, original })
            });
            match done {
                Ok(_) | Err(Error::Missing) => {
                    // If this line is lost, the next start finds the
                    // original value, which is not the daemon's.
                    let _ = self.journal.forget(knob.as_str());
                }
                Err(_) => {}
            }
            report(done.unwrap_or_else(|error| GivenBack::Failed { knob, error }));
        }
        // A journal that cannot be removed is harmless: the next start finds the original values.
        let _ = self.journal.close();
    }

    /// What [`KnobWriter::give_back`] would do, were it no dry run. Writes nothing.
    pub fn would_give_back(&self, mut report: impl FnMut(GivenBack)) {
        for entry in self.journal.entries() {
            let (knob, original) = (entry.knob, entry.original);
            report(match self.read(knob.as_str()) {
                Ok(found) if entry.is_ours(&found) => GivenBack::Restored { knob, original },
                Ok(found) => GivenBack::Left { knob, found },
                Err(error) => GivenBack::Failed { knob, error },
            });
        }
    }

    /// Writes a knob by whoever has to write it.
    fn write(&self, knob: &str, value: &Value) -> Result<(), Errno> {
        if let Some(thread) = kswapd_nice::thread_of(knob) {
            let (pid, _) = kswapd_nice::find(&self.root, thread).map_err(|_| Errno::SRCH)?;
            let nice = value.as_str().parse().map_err(|_| Errno::INVAL)?;
            return (self.renice)(&self.root, pid, nice);
        }
        if let Some(property) = self.property(knob) {
            return property.set(value);
        }
        knob_file::write(&self.place(knob), value)
    }

    /// The file of a knob.
    pub fn place(&self, knob: &str) -> Text<512> {
        knob_file::place(&self.root, knob)
    }
}

fn journal_error(error: std::io::Error) -> Error {
    Error::Journal(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}
