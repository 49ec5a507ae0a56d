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
use crate::actuate::error::Error;
use crate::actuate::journal::{Entry, Journal, Name, Value};
use crate::actuate::kswapd_nice::{self, Renice};
use crate::os::fixed_string::Text;
use rustix::fs::{FileType, Mode, OFlags};
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
}

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
        let opened = rustix::fs::open(
            self.place(knob).as_str(),
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        );
        let file = match opened {
            Ok(file) => file,
            Err(Errno::NOENT) => return Err(Error::Missing),
            Err(errno) => return Err(Error::Read(errno)),
        };
        let mut bytes = [0; 256];
        let length = rustix::io::read(file, &mut bytes).map_err(Error::Read)?;
        // Only the first line counts: a file on a disk may hold the rest of an older,
        // longer value behind it.
        let line = bytes[..length].split(|&byte| byte == b'\n').next();
        let line = std::str::from_utf8(line.unwrap_or_default()).unwrap_or_default();
        let value = canonical(chosen(line));
        match value.as_bytes() {
            b"" => Err(Error::Read(Errno::NODATA)),
            _ => Ok(value),
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
        let from = self.read(knob)?;
        if seen.is_some_and(|seen| canonical(seen) != from) {
            self.observe(knob, &from)?;
            return Ok(Outcome::Yielded { found: from });
        }
        if self.dry {
            let same = from == to;
            return Ok(if same {
                Outcome::Unchanged
            } else {
                Outcome::Dry { from }
            });
        }
        let before = self.journal.entry(knob).copied();
        if before.is_some_and(|entry| !entry.is_ours(&from)) {
            self.observe(knob, &from)?;
            return Ok(Outcome::Yielded { found: from });
        }
        if from == to {
            return Ok(Outcome::Unchanged);
        }
        let entry = Entry {
            knob: Name::of(format_args!("{knob}")),
            original: before.map_or(from, |entry| entry.original),
            ours: [before.map(|_| from), Some(to), None],
        };
        self.journal.intend(entry).map_err(journal_error)?;
        // Writing the journal may have taken long, so the knob is read again.
        let again = self.read(knob)?;
        if again != from {
            self.observe(knob, &again)?;
            return Ok(Outcome::Yielded { found: again });
        }
        if let Err(errno) = self.write(knob, &to) {
            match before {
                Some(before) => self.journal.note(before),
                None => self.journal.forget(knob),
            }
            .map_err(journal_error)?;
            return Err(Error::Write(errno));
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
        Ok(Outcome::Written { from })
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
        self.journal.forget(knob).map_err(journal_error)
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
        for entry in self.journal.entries().to_vec() {
            let knob = entry.knob;
            let done = self.read(knob.as_str()).and_then(|found| {
                if !entry.is_ours(&found) {
                    return Ok(GivenBack::Left { knob, found });
                }
                let original = entry.original;
                self.write(knob.as_str(), &original).map_err(Error::Write)?;
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

    /// Writes the knob's file in one piece, without O_TRUNC. Truncated, a file on a disk would be
    /// empty for a moment, and a kill would lose the value.
    fn write(&self, knob: &str, value: &Value) -> Result<(), Errno> {
        if let Some(thread) = kswapd_nice::thread_of(knob) {
            let (pid, _) = kswapd_nice::find(&self.root, thread).map_err(|_| Errno::SRCH)?;
            let nice = value.as_str().parse().map_err(|_| Errno::INVAL)?;
            return (self.renice)(&self.root, pid, nice);
        }
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open(self.place(knob).as_str(), flags, Mode::empty())?;
        let line = Text::<160>::of(format_args!("{value}\n"));
        let written = loop {
            match rustix::io::write(&file, line.as_bytes()) {
                Err(Errno::INTR) => {}
                done => break done?,
            }
        };
        if written != line.as_bytes().len() {
            return Err(Errno::IO);
        }
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
        if kind == FileType::RegularFile && !in_the_kernel(&file) {
            rustix::fs::ftruncate(&file, written as u64)?;
        }
        Ok(())
    }

    /// The file of a knob: `vm.swappiness` is `proc/sys/vm/swappiness`. A dot within a name
    /// is written as a slash, as in sysctl(8). A name that begins with a slash is a path.
    pub fn place(&self, knob: &str) -> Text<512> {
        place(&self.root, knob)
    }
}

/// [`KnobWriter::place`] below any root.
pub fn place(root: &Path, knob: &str) -> Text<512> {
    let mut place = Text::new();
    place.put(format_args!("{}/", root.display()));
    if knob.starts_with('/') {
        place.put(format_args!("{}", knob.trim_start_matches('/')));
        return place;
    }
    place.put(format_args!("proc/sys/"));
    for letter in knob.chars() {
        let letter = match letter {
            '.' => '/',
            '/' => '.',
            other => other,
        };
        place.put(format_args!("{letter}"));
    }
    place
}

/// Whether the file is in procfs, sysfs or cgroupfs, whose files cannot be truncated.
fn in_the_kernel(file: &rustix::fd::OwnedFd) -> bool {
    const PROC: i64 = 0x9fa0;
    const SYSFS: i64 = 0x6265_6572;
    const CGROUP2: i64 = 0x6367_7270;
    rustix::fs::fstatfs(file).is_ok_and(|fs| [PROC, SYSFS, CGROUP2].contains(&fs.f_type))
}

fn journal_error(error: std::io::Error) -> Error {
    Error::Journal(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}

/// The selected value of a list such as `always [madvise] never`. Only that value can be written.
fn chosen(line: &str) -> &str {
    line.split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(line, |(chosen, _)| chosen)
}

/// The text with single spaces, and numbers without leading zeros: as the kernel shows them.
fn canonical(text: &str) -> Value {
    let mut value = Value::new();
    for (number, word) in text.split_ascii_whitespace().enumerate() {
        let space = if number > 0 { " " } else { "" };
        match word.parse::<i64>() {
            Ok(integer) => value.put(format_args!("{space}{integer}")),
            Err(_) => value.put(format_args!("{space}{word}")),
        }
    }
    value
}
