//! vm.swappiness, written without waiting: its file is held open, and its values are journaled before
//! they are needed.
use crate::actuate::error::Error;
use crate::actuate::journal::Value;
use crate::actuate::knob_report::Change;
use crate::actuate::knobs::{KnobWriter, Outcome};
use crate::os::fixed_string::Text;
use policy::steering::Steer;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

pub const SWAPPINESS: &str = "vm.swappiness";
/// Largest value that Linux takes from 5.8 on.
const MOST: u32 = 200;
/// Largest value that Linux takes before 5.8.
const OLD_MOST: u32 = 100;

/// The knob vm.swappiness.
pub struct Swappiness {
    file: Option<OwnedFd>,
    /// The file is on procfs, where a file that is held open stays the knob.
    held: bool,
    /// The value to give back. Known while the knob is armed.
    original: Option<i64>,
    /// The value written last; the original before the first write.
    last: Option<i64>,
    most: u32,
    yielded: bool,
    dry: bool,
}

impl Swappiness {
    /// `dry`: nothing is written.
    #[must_use]
    pub fn new(dry: bool) -> Swappiness {
        Swappiness {
            file: None,
            held: false,
            original: None,
            last: None,
            most: MOST,
            yielded: false,
            dry,
        }
    }

    /// Whether somebody else has written the knob, which is left alone from then on.
    #[must_use]
    pub fn yielded(&self) -> bool {
        self.yielded
    }

    /// Journals the values that may be written. To be called before memory is short.
    ///
    /// # Errors
    /// When the knob cannot be read or journaled.
    pub fn arm(&mut self, knobs: &mut KnobWriter) -> Result<(), Error> {
        if self.original.is_some() || self.yielded {
            return Ok(());
        }
        let most = Text::<8>::of(format_args!("{}", self.most));
        let found = knobs.arm(SWAPPINESS, [most.as_str(), "0"])?;
        let found = found
            .as_str()
            .parse()
            .map_err(|_| Error::Read(Errno::INVAL))?;
        self.original = Some(found);
        self.last = Some(found);
        self.open(knobs)
    }

    /// Writes the value that keeps reclaim to the pages of `steer`. Waits for nothing but the kernel's
    /// copy of one number. `None`: the knob has that value already, or somebody else owns the knob.
    ///
    /// # Errors
    /// When the knob cannot be journaled, read or written.
    pub fn turn(&mut self, steer: Steer, knobs: &mut KnobWriter) -> Result<Option<Change>, Error> {
        if self.yielded || (steer == Steer::Admin && self.original.is_none()) {
            return Ok(None);
        }
        self.arm(knobs)?;
        let (Some(original), Some(last)) = (self.original, self.last) else {
            return Ok(None);
        };
        let to = match steer {
            Steer::Admin => original,
            Steer::Anon => i64::from(self.most),
            Steer::File => 0,
        };
        if to == last {
            return Ok(None);
        }
        if self.dry {
            self.last = Some(to);
            let from = value(last);
            return Ok(change(to, Outcome::Dry { from }));
        }
        let found = self.read(knobs)?;
        if self.is_somebody_elses(found) {
            return self.yield_to(found, knobs);
        }
        if found == to {
            self.last = Some(to);
            return Ok(None);
        }
        match self.write(to) {
            // An older kernel: its largest value is journaled and written.
            Err(Errno::INVAL) if self.most == MOST && to == i64::from(MOST) => {
                self.most = OLD_MOST;
                self.original = None;
                knobs.disarm(SWAPPINESS)?;
                return self.turn(steer, knobs);
            }
            written => written.map_err(Error::Write)?,
        }
        self.last = Some(to);
        let from = value(found);
        Ok(change(to, Outcome::Written { from }))
    }

    /// Gives the knob its original value back, and has the journal forget it. To be called when memory is
    /// no longer nearly short.
    ///
    /// # Errors
    /// As [`Swappiness::turn`].
    pub fn disarm(&mut self, knobs: &mut KnobWriter) -> Result<Option<Change>, Error> {
        let turned = self.turn(Steer::Admin, knobs)?;
        if self.original.take().is_some() && !self.yielded && !self.dry {
            knobs.disarm(SWAPPINESS)?;
        }
        self.last = None;
        Ok(turned)
    }

    /// Yields if somebody else has written the knob meanwhile.
    ///
    /// # Errors
    /// When the knob cannot be read.
    pub fn check(&mut self, knobs: &mut KnobWriter) -> Result<Option<Change>, Error> {
        if self.last.is_none() || self.dry || self.yielded {
            return Ok(None);
        }
        let found = self.read(knobs)?;
        if self.is_somebody_elses(found) {
            return self.yield_to(found, knobs);
        }
        self.last = Some(found);
        Ok(None)
    }

    /// Whoever writes the original again (sysctl --system, Puppet) has changed nothing of their own.
    fn is_somebody_elses(&self, found: i64) -> bool {
        ![self.last, self.original].contains(&Some(found))
    }

    fn yield_to(&mut self, found: i64, knobs: &mut KnobWriter) -> Result<Option<Change>, Error> {
        self.yielded = true;
        self.original = None;
        self.last = None;
        // The journal may list this very value as ours: while armed it lists those that were about to be written.
        knobs.leave(SWAPPINESS)?;
        let found = value(found);
        Ok(Some(Change {
            to: found,
            outcome: Outcome::Yielded { found },
        }))
    }

    fn open(&mut self, knobs: &KnobWriter) -> Result<(), Error> {
        let flags = match self.dry {
            true => OFlags::RDONLY | OFlags::CLOEXEC,
            false => OFlags::RDWR | OFlags::CLOEXEC,
        };
        let place = knobs.place(SWAPPINESS);
        let file = rustix::fs::open(place.as_str(), flags, Mode::empty()).map_err(Error::Write)?;
        const PROC: rustix::fs::FsWord = 0x9fa0;
        self.held = rustix::fs::fstatfs(&file).is_ok_and(|found| found.f_type == PROC);
        self.file = Some(file);
        Ok(())
    }

    fn read(&mut self, knobs: &KnobWriter) -> Result<i64, Error> {
        // A file that is not on procfs may have been replaced.
        if !self.held || self.file.is_none() {
            self.open(knobs)?;
        }
        let file = self.file.as_ref().ok_or(Error::Missing)?;
        let mut bytes = [0; 32];
        let length = rustix::io::pread(file, &mut bytes, 0).map_err(Error::Read)?;
        let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
        text.trim().parse().map_err(|_| Error::Read(Errno::INVAL))
    }

    fn write(&self, to: i64) -> Result<(), Errno> {
        let file = self.file.as_ref().ok_or(Errno::BADF)?;
        let text = Text::<24>::of(format_args!("{to}\n"));
        rustix::io::pwrite(file, text.as_bytes(), 0)?;
        if !self.held {
            rustix::fs::ftruncate(file, text.as_bytes().len() as u64)?;
        }
        Ok(())
    }
}

fn value(number: i64) -> Value {
    Value::of(format_args!("{number}"))
}

fn change(to: i64, outcome: Outcome) -> Option<Change> {
    let to = value(to);
    Some(Change { to, outcome })
}
