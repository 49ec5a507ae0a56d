//! The actuators: every knob that the daemon writes, below a root that tests may choose.
//!
//! Order of a write, so that it can be undone after a kill at any moment: read; journal the original
//! and what will be written, and wait for the disk; read again; write; read back. A value that is
//! neither what was read before nor ours was written by the administrator: the knob is theirs, and
//! is not touched.
use crate::journal::{Entry, Journal, Name, Value};
use crate::kswapd::{self, Renice};
use crate::text::Text;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fmt;
use std::path::{Path, PathBuf};

pub const WATERMARK_SCALE_FACTOR: &str = "vm.watermark_scale_factor";
pub const COMPACTION_PROACTIVENESS: &str = "vm.compaction_proactiveness";
pub const VFS_CACHE_PRESSURE: &str = "vm.vfs_cache_pressure";
pub const NEGATIVE_DENTRY_LIMIT: &str = "fs.negative-dentry-limit";

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Written, over this value.
    Written { from: Value },
    /// It had the value already.
    Unchanged,
    /// Somebody else has written it: it has this value, and was left alone.
    Yielded { found: Value },
    /// A dry run: it would have been written over this value.
    Dry { from: Value },
}

/// Why a knob was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The kernel has no such knob.
    Missing,
    /// The knob could not be read.
    Read(Errno),
    /// The journal could not be written, so the knob was not either.
    Journal(Errno),
    /// The kernel refused the value.
    Write(Errno),
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fault::Missing => to.write_str("this kernel does not have it"),
            Fault::Read(errno) => write!(to, "cannot be read: {errno}"),
            Fault::Journal(errno) => {
                write!(
                    to,
                    "left alone, for its original value cannot be journaled: {errno}"
                )
            }
            Fault::Write(errno) => write!(to, "cannot be written: {errno}"),
        }
    }
}

/// All knobs.
pub struct Knobs {
    root: PathBuf,
    journal: Journal,
    dry: bool,
    renice: Renice,
}

/// What [`Knobs::give_back`] did with a knob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenBack {
    /// It has its original value again.
    Restored { knob: Name, original: Value },
    /// It holds a value that is not ours: left as it is.
    Left { knob: Name, found: Value },
    /// It could not be: it stays in the journal.
    Failed { knob: Name, fault: Fault },
}

impl Knobs {
    /// `dry`: nothing is ever written, neither knob nor journal.
    pub fn new(root: &Path, journal: Journal, dry: bool) -> Knobs {
        Knobs {
            root: root.to_owned(),
            journal,
            dry,
            renice: kswapd::renice,
        }
    }

    /// With another way to set a thread's nice value.
    pub fn with_renice(mut self, renice: Renice) -> Knobs {
        self.renice = renice;
        self
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// A knob's value now.
    ///
    /// # Errors
    /// When the kernel lacks it or it cannot be read.
    pub fn read(&self, knob: &str) -> Result<Value, Fault> {
        if let Some(thread) = kswapd::thread_of(knob) {
            let (_, nice) = kswapd::find(&self.root, thread)?;
            return Ok(Value::of(format_args!("{nice}")));
        }
        let opened = rustix::fs::open(
            self.place(knob).as_str(),
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        );
        let file = match opened {
            Ok(file) => file,
            Err(Errno::NOENT) => return Err(Fault::Missing),
            Err(errno) => return Err(Fault::Read(errno)),
        };
        let mut bytes = [0; 256];
        let length = rustix::io::read(file, &mut bytes).map_err(Fault::Read)?;
        // The first line only: a file on a disk that was cut short while it was written may have a
        // rest of its older value behind it.
        let line = bytes[..length].split(|&byte| byte == b'\n').next();
        let line = std::str::from_utf8(line.unwrap_or_default()).unwrap_or_default();
        let value = canonical(chosen(line));
        match value.as_bytes() {
            b"" => Err(Fault::Read(Errno::NODATA)),
            _ => Ok(value),
        }
    }

    /// Writes `to`. `seen` is the value that the decision was made on, where it was: if the knob has
    /// another by now, somebody else wrote it.
    ///
    /// # Errors
    /// When the knob cannot be read or written, or its original not be journaled. The knob then has
    /// the value that it had.
    pub fn set(&mut self, knob: &str, seen: Option<&str>, to: &str) -> Result<Outcome, Fault> {
        let to = canonical(to);
        let from = self.read(knob)?;
        if seen.is_some_and(|seen| canonical(seen) != from) {
            self.look(knob, &from)?;
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
            self.look(knob, &from)?;
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
        self.journal.intend(entry).map_err(journal_fault)?;
        // The disk may have taken its time.
        let again = self.read(knob)?;
        if again != from {
            self.look(knob, &again)?;
            return Ok(Outcome::Yielded { found: again });
        }
        if let Err(errno) = self.write(knob, &to) {
            match before {
                Some(before) => self.journal.note(before),
                None => self.journal.forget(knob),
            }
            .map_err(journal_fault)?;
            return Err(Fault::Write(errno));
        }
        let found = self.read(knob)?;
        if found != to && seen.is_some() {
            // The policy's knobs either take a value or refuse it: somebody else was faster.
            self.journal.forget(knob).map_err(journal_fault)?;
            return Ok(Outcome::Yielded { found });
        }
        // Another knob may take what it can, as nr_hugepages does: then that is what is ours.
        if found == entry.original {
            self.journal.forget(knob)
        } else {
            let ours = [Some(found), None, None];
            self.journal.note(Entry { ours, ..entry })
        }
        .map_err(journal_fault)?;
        Ok(Outcome::Written { from })
    }

    /// Journals that `knob` may come to hold any of `values`, so that they can be written later
    /// without waiting for a disk or for memory. Returns the value that it has, which is another's
    /// even if it was ours: [`Knobs::disarm`] makes it so again.
    ///
    /// # Errors
    /// When the knob cannot be read, or the journal not be written.
    pub fn arm(&mut self, knob: &str, values: [&str; 2]) -> Result<Value, Fault> {
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
        self.journal.intend(entry).map_err(journal_fault)?;
        Ok(found)
    }

    /// The knob has the value again that [`Knobs::arm`] found.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn disarm(&mut self, knob: &str) -> Result<(), Fault> {
        let Some(entry) = self.journal.entry(knob).copied() else {
            return Ok(());
        };
        match entry.ours[2] {
            // A value of ours from before.
            Some(ours) => self.journal.note(Entry {
                ours: [Some(ours), None, None],
                ..entry
            }),
            None => self.journal.forget(knob),
        }
        .map_err(journal_fault)
    }

    /// Takes notice of a knob's value. Returns whether the administrator has taken it from us.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn look(&mut self, knob: &str, value: &Value) -> Result<bool, Fault> {
        match self.journal.entry(knob) {
            Some(entry) if !entry.is_ours(value) => {
                self.journal.forget(knob).map_err(journal_fault)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Gives every knob that still holds a value of ours its original value, and takes the journal
    /// away when all is done.
    pub fn give_back(&mut self, mut tell: impl FnMut(GivenBack)) {
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
                self.write(knob.as_str(), &original).map_err(Fault::Write)?;
                Ok(GivenBack::Restored { knob, original })
            });
            match done {
                Ok(_) | Err(Fault::Missing) => {
                    // Were this line lost, the next start would find the original there: not ours.
                    let _ = self.journal.forget(knob.as_str());
                }
                Err(_) => {}
            }
            tell(done.unwrap_or_else(|fault| GivenBack::Failed { knob, fault }));
        }
        // Left behind it is harmless, for the same reason.
        let _ = self.journal.close();
    }

    /// Writes the knob's file in one piece. No O_TRUNC: on a disk the file would be empty for a
    /// moment, and a kill then would lose the value.
    fn write(&self, knob: &str, value: &Value) -> Result<(), Errno> {
        if let Some(thread) = kswapd::thread_of(knob) {
            let (pid, _) = kswapd::find(&self.root, thread).map_err(|_| Errno::SRCH)?;
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

    /// `vm.swappiness` is `proc/sys/vm/swappiness`; a dot within a name is written as a slash, as
    /// sysctl(8) has it. A name that begins with a slash is a path.
    pub fn place(&self, knob: &str) -> Text<512> {
        let mut place = Text::new();
        place.put(format_args!("{}/", self.root.display()));
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
}

/// Does the file live in procfs, sysfs or cgroupfs? Those take no truncation.
fn in_the_kernel(file: &rustix::fd::OwnedFd) -> bool {
    const PROC: i64 = 0x9fa0;
    const SYSFS: i64 = 0x6265_6572;
    const CGROUP2: i64 = 0x6367_7270;
    rustix::fs::fstatfs(file).is_ok_and(|fs| [PROC, SYSFS, CGROUP2].contains(&fs.f_type))
}

fn journal_fault(error: std::io::Error) -> Fault {
    Fault::Journal(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}

/// Of a choice (`always [madvise] never`) what is chosen: that is what can be written again.
fn chosen(line: &str) -> &str {
    line.split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(line, |(chosen, _)| chosen)
}

/// Words with single spaces, and numbers without leading zeros: as the kernel shows them.
fn canonical(words: &str) -> Value {
    let mut value = Value::new();
    for (number, word) in words.split_ascii_whitespace().enumerate() {
        let space = if number > 0 { " " } else { "" };
        match word.parse::<i64>() {
            Ok(integer) => value.put(format_args!("{space}{integer}")),
            Err(_) => value.put(format_args!("{space}{word}")),
        }
    }
    value
}
