//! vm.swappiness, written without waiting: its file is held open and its values are journaled
//! before they are needed.
use crate::knobs::{Fault, Knobs};
use crate::text::Text;
use policy::floors::Steer;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

pub const SWAPPINESS: &str = "vm.swappiness";
/// From 5.8 on, and before.
const MOST: u32 = 200;
const OLD_MOST: u32 = 100;

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// Nothing had to be done.
    Already,
    /// It holds this now; it held that.
    Written { from: i64, to: i64 },
    /// A dry run.
    Dry { from: i64, to: i64 },
    /// Somebody else has written it: it is theirs from now on.
    Yielded { found: i64 },
}

/// The knob.
pub struct Swappiness {
    file: Option<OwnedFd>,
    /// On procfs, where a held file stays the file.
    held: bool,
    /// The value to give back; known while armed.
    original: Option<i64>,
    /// The value that it was last given; the original where it was given none.
    last: Option<i64>,
    most: u32,
    yielded: bool,
    dry: bool,
}

impl Swappiness {
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

    /// Does somebody else have it?
    #[must_use]
    pub fn yielded(&self) -> bool {
        self.yielded
    }

    /// Journals what it may be given. Done while memory is not short yet.
    ///
    /// # Errors
    /// When it cannot be read or journaled.
    pub fn arm(&mut self, knobs: &mut Knobs) -> Result<(), Fault> {
        if self.original.is_some() || self.yielded {
            return Ok(());
        }
        let most = Text::<8>::of(format_args!("{}", self.most));
        let found = knobs.arm(SWAPPINESS, [most.as_str(), "0"])?;
        let found = found
            .as_str()
            .parse()
            .map_err(|_| Fault::Read(Errno::INVAL))?;
        self.original = Some(found);
        self.last = Some(found);
        self.open(knobs)
    }

    /// Steers. Waits for nothing but the kernel's copy of one number.
    ///
    /// # Errors
    /// When it cannot be journaled, read or written.
    pub fn turn(&mut self, steer: Steer, knobs: &mut Knobs) -> Result<Turned, Fault> {
        if self.yielded || (steer == Steer::Admin && self.original.is_none()) {
            return Ok(Turned::Already);
        }
        self.arm(knobs)?;
        let (Some(original), Some(last)) = (self.original, self.last) else {
            return Ok(Turned::Already);
        };
        let to = match steer {
            Steer::Admin => original,
            Steer::Anon => i64::from(self.most),
            Steer::File => 0,
        };
        if to == last {
            return Ok(Turned::Already);
        }
        if self.dry {
            self.last = Some(to);
            return Ok(Turned::Dry { from: last, to });
        }
        let found = self.read(knobs)?;
        if found != last {
            return self.yield_to(found, knobs);
        }
        match self.write(to) {
            // The ceiling is the older one: then that is journaled, and written.
            Err(Errno::INVAL) if self.most == MOST && to == i64::from(MOST) => {
                self.most = OLD_MOST;
                self.original = None;
                knobs.disarm(SWAPPINESS)?;
                return self.turn(steer, knobs);
            }
            written => written.map_err(Fault::Write)?,
        }
        self.last = Some(to);
        Ok(Turned::Written { from: last, to })
    }

    /// Gives it back, and forgets it in the journal: nothing is near any more.
    ///
    /// # Errors
    /// As [`Swappiness::turn`].
    pub fn disarm(&mut self, knobs: &mut Knobs) -> Result<Turned, Fault> {
        let turned = self.turn(Steer::Admin, knobs)?;
        if self.original.take().is_some() && !self.yielded && !self.dry {
            knobs.disarm(SWAPPINESS)?;
        }
        self.last = None;
        Ok(turned)
    }

    /// Has somebody written it meanwhile?
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn look(&mut self, knobs: &mut Knobs) -> Result<Turned, Fault> {
        let (Some(last), false, false) = (self.last, self.dry, self.yielded) else {
            return Ok(Turned::Already);
        };
        match self.read(knobs)? {
            found if found == last => Ok(Turned::Already),
            found => self.yield_to(found, knobs),
        }
    }

    fn yield_to(&mut self, found: i64, knobs: &mut Knobs) -> Result<Turned, Fault> {
        self.yielded = true;
        self.original = None;
        self.last = None;
        let value = crate::journal::Value::of(format_args!("{found}"));
        knobs.look(SWAPPINESS, &value)?;
        Ok(Turned::Yielded { found })
    }

    fn open(&mut self, knobs: &Knobs) -> Result<(), Fault> {
        let flags = match self.dry {
            true => OFlags::RDONLY | OFlags::CLOEXEC,
            false => OFlags::RDWR | OFlags::CLOEXEC,
        };
        let place = knobs.place(SWAPPINESS);
        let file = rustix::fs::open(place.as_str(), flags, Mode::empty()).map_err(Fault::Write)?;
        const PROC: rustix::fs::FsWord = 0x9fa0;
        self.held = rustix::fs::fstatfs(&file).is_ok_and(|found| found.f_type == PROC);
        self.file = Some(file);
        Ok(())
    }

    fn read(&mut self, knobs: &Knobs) -> Result<i64, Fault> {
        // A file that is not the kernel's may have been replaced.
        if !self.held || self.file.is_none() {
            self.open(knobs)?;
        }
        let file = self.file.as_ref().ok_or(Fault::Missing)?;
        let mut bytes = [0; 32];
        let length = rustix::io::pread(file, &mut bytes, 0).map_err(Fault::Read)?;
        let words = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
        words.trim().parse().map_err(|_| Fault::Read(Errno::INVAL))
    }

    fn write(&self, to: i64) -> Result<(), Errno> {
        let file = self.file.as_ref().ok_or(Errno::BADF)?;
        let words = Text::<24>::of(format_args!("{to}\n"));
        rustix::io::pwrite(file, words.as_bytes(), 0)?;
        if !self.held {
            rustix::fs::ftruncate(file, words.as_bytes().len() as u64)?;
        }
        Ok(())
    }
}
