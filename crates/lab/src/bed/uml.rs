//! User-Mode Linux: the guest kernel is an ordinary host process. No root, no hypervisor.
//!
//! Its options are documented in the kernel's Documentation/virt/uml/ and by `linux --help`.
use super::process::Lines;
use super::{Bed, Boot, Guest};
use crate::lease::Lease;
use crate::ramdir;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How guest processes run on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// System calls are caught by a filter: faster, and the only one with several CPUs.
    Seccomp,
    /// Each guest process is traced.
    Ptrace,
}

/// The bed.
pub struct Uml {
    mode: Mode,
    /// Where guests keep their memory.
    memory: PathBuf,
    _lease: Option<Lease>,
}

impl Uml {
    /// Readies the host for `jobs` guests of `memory_mb` at once. What is changed on the host is put
    /// back when the value is dropped.
    ///
    /// # Errors
    /// When there is no room for the guests' memory, or the host's `vm.max_map_count` is too low for
    /// them and cannot be raised.
    pub fn new(mode: Mode, memory_mb: u64, jobs: u32) -> Result<Uml> {
        let memory = ramdir::choose((memory_mb << 20) * u64::from(jobs))?;
        Ok(Uml {
            mode,
            memory,
            _lease: Lease::take(memory_mb)?,
        })
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// For [`crate::probe`]: the bed with the other mode.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }
}

/// A link in the guest's own folder: paths with commas or colons would be misread on UML's command
/// line.
fn link(dir: &Path, name: &str, to: &Path) -> Result<()> {
    let to = std::path::absolute(to).with_context(|| format!("finding {}", to.display()))?;
    std::os::unix::fs::symlink(&to, dir.join(name))
        .with_context(|| format!("linking to {}", to.display()))
}

impl Bed for Uml {
    fn name(&self) -> String {
        match self.mode {
            Mode::Seccomp => "User-Mode Linux".into(),
            Mode::Ptrace => "User-Mode Linux (ptrace)".into(),
        }
    }

    fn device(&self) -> &'static str {
        "/dev/ubda"
    }

    fn start(&self, boot: &Boot<'_>) -> Result<Guest> {
        let dir = tempfile::Builder::new()
            .prefix("hotset-guest-")
            .tempdir()
            .context("making a folder for the guest")?;
        let here = dir.path();
        std::fs::write(here.join("initramfs"), boot.initramfs)
            .with_context(|| format!("writing the guest's first root to {}", here.display()))?;
        let lines = Lines::new()?;
        let kernel = std::path::absolute(boot.kernel).context("finding the kernel")?;
        let mut command = Command::new(kernel);
        command.current_dir(here).env("TMPDIR", &self.memory);
        command
            .arg(format!("mem={}M", boot.memory_mb))
            .arg(format!("ncpus={}", boot.cpus))
            .arg(match self.mode {
                Mode::Seccomp => "seccomp=on",
                Mode::Ptrace => "seccomp=off",
            })
            .args(["initrd=initramfs", "rdinit=/init", "uml_dir=uml"])
            // UML ends at once on a panic; no reboot, should it not.
            .args(["panic=-1", "noreboot"])
            .args(["con=null", "ssl=null"])
            .arg(format!("con0=fd:{}", lines.console_number()))
            .arg(format!("ssl0=fd:{}", lines.channel_number()));
        if let Some(disk) = &boot.disk {
            link(here, "disk", disk.path)?;
            command.arg(if disk.writable {
                "ubd0=disk"
            } else {
                "ubd0r=disk"
            });
        }
        Guest::spawn(command, lines, dir)
    }
}
