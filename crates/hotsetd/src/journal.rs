//! The journal of originals: what each knob was before the daemon first wrote it, and which of the
//! values that it may hold now are the daemon's own.
//!
//! A knob is written only after its line is on the disk, and the line names what will be written.
//! So a daemon that was killed at any moment leaves a journal by which the next one can tell its own
//! value (give the original back) from one that the administrator wrote since (leave it alone).
//!
//! The file is a line a change, the last line of a knob counts:
//!
//! ```text
//! 8c1f0e55a90b7d21<TAB>BOOT-ID<TAB>set<TAB>vm/watermark_scale_factor<TAB>10<TAB>50<TAB>120
//! 1b0c...<TAB>BOOT-ID<TAB>forget<TAB>vm/watermark_scale_factor
//! ```
//!
//! First a checksum (FNV-1a, 64 bit) of the rest: a torn or damaged line is left out. Two values of
//! ours stand there while a write is under way: the one there and the one to be. A journal of
//! another boot says nothing: the kernel's knobs were lost with the power, and the journal's place
//! (`/run`) as a rule with them.
use crate::text::Text;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A knob's value as text, its spaces made single.
pub type Value = Text<128>;
/// A knob's name: its path below the root.
pub type Name = Text<128>;

/// Past this it is written anew, with a line a knob.
const LONGEST_FILE: u64 = 16 << 10;

/// A knob that holds, or may hold, a value of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub knob: Name,
    /// What it was before we first wrote it.
    pub original: Value,
    /// The values of ours that it may hold: the last one, and the next while it is being written, or
    /// those that it may be given without another word ([`crate::knobs::Knobs::arm`]).
    pub ours: [Option<Value>; 3],
}

impl Entry {
    /// Is `value` one that we wrote or were about to write?
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
    /// What was wrong with the file that was found, for the log.
    pub complaints: Vec<String>,
}

/// FNV-1a, 64 bit (Fowler, Noll, Vo).
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Journal {
    /// Reads what an earlier daemon of this boot left, if it left anything. Writes nothing.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn open(path: &Path, boot: &str) -> io::Result<Journal> {
        let mut journal = Journal {
            path: path.to_owned(),
            file: None,
            boot: Text::of(format_args!("{}", boot.trim())),
            entries: Vec::with_capacity(16),
            length: 0,
            complaints: Vec::new(),
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
        // Appended to only after it has been written anew: a torn tail would swallow the next line.
        Ok(journal)
    }

    fn read(&mut self, found: &[u8]) {
        for (number, line) in found.split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            match self.take(line) {
                Some(true) => {}
                Some(false) => {
                    let words = format!("line {}: of another boot, left out", number + 1);
                    self.complaints.push(words);
                }
                None => {
                    let words = format!("line {}: torn or damaged, left out", number + 1);
                    self.complaints.push(words);
                }
            }
        }
    }

    /// One line. `None`: it is damaged; `false`: it is of another boot.
    fn take(&mut self, line: &[u8]) -> Option<bool> {
        let line = std::str::from_utf8(line).ok()?;
        let (sum, rest) = line.split_once('\t')?;
        if u64::from_str_radix(sum, 16).ok()? != checksum(rest.as_bytes()) {
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

    /// Every knob that holds, or may hold, a value of ours.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn entry(&self, knob: &str) -> Option<&Entry> {
        self.entries
            .iter()
            .find(|entry| entry.knob.as_str() == knob)
    }

    /// Writes an entry and waits until it is on the disk. Only then may its knob be written.
    ///
    /// # Errors
    /// When it cannot be written: then the knob must not be either. The entry in memory is as
    /// before.
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

    /// Says what a write led to. Not waited for: were it lost, the line before is still true, it
    /// only names one value more.
    ///
    /// # Errors
    /// When it cannot be written. In memory it is so nevertheless.
    pub fn note(&mut self, entry: Entry) -> io::Result<()> {
        self.replace(entry);
        self.append_set(&entry)
    }

    /// The knob is not ours any more: given back, or the administrator's own.
    ///
    /// # Errors
    /// When it cannot be written. In memory it is so nevertheless.
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
        // A half-written line would damage the next as well: back to where it began.
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

    /// All of it into a new file that then takes the old one's place.
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

    /// Takes the file away when nothing is ours any more; else writes it anew.
    ///
    /// # Errors
    /// When it cannot be removed or written.
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

/// With its checksum and its end. A line that does not fit whole would lie.
fn sealed(line: &Text<1024>) -> io::Result<Text<1088>> {
    let sum = checksum(line.as_bytes());
    let sealed = Text::of(format_args!("{sum:016x}\t{line}\n"));
    if line.is_cut() || sealed.is_cut() {
        let words = "a knob's values are too long for the journal";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
    }
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(words: &str) -> Value {
        Value::of(format_args!("{words}"))
    }

    fn entry(knob: &str, original: &str, one: &str, two: Option<&str>) -> Entry {
        Entry {
            knob: Name::of(format_args!("{knob}")),
            original: value(original),
            ours: [Some(value(one)), two.map(value), None],
        }
    }

    #[test]
    fn what_was_intended_is_read_back() {
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
    fn another_boots_journal_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut journal = Journal::open(&path, "monday").unwrap();
        journal.intend(entry("a", "10", "50", None)).unwrap();
        let later = Journal::open(&path, "tuesday").unwrap();
        assert!(later.entries().is_empty());
        assert_eq!(later.complaints.len(), 1);
        // Where the boot is not known, nothing is thrown away.
        assert_eq!(Journal::open(&path, "").unwrap().entries().len(), 1);
    }

    #[test]
    fn it_stays_small() {
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
    fn what_cannot_be_written_is_not_intended() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let mut journal = Journal::open(&dir.path().join("journal"), "boot").unwrap();
        journal.path = blocked.join("journal");
        assert!(journal.intend(entry("a", "10", "50", None)).is_err());
        assert!(journal.entries().is_empty());
    }
}
