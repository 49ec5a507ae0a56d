//! Boots one guest that does nothing, before a run builds on it.
use super::initramfs::Init;
use super::monitor::{listen, Ending, Heard, Limits};
use crate::bed::{Bed, Boot};
use crate::host::stop::Stop;
use anyhow::{bail, Result};
use protocol::spec::{Disk, GuestSpec, Task};
use protocol::wire::Line;
use std::path::Path;

/// Boots a kernel in the bed's fastest way and, should that fail on this host, in the slower ways. The
/// bed stays in the way that works.
///
/// # Errors
/// When the kernel boots in no way; the message has the end of each console.
pub fn probe(bed: &mut dyn Bed, kernel: &Path, init: &Init, cpus: u32, stop: &Stop) -> Result<()> {
    let mut failures = Vec::new();
    loop {
        let (heard, _) = boot(bed, kernel, init, cpus, stop)?;
        let name = bed.name();
        match heard.ending {
            Ending::Finished => return Ok(()),
            Ending::Stopped => bail!("interrupted"),
            other => failures.push(format!("{name}: {other:?}\n{}", heard.tail.join("\n"))),
        }
        if !bed.fall_back(cpus) {
            break;
        }
    }
    bail!(
        "{} does not boot with {} as PID 1:\n{}",
        kernel.display(),
        init.program_path().display(),
        failures.join("\n")
    )
}

/// Boots a kernel and powers it off. Returns the result of listening, and the guest's `uname -r` if
/// the guest has sent it.
///
/// # Errors
/// When the guest cannot be started. A guest that does not boot is no error but an [`Ending`].
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
        root: None,
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
        in_turn: false,
        nodes_mb: &[],
        scratch_mb: 0,
        keep: &[],
        root: None,
        command_line: &[],
    })?;
    let limits = Limits {
        silent: bed.boot_patience(),
        total: bed.boot_patience(),
    };
    let mut release = None;
    let mut hear = |line| {
        if let Line::Hello { release: name, .. } = line {
            release = Some(name);
        }
        Ok(())
    };
    let heard = listen(&mut guest, &mut std::io::sink(), limits, stop, &mut hear)?;
    Ok((heard, release))
}
