//! Boots one guest that does nothing, before a run builds on it.
use crate::attend::{attend, Ending, Heard, Limits};
use crate::bed::{Bed, Boot};
use crate::initramfs::Init;
use crate::stop::Stop;
use anyhow::{bail, Result};
use raw::spec::{Disk, GuestSpec, Task};
use raw::wire::Line;
use std::path::Path;

/// Boots a kernel in a bed's fastest way and, should that not work on this host, in the slower ones;
/// the bed is left in the one that works.
///
/// # Errors
/// When the kernel boots in none; the message has the end of the console.
pub fn probe(bed: &mut dyn Bed, kernel: &Path, init: &Init, cpus: u32, stop: &Stop) -> Result<()> {
    let mut said = Vec::new();
    loop {
        let (heard, _) = boot(bed, kernel, init, cpus, stop)?;
        let name = bed.name();
        match heard.ending {
            Ending::Finished => return Ok(()),
            Ending::Stopped => bail!("interrupted"),
            other => said.push(format!("{name}: {other:?}\n{}", heard.tail.join("\n"))),
        }
        if !bed.fall_back(cpus) {
            break;
        }
    }
    bail!(
        "{} does not boot with {} as PID 1:\n{}",
        kernel.display(),
        init.program_path().display(),
        said.join("\n")
    )
}

/// Boots a kernel, has the guest say hello, and powers off. What was heard of it, and its
/// `uname -r` if it got as far as saying so.
///
/// # Errors
/// When the guest cannot be started. One that does not boot is no error but an [`Ending`].
pub fn boot(
    bed: &dyn Bed,
    kernel: &Path,
    init: &Init,
    cpus: u32,
    stop: &Stop,
) -> Result<(Heard, Option<String>)> {
    let spec = GuestSpec {
        seed: 0,
        knobs: Vec::new(),
        zram_mb: 0,
        disk: Disk {
            device: bed.device().into(),
            read_bps: 0,
            read_iops: 0,
        },
        scratch: None,
        daemon: None,
        sample_ms: 1000,
        trace: Vec::new(),
        task: Task::Boot,
    };
    let mut guest = bed.start(&Boot {
        kernel,
        initramfs: &init.archive(&spec)?,
        disk: None,
        memory_mb: bed.boot_memory_mb(),
        cpus,
        nodes_mb: &[],
        scratch_mb: 0,
        command_line: &[],
    })?;
    let limits = Limits {
        silent: bed.boot_patience(),
        total: bed.boot_patience(),
    };
    let mut release = None;
    let mut hear = |line| {
        if let Line::Hello { release: said, .. } = line {
            release = Some(said);
        }
        Ok(())
    };
    let heard = attend(&mut guest, &mut std::io::sink(), limits, stop, &mut hear)?;
    Ok((heard, release))
}
