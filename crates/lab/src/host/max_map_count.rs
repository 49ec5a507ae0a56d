//! `vm.max_map_count` of the host, raised while guests need it.
//!
//! Every page that a process inside a User-Mode Linux guest maps is one mapping of a host process.
//! A host allows 65530 by default, which is about 255 MB.
//!
//! Several hotset processes may run at once, so the raise is a lease. A file lists the holders and the
//! value from before the first. The last holder to leave restores that value, unless another program
//! has changed it meanwhile. The next holder removes those that were killed.
use anyhow::{bail, Context, Result};
use rustix::fs::{flock, FlockOperation};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

const SYSCTL: &str = "/proc/sys/vm/max_map_count";
const LEDGER: &str = "/run/hotset/max_map_count";

/// Keeps the value up while it lives.
#[derive(Debug)]
pub struct Lease {
    sysctl: PathBuf,
    ledger: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Ledger {
    /// The value before the first holder came.
    original: u64,
    /// The value that holders made of it.
    raised: u64,
    holders: Vec<Holder>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    /// Start of the process in clock ticks since boot: a pid alone may be another's by now.
    start: u64,
}

impl Holder {
    fn of(pid: u32) -> Option<Holder> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, may contain anything; field 22 is the 20th after it.
        let start = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?;
        Some(Holder {
            pid,
            start: start.parse().ok()?,
        })
    }

    fn lives(&self) -> bool {
        Holder::of(self.pid).as_ref() == Some(self)
    }
}

/// The mappings that a host process needs for a guest of this size: one for each of its pages. A few
/// tens of thousands of pages belong to the guest's kernel and are never mapped. They make up for
/// mappings that are no single pages.
pub fn needed(memory_mb: u64) -> u64 {
    memory_mb * 256 - 6
}

impl Lease {
    /// Raises the host's limit if a guest of `memory_mb` needs it and the limit is too low.
    ///
    /// # Errors
    /// When the sysctl cannot be written; the message lists the remedies.
    pub fn take(memory_mb: u64) -> Result<Option<Lease>> {
        Lease::take_at(Path::new(SYSCTL), Path::new(LEDGER), memory_mb)
    }

    /// [`Lease::take`] with other files, for tests.
    pub fn take_at(sysctl: &Path, ledger: &Path, memory_mb: u64) -> Result<Option<Lease>> {
        let needed = needed(memory_mb);
        if needed <= read(sysctl)? && !ledger.exists() {
            return Ok(None);
        }
        let fix = || {
            format!(
                "guests of {memory_mb} MB need vm.max_map_count of {needed} on this host, and it is \
                 {}: run as root, or `sudo sysctl -w vm.max_map_count={needed}`, or take smaller \
                 guests (--set machine.memory_mb=256)",
                read(sysctl).unwrap_or_default()
            )
        };
        // A ledger that cannot be written belongs to a run of root, who sets the value.
        let mut locked = match Locked::open(ledger) {
            Ok(locked) => locked,
            Err(_) if needed <= read(sysctl)? => return Ok(None),
            Err(error) => return Err(error).with_context(fix),
        };
        locked.settle(sysctl)?;
        let now = read(sysctl)?;
        if needed <= now && locked.book.holders.is_empty() {
            locked.close()?;
            return Ok(None);
        }
        if locked.book.holders.is_empty() {
            locked.book.original = now;
        }
        // Twice: a page may be mapped at two places.
        locked.book.raised = now.max(needed * 2);
        let Some(holder) = Holder::of(std::process::id()) else {
            bail!("/proc/{}/stat cannot be read", std::process::id());
        };
        locked.book.holders.push(holder);
        // First the note, then the write: a crash between the two leaves nothing to restore.
        locked.save()?;
        std::fs::write(sysctl, locked.book.raised.to_string()).with_context(fix)?;
        Ok(Some(Lease {
            sysctl: sysctl.into(),
            ledger: ledger.into(),
        }))
    }

    fn give_back(&self) -> Result<()> {
        let mut locked = Locked::open(&self.ledger)?;
        let own = Holder::of(std::process::id());
        if let Some(at) = locked
            .book
            .holders
            .iter()
            .position(|h| Some(h) == own.as_ref())
        {
            locked.book.holders.remove(at);
        }
        locked.settle(&self.sysctl)?;
        locked.close()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Err(error) = self.give_back() {
            eprintln!("hotset: restoring {}: {error:#}", self.sysctl.display());
        }
    }
}

/// The ledger, locked and read.
struct Locked {
    path: PathBuf,
    file: File,
    book: Ledger,
}

impl Locked {
    fn open(path: &Path) -> Result<Locked> {
        let context = || format!("opening {}", path.display());
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).with_context(context)?;
        }
        loop {
            let mut options = OpenOptions::new();
            let mut file = options
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .with_context(context)?;
            flock(&file, FlockOperation::LockExclusive).with_context(context)?;
            // The last holder removes the file: the locked file may no longer be the one in the folder.
            use std::os::unix::fs::MetadataExt;
            let same = |now: std::fs::Metadata| file.metadata().is_ok_and(|m| m.ino() == now.ino());
            if !std::fs::metadata(path).is_ok_and(same) {
                continue;
            }
            let mut text = String::new();
            file.read_to_string(&mut text).with_context(context)?;
            let book = serde_json::from_str(&text).unwrap_or_default();
            return Ok(Locked {
                path: path.into(),
                file,
                book,
            });
        }
    }

    /// Removes holders that have died; restores the value when no holder is left.
    fn settle(&mut self, sysctl: &Path) -> Result<()> {
        let before = self.book.holders.len();
        self.book.holders.retain(Holder::lives);
        let left = self.book.holders.is_empty() && (before > 0 || self.book.raised > 0);
        // A value that another program wrote stays.
        if left && read(sysctl)? == self.book.raised && self.book.original > 0 {
            std::fs::write(sysctl, self.book.original.to_string())
                .with_context(|| format!("writing {}", sysctl.display()))?;
        }
        if left {
            self.book = Ledger::default();
        }
        self.save()
    }

    fn save(&mut self) -> Result<()> {
        let context = || format!("writing {}", self.path.display());
        let text = serde_json::to_vec(&self.book).with_context(context)?;
        self.file.rewind().with_context(context)?;
        self.file.set_len(0).with_context(context)?;
        self.file.write_all(&text).with_context(context)
    }

    fn close(self) -> Result<()> {
        if self.book.holders.is_empty() {
            std::fs::remove_file(&self.path)
                .with_context(|| format!("removing {}", self.path.display()))?;
        }
        Ok(())
    }
}

fn read(sysctl: &Path) -> Result<u64> {
    let text =
        std::fs::read_to_string(sysctl).with_context(|| format!("reading {}", sysctl.display()))?;
    let value = text.trim().parse();
    value.with_context(|| format!("{} is not a number: {text:?}", sysctl.display()))
}
