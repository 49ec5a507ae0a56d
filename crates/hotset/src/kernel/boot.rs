//! Boots a kernel to userspace for `hotset kernel check`.
use anyhow::{bail, Context, Result};
use kbuild::check::BootInfo;
use kbuild::Line;
use lab::bed::{self, Bed, Kind};
use lab::guest::initramfs::Init;
use lab::guest::monitor::Ending;
use lab::guest::probe::{boot, probe};
use lab::host::stop::Stop;
use std::cell::RefCell;
use std::path::Path;

/// Memory that User-Mode Linux is prepared for, in MiB: as much as the probe's guests have.
const MEMORY_MB: u64 = 128;

/// Whether User-Mode Linux of a line starts on this processor. Before Linux 7.0 it does not start on a
/// processor with AMX: the processor's state is larger than the buffer for guest processes' registers.
pub fn uml_starts(line: Line) -> bool {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    line.major >= 7 || !cpu.split_whitespace().any(|flag| flag == "amx_tile")
}

/// A bed that is prepared at the first boot.
pub struct Booter {
    kind: Kind,
    init: Init,
    stop: Stop,
    bed: RefCell<Option<Box<dyn Bed>>>,
}

impl Booter {
    /// # Errors
    /// When no bed boots kernels of `arch`, or there is no `hotset-guest` to boot.
    pub fn new(arch: &str) -> Result<Booter> {
        let kind = Kind::of_arch(arch).with_context(|| {
            format!("there is no test bed for {arch} kernels; --no-boot checks the rest")
        })?;
        Ok(Booter {
            kind,
            init: Init::find()?,
            stop: Stop::new()?,
            bed: RefCell::new(None),
        })
    }

    /// Boots `kernel`, and waits for the guest's first message and for its end.
    ///
    /// # Errors
    /// When the guest does not start or does not end; the message has the end of its console.
    pub fn boot(&self, kernel: &Path) -> Result<BootInfo> {
        let mut bed = self.bed.borrow_mut();
        if bed.is_none() {
            let mut new = bed::open(self.kind, MEMORY_MB, 1, false)?;
            // Finds a mode of the bed that works on this host.
            probe(new.as_mut(), kernel, &self.init, 1, &self.stop)?;
            *bed = Some(new);
        }
        let Some(bed) = bed.as_ref() else {
            bail!("there is no bed");
        };
        let (heard, release) = boot(bed.as_ref(), kernel, &self.init, 1, &self.stop)?;
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
