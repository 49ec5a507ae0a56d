//! The journal of originals: each knob's value before the daemon first wrote it, and the values
//! that the daemon may have written since.
//!
//! A knob is written only after its line is on the disk, and the line has the value to be
//! written. So the next daemon knows, after a kill at any moment, whose value a knob holds. It
//! gives the original back in place of a daemon's value, and leaves an administrator's value
//! alone.
//!
//! The file has a line for each change. The last line of a knob counts:
//!
//! ```text
//! 8c1f0e55a90b7d21<TAB>BOOT-ID<TAB>set<TAB>vm/watermark_scale_factor<TAB>10<TAB>50<TAB>120
//! 1b0c...<TAB>BOOT-ID<TAB>forget<TAB>vm/watermark_scale_factor
//! ```
//!
//! A line begins with a checksum of the rest (FNV-1a, 64 bits): a torn or damaged line is
//! ignored. While a write is under way, the line has the present value and the next. A journal
//! of another boot is ignored: the kernel has lost the values.
use crate::os::fixed_string::Text;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A knob's value as text, with single spaces.
pub type Value = Text<128>;
/// A knob's name: its path below the root.
pub type Name = Text<128>;

/// Bytes of the file beyond which the file is written anew, with one line for each knob.
const LONGEST_FILE: u64 = 16 << 10;

/// A knob that holds, or may hold, a value of the daemon's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub knob: Name,
    /// The value before the daemon first wrote the knob.
    pub original: Value,
    /// The daemon's values that the knob may hold: the last one, and the next during a
    /// write, or those of [`crate::actuate::knobs::KnobWriter::arm`].
    pub ours: [Option<Value>; 3],
}

impl Entry {
    /// Whether the daemon wrote `value`, or was about to write it.
    pub fn is_ours(&self, value: &Value) -> bool {
        self.ours.iter().flatten().any(|ours| ours == value)
    }
}

/// The journal, on the disk and in memory.
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
    boot: Text<64>,
    entries: Vec<Entry>,
    length: u64,
    /// Errors in the file, for the log.
    pub complaints: Vec<String>,
    /// The file had lines, and all were damaged.
    pub unreadable: bool,
}

impl Journal {
    /// Reads the file of an earlier daemon of this boot, if there is one. Writes nothing.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    pub fn open(path: &Path, boot: &str) -> io::Result<Journal> {
        let mut journal = Journal {
            path: path.to_owned(),
            file: None,
            boot: Text::of(format_args!("{}", boot.trim())),
            entries: Vec::with_capacity(16),
            length: 0,
            complaints: Vec::new(),
            unreadable: false,
        };
        let mut found = Vec::new();
        match File::open(path) {
            Ok(mut file) => {
                file.read_to_end(&mut found)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(journal),
            Err(error) => return Err(error),
        }
        journal.read(&found);
        // The file is written anew before the first append: a torn tail would damage the
        // next line.
        Ok(journal)
    }

    fn read(&mut self, found: &[u8]) {
        let mut good = false;
        for (number, line) in found.split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let taken = self.take(line);
            good |= taken.is_some();
            match taken {
                Some(true) => {}
                Some(false) => {
                    let text = format!("line {}: of another boot: ignored", number + 1);
                    self.complaints.push(text);
                }
                None => {
                    let text = format!("line {}: torn or damaged: ignored", number + 1);
                    self.complaints.push(text);
                }
            }
        }
        self.unreadable = !good && !self.complaints.is_empty();
    }

    /// Reads one line. `None`: the line is damaged; `false`: the line is of another boot.
    fn take(&mut self, line: &[u8]) -> Option<bool> {
        let line = std::str::from_utf8(line).ok()?;
        let (sum, rest) = line.split_once('\t')?;
        if u64::from_str_radix(sum, 16).ok()? != random::fnv1a(rest.bytes()) {
            return None;
        }
        let mut fields = rest.split('\t');
        let boot = fields.next()?;
        if !self.boot.as_str().is_empty() && !boot.is_empty() && boot != self.boot.as_str() {
            return Some(false);
        }
        let verb = fields.next()?;
        let knob = Name::of(format_args!("{}", fields.next()?));
        match verb {
            "set" => {
                let mut value = || Some(Value::of(format_args!("{}", fields.next()?)));
                let original = value()?;
                let entry = Entry {
                    knob,
                    original,
                    ours: [Some(value()?), value(), value()],
                };
                self.replace(entry);
            }
            "forget" => self.entries.retain(|entry| entry.knob != knob),
            _ => return None,
        }
        Some(true)
    }

    fn replace(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|old| old.knob == entry.knob) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every knob that holds, or may hold, a value of the daemon's.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn entry(&self, knob: &str) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.knob.as_str() == knob)
    }

    /// Writes an entry and waits until the entry is on the disk. Only then may its knob be
    /// written.
    ///
    /// # Errors
    /// The entry cannot be written. Then the knob must not be written. The entry in memory is
    /// unchanged.
    pub fn intend(&mut self, entry: Entry) -> io::Result<()> {
        let before = self.entries.iter().position(|old| old.knob == entry.knob);
        let saved = before.map(|at| self.entries[at]);
        self.replace(entry);
        let done = self.append_set(&entry).and_then(|()| self.sync());
        if done.is_err() {
            match (before, saved) {
                (Some(at), Some(saved)) => self.entries[at] = saved,
                _ => self.entries.retain(|old| old.knob != entry.knob),
            }
        }
        done
    }

    /// Records the outcome of a write, without waiting for the disk. If the line is lost, the
    /// line before it still holds: that line only lists one value more.
    ///
    /// # Errors
    /// The line cannot be written. The entry in memory is changed nevertheless.
    pub fn note(&mut self, entry: Entry) -> io::Result<()> {
        self.replace(entry);
        self.append_set(&entry)
    }

    /// Removes a knob that is given back or the administrator's own.
    ///
    /// # Errors
    /// The line cannot be written. The entry in memory is changed nevertheless.
    pub fn forget(&mut self, knob: &str) -> io::Result<()> {
        let had = self.entries.len();
        self.entries.retain(|entry| entry.knob.as_str() != knob);
        if self.entries.len() == had {
            return Ok(());
        }
        let mut line = Text::<1024>::new();
        line.put(format_args!("{}\tforget\t{knob}", self.boot));
        self.append(&line)
    }

    fn append_set(&mut self, entry: &Entry) -> io::Result<()> {
        let line = set_line(&self.boot, entry);
        self.append(&line)
    }

    fn append(&mut self, line: &Text<1024>) -> io::Result<()> {
        if self.file.is_none() || self.length > LONGEST_FILE {
            // The change is in memory already.
            return self.write_anew();
        }
        let sealed = sealed(line)?;
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        // A half-written line is cut off, because it would damage the next line.
        if let Err(error) = file.write_all_at(sealed.as_bytes(), self.length) {
            let _ = file.set_len(self.length);
            return Err(error);
        }
        self.length += sealed.as_bytes().len() as u64;
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// Writes all entries to a new file, which then replaces the old one.
    fn write_anew(&mut self) -> io::Result<()> {
        let mut place = Text::<512>::new();
        place.put(format_args!("{}.new", self.path.display()));
        let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::RDWR | OFlags::CLOEXEC;
        let open = || rustix::fs::open(place.as_str(), flags, Mode::RUSR | Mode::WUSR);
        let opened = match (open(), self.path.parent()) {
            (Err(rustix::io::Errno::NOENT), Some(parent)) => {
                std::fs::create_dir_all(parent)?;
                open()
            }
            (opened, _) => opened,
        };
        let mut file = File::from(opened?);
        for entry in &self.entries {
            file.write_all(sealed(&set_line(&self.boot, entry))?.as_bytes())?;
        }
        file.sync_all()?;
        rustix::fs::rename(place.as_str(), &self.path)?;
        if let Some(parent) = self.path.parent() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::fsync(rustix::fs::open(parent, flags, Mode::empty())?)?;
        }
        self.length = file.stream_position()?;
        self.file = Some(file);
        Ok(())
    }

    /// Removes the file if there is no entry; else writes it anew.
    ///
    /// # Errors
    /// The file cannot be removed or written.
    pub fn close(&mut self) -> io::Result<()> {
        if !self.entries.is_empty() {
            return self.write_anew();
        }
        self.file = None;
        self.length = 0;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn set_line(boot: &Text<64>, entry: &Entry) -> Text<1024> {
    let mut line = Text::new();
    line.put(format_args!(
        "{boot}\tset\t{}\t{}",
        entry.knob, entry.original
    ));
    for ours in entry.ours.iter().flatten() {
        line.put(format_args!("\t{ours}"));
    }
    line
}

/// The line with its checksum and its end. A line that was cut is an error: the values would be
/// wrong.
fn sealed(line: &Text<1024>) -> io::Result<Text<1088>> {
    let sum = random::fnv1a(line.as_bytes().iter().copied());
    let sealed = Text::of(format_args!("{sum:016x}\t{line}\n"));
    if line.is_cut() || sealed.is_cut() {
        let text = "a knob's values are too long for the journal";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        Value::of(format_args!("{text}"))
    }

    fn entry(knob: &str, original: &str, one: &str, two: Option<&str>) -> Entry {
        Entry {
            knob: Name::of(format_args!("{knob}")),
            original: value(original),
            ours: [Some(value(one)), two.map(value), None],
        }
    }

    #[test]
    fn entries_are_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("not/there/yet/journal");
        let mut journal = Journal::open(&path, "boot").unwrap();
        journal.intend(entry("a", "10", "50", None)).unwrap();
        journal.intend(entry("b", "1 2 3", "4 5 6", None)).unwrap();
        journal.intend(entry("a", "10", "50", Some("70"))).unwrap();
        let again = Journal::open(&path, "boot").unwrap();
        assert_eq!(again.entries(), journal.entries());
        assert!(again.entry("a").unwrap().is_ours(&value("70")));
        assert!(again.entry("a").unwrap().is_ours(&value("50")));
        assert!(!again.entry("a").unwrap().is_ours(&value("10")));
        journal.forget("a").unwrap();
        let again = Journal::open(&path, "boot").unwrap();
        assert!(again.entry("a").is_none() && again.entry("b").is_some());
        journal.forget("b").unwrap();
        journal.close().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_file_cut_anywhere_gives_a_state_that_was_once_true() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::open(&path, "boot").unwrap();
        let mut states = vec![Vec::new()];
        for number in 0..6 {
            let next = (number > 0).then(|| format!("{}", 50 + number));
            let now = format!("{}", 49 + number);
            journal
                .intend(entry("a", "10", &now, next.as_deref()))
                .unwrap();
            states.push(journal.entries().to_vec());
        }
        let whole = std::fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let cut = Journal::open(&path, "boot").unwrap();
            assert!(
                states.iter().any(|state| state == cut.entries()),
                "cut at {end}"
            );
            assert!(cut.entries().len() < 2);
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            let found = Journal::open(&path, "boot").unwrap();
            assert!(
                states.iter().any(|state| state == found.entries()),
                "damaged at {at}"
            );
        }
    }

    #[test]
    fn a_journal_of_another_boot_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::open(&path, "monday").unwrap();
        journal.intend(entry("a", "10", "50", None)).unwrap();
        let later = Journal::open(&path, "tuesday").unwrap();
        assert!(later.entries().is_empty());
        assert_eq!(later.complaints.len(), 1);
        // An unknown boot may be this one.
        assert_eq!(Journal::open(&path, "").unwrap().entries().len(), 1);
    }

    #[test]
    fn the_file_stays_small() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::open(&path, "boot").unwrap();
        for number in 0..3000 {
            let now = format!("{number}");
            journal.note(entry("a", "10", &now, None)).unwrap();
        }
        assert!(std::fs::metadata(&path).unwrap().len() < LONGEST_FILE + 200);
        let again = Journal::open(&path, "boot").unwrap();
        assert_eq!(again.entries(), journal.entries());
    }

    #[test]
    fn an_entry_that_cannot_be_written_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let mut journal = Journal::open(&dir.path().join("journal"), "boot").unwrap();
        journal.path = blocked.join("journal");
        assert!(journal.intend(entry("a", "10", "50", None)).is_err());
        assert!(journal.entries().is_empty());
    }
}
