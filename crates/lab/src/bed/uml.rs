//! User-Mode Linux: the guest kernel is an ordinary host process. No root, no hypervisor.
//!
//! Its options are documented in the kernel's Documentation/virt/uml/ and by `linux --help`.
use super::guest::{Guest, Lines};
use super::guest_dir::{self, ROOT, SCRATCH};
use super::interface::{Bed, Boot};
use crate::host::guest_memory_dir;
use crate::host::max_map_count::Lease;
use anyhow::{bail, Context, Result};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The ways in which guest processes run on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A seccomp filter catches system calls: faster, and the only mode with several CPUs.
    Seccomp,
    /// Each guest process is traced.
    Ptrace,
}

/// The bed of User-Mode Linux guests.
pub struct Uml {
    mode: Mode,
    /// The folder in which guests keep their memory.
    memory: PathBuf,
    _lease: Option<Lease>,
}

impl Uml {
    /// Prepares the host for `jobs` guests of `memory_mb` MiB each at once. Dropping the value
    /// restores the host's settings.
    ///
    /// # Errors
    /// When there is no room for the guests' memory, or the host's `vm.max_map_count` is too low for
    /// them and cannot be raised.
    pub fn new(mode: Mode, memory_mb: u64, jobs: u32) -> Result<Uml> {
        let memory = guest_memory_dir::choose((memory_mb << 20) * u64::from(jobs))?;
        Ok(Uml {
            mode,
            memory,
            _lease: Lease::take(memory_mb)?,
        })
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }
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

    fn scratch_device(&self, _data: bool) -> &'static str {
        "/dev/ubdb"
    }

    fn root_device(&self, _disks: usize) -> &'static str {
        "/dev/ubdc"
    }

    fn slowness(&self) -> u32 {
        1
    }

    fn fall_back(&mut self, cpus: u32) -> bool {
        // Ptrace mode has one CPU.
        if self.mode == Mode::Ptrace || cpus > 1 {
            return false;
        }
        self.mode = Mode::Ptrace;
        true
    }

    fn walks_page_tables(&self) -> bool {
        false
    }

    fn likes_one_cpu(&self, cpus: u32) -> bool {
        // At each page fault the guest's process and its kernel, two processes of the host, take
        // turns. On two CPUs of the host a turn takes four times as long as on one.
        cpus == 1
    }

    fn start(&self, boot: &Boot<'_>) -> Result<Guest> {
        if !boot.nodes_mb.is_empty() {
            bail!("User-Mode Linux has one memory node; QEMU (bed = \"qemu\") has several");
        }
        let dir = guest_dir::create(boot)?;
        let here = dir.path();
        let lines = Lines::new()?;
        let kernel = std::path::absolute(boot.kernel).context("finding the kernel")?;
        let mut command = Command::new(kernel);
        command.current_dir(here).env("TMPDIR", &self.memory);
        at_fixed_addresses(&mut command);
        command
            .arg(format!("mem={}M", boot.memory_mb))
            .arg(format!("ncpus={}", boot.cpus))
            .arg(match self.mode {
                Mode::Seccomp => "seccomp=on",
                Mode::Ptrace => "seccomp=off",
            })
            .args(["initrd=initramfs", "rdinit=/init", "uml_dir=uml"])
            // UML ends at once on a panic. If it does not, it must not reboot.
            .args(["panic=-1", "noreboot"])
            .args(boot.command_line)
            .args(["con=null", "ssl=null"])
            .arg(format!("con0=fd:{}", lines.console_number()))
            .arg(format!("ssl0=fd:{}", lines.channel_number()));
        if let Some(disk) = &boot.disk {
            guest_dir::link(here, "disk", disk.path)?;
            command.arg(if disk.writable {
                "ubd0=disk"
            } else {
                "ubd0r=disk"
            });
        }
        if guest_dir::add_scratch(here, boot)? {
            command.arg(format!("ubd1={SCRATCH}"));
        }
        if let Some(root) = &boot.root {
            guest_dir::link(here, ROOT, root.path)?;
            // The guest makes the first file, with what differs from the second.
            command.arg(format!("ubd2={ROOT}-written,{ROOT}"));
        }
        Guest::spawn(command, lines, dir)
    }
}

/// Starts the kernel at the same addresses each time. User-Mode Linux of 6.12 takes the random gap
/// behind its data from the guest's memory: 9 to 25 MB (arch/um/kernel/um_arch.c). Where the host
/// forbids this, the guest has that much less.
fn at_fixed_addresses(command: &mut Command) {
    let fixed = || {
        // SAFETY: a system call, without pointers.
        unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) };
        Ok(())
    };
    // SAFETY: the closure allocates no memory and takes no lock.
    unsafe { command.pre_exec(fixed) };
}
