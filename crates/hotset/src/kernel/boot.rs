//! Boots a kernel to userspace for `hotset kernel check`.
use anyhow::{bail, Result};
use kbuild::check::BootInfo;
use lab::attend::Ending;
use lab::bed::{Mode, Uml};
use lab::initramfs::Init;
use lab::probe::{boot, probe};
use lab::stop::Stop;
use std::cell::RefCell;
use std::path::Path;

/// Enough to boot, and too little to need anything of the host.
const MEMORY_MB: u64 = 64;

/// A bed, readied at the first boot.
pub struct Booter {
    init: Init,
    stop: Stop,
    bed: RefCell<Option<Uml>>,
}

impl Booter {
    /// # Errors
    /// When there is no `hotset-guest` to boot.
    pub fn new() -> Result<Booter> {
        Ok(Booter {
            init: Init::find()?,
            stop: Stop::new()?,
            bed: RefCell::new(None),
        })
    }

    /// Boots `kernel`, hears the guest's first words and sees it power off.
    ///
    /// # Errors
    /// When it does not get that far; with the end of its console.
    pub fn boot(&self, kernel: &Path) -> Result<BootInfo> {
        let mut bed = self.bed.borrow_mut();
        if bed.is_none() {
            let mut new = Uml::new(Mode::Seccomp, MEMORY_MB, 1)?;
            // Finds out which of the bed's modes works on this host.
            probe(&mut new, kernel, &self.init, 1, &self.stop)?;
            *bed = Some(new);
        }
        let Some(bed) = bed.as_ref() else {
            bail!("there is no bed");
        };
        let (heard, release) = boot(bed, kernel, &self.init, 1, &self.stop)?;
        match (heard.ending, release) {
            (Ending::Finished, Some(release)) => Ok(BootInfo {
                release,
                seconds: heard.boot.as_secs_f64(),
            }),
            (ending, _) => bail!(
                "did not boot: {ending:?}; the console's end:\n{}",
                heard.tail.join("\n")
            ),
        }
    }
}
