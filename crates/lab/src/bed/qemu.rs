//! QEMU: an x86-64 machine with PCI, ACPI, several memory nodes and page tables whose accessed bits
//! hardware sets. KVM runs it where KVM works; else QEMU emulates it (TCG).
//!
//! A guest has no network, no display and no monitor. Its serial ports are pipes to hotset.
use super::guest::{Guest, Lines};
use super::guest_dir::{self, ROOT, SCRATCH};
use super::interface::{Bed, Boot};
use super::qemu_arguments::{command_line, machine, Accel};
use crate::guest::cpio::Archive;
use crate::host::disk_full::explained;
use anyhow::{bail, Context, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The environment variable that names another QEMU.
pub const VARIABLE: &str = "HOTSET_QEMU";
/// The environment variable that chooses `kvm` or `tcg`, so that no probe is needed.
pub const ACCEL_VARIABLE: &str = "HOTSET_QEMU_ACCEL";
const PROGRAM: &str = "qemu-system-x86_64";
const KVM: &str = "/dev/kvm";
const DISK: &str = "/dev/vda";
/// The file in the first root from which `hotset-guest` fills its RAM disk.
const IMAGE: &str = "hotset/disk.img";

/// Set once a guest did not boot with KVM. Each further attempt would cost the whole time limit.
static KVM_FAILED: AtomicBool = AtomicBool::new(false);

/// The bed of QEMU guests.
pub struct Qemu {
    program: PathBuf,
    accel: Accel,
    /// Whether the user has named the way, so that no other is tried.
    given: bool,
}

impl Qemu {
    /// Finds QEMU. With `icount` the guest's clock counts its instructions.
    ///
    /// `/dev/kvm` may open and yet not run a kernel, in a virtual machine for instance.
    /// [`crate::guest::probe`] finds out by booting whether KVM works.
    ///
    /// # Errors
    /// When there is no QEMU; the message names the package.
    pub fn new(icount: bool) -> Result<Qemu> {
        let program = match std::env::var_os(VARIABLE) {
            Some(given) => PathBuf::from(given),
            None => find(std::env::var_os("PATH").unwrap_or_default())?,
        };
        if !program.is_file() {
            bail!("{VARIABLE}={}: there is no such program", program.display());
        }
        let given = std::env::var(ACCEL_VARIABLE).unwrap_or_default();
        let (accel, given) = match given.as_str() {
            _ if icount => (Accel::Icount, true),
            "kvm" => (Accel::Kvm, true),
            "tcg" => (Accel::Tcg, true),
            "" if !KVM_FAILED.load(Ordering::Acquire) && opens(Path::new(KVM)) => {
                (Accel::Kvm, false)
            }
            "" => (Accel::Tcg, false),
            other => bail!("{ACCEL_VARIABLE}={other}: expected kvm or tcg"),
        };
        Ok(Qemu {
            program,
            accel,
            given,
        })
    }

    pub fn accel(&self) -> Accel {
        self.accel
    }
}

/// Appends a disk's image to the first root, and returns the image's size in bytes. The kernel unpacks
/// both into the first root.
fn append_image(image: &Path, initramfs: &Path) -> Result<u64> {
    let contents = std::fs::read(image).with_context(|| format!("reading {}", image.display()))?;
    let mut archive = Archive::new();
    archive.file(IMAGE, 0o600, &contents);
    File::options()
        .append(true)
        .open(initramfs)
        .and_then(|mut file| file.write_all(&archive.finish()))
        .map_err(explained)
        .with_context(|| format!("writing {}", initramfs.display()))?;
    Ok(contents.len() as u64)
}

fn find(path: OsString) -> Result<PathBuf> {
    let found = std::env::split_paths(&path)
        .map(|dir| dir.join(PROGRAM))
        .find(|file| file.is_file());
    found.with_context(|| {
        format!(
            "there is no {PROGRAM}: install Debian's package qemu-system-x86, or name the program \
             in {VARIABLE}"
        )
    })
}

fn opens(device: &Path) -> bool {
    File::options().read(true).write(true).open(device).is_ok()
}

impl Bed for Qemu {
    fn name(&self) -> String {
        match self.accel {
            Accel::Kvm => "QEMU (KVM)",
            Accel::Tcg => "QEMU (TCG)",
            Accel::Icount => "QEMU (TCG, time in instructions)",
        }
        .into()
    }

    fn device(&self) -> &'static str {
        match self.accel {
            // The answers of a device depend on the host's load, and no two runs would agree.
            Accel::Icount => "/dev/ram0",
            _ => DISK,
        }
    }

    fn device_to_fill(&self) -> &'static str {
        DISK
    }

    fn scratch_device(&self, data: bool) -> &'static str {
        match data {
            true => "/dev/vdb",
            false => DISK,
        }
    }

    fn root_device(&self, disks: usize) -> &'static str {
        [DISK, "/dev/vdb", "/dev/vdc"][disks.min(2)]
    }

    fn slowness(&self) -> u32 {
        match self.accel {
            Accel::Kvm => 1,
            Accel::Tcg => 5,
            Accel::Icount => 20,
        }
    }

    fn boot_patience(&self) -> Duration {
        match self.accel {
            // Where KVM does not work, a guest makes no progress, and TCG is tried next.
            Accel::Kvm => Duration::from_secs(15),
            _ => Duration::from_secs(60) * self.slowness(),
        }
    }

    fn boot_memory_mb(&self) -> u64 {
        // A distribution's kernel unpacks itself, and KASAN takes an eighth of memory.
        256
    }

    fn fall_back(&mut self, _cpus: u32) -> bool {
        if self.accel != Accel::Kvm || self.given {
            return false;
        }
        KVM_FAILED.store(true, Ordering::Release);
        self.accel = Accel::Tcg;
        true
    }

    /// The kernel puts a breakpoint into code while it patches the code
    /// (arch/x86/kernel/alternative.c), and removes it again. An emulated CPU that has a thread of its
    /// own can still meet the breakpoint, once in some hundred boots. A processor cannot.
    fn caused_panic(&self, cpus: u32, tail: &[String]) -> bool {
        self.accel == Accel::Tcg && cpus > 1 && tail.iter().any(|line| line.contains("Oops: int3"))
    }

    fn walks_page_tables(&self) -> bool {
        true
    }

    fn likes_one_cpu(&self, _cpus: u32) -> bool {
        // The emulated CPU and the devices are threads that run at the same time.
        false
    }

    fn start(&self, boot: &Boot<'_>) -> Result<Guest> {
        let dir = guest_dir::create(boot)?;
        let here = dir.path();
        guest_dir::link(here, "kernel", boot.kernel)?;
        let mut ram_disk = None;
        let mut drive = None;
        match &boot.disk {
            Some(disk) if self.accel == Accel::Icount && !disk.writable => {
                ram_disk = Some(append_image(disk.path, &here.join("initramfs"))?);
            }
            Some(disk) => {
                guest_dir::link(here, "disk", disk.path)?;
                // Without QEMU's lock, several guests read one image.
                let read_only = if disk.writable { "off" } else { "on" };
                drive = Some(format!(
                    "file=disk,format=raw,if=none,id=disk,file.locking=off,read-only={read_only}"
                ));
            }
            None => {}
        }
        let lines = Lines::roomy()?;
        let mut command = Command::new(&self.program);
        command.current_dir(here);
        command
            .args(["-no-user-config", "-nodefaults", "-name", "hotset"])
            .args(["-display", "none", "-no-reboot"])
            .args(machine(self.accel, boot))
            .args(["-kernel", "kernel", "-initrd", "initramfs"])
            .args([
                "-append",
                &command_line(self.accel, ram_disk, boot.command_line),
            ]);
        // Serial ports of the old kind work when the guest has no memory left.
        for (set, name, number) in [
            (1, "channel", lines.channel_number()),
            (2, "console", lines.console_number()),
        ] {
            command
                .args(["-add-fd", &format!("fd={number},set={set}")])
                .args([
                    "-chardev",
                    &format!("file,id={name},path=/dev/fdset/{set},append=on"),
                ])
                .args(["-serial", &format!("chardev:{name}")]);
        }
        if let Some(drive) = drive {
            command
                .args(["-drive", &drive])
                .args(["-device", "virtio-blk-pci,drive=disk"]);
        }
        if guest_dir::add_scratch(here, boot)? {
            // The file is removed with the guest: the host's disk need never have it.
            let drive = format!("file={SCRATCH},format=raw,if=none,id=scratch,cache=unsafe");
            command
                .args(["-drive", &drive])
                .args(["-device", "virtio-blk-pci,drive=scratch"]);
        }
        if let Some(root) = &boot.root {
            guest_dir::link(here, ROOT, root.path)?;
            // What the guest writes goes to a file in TMPDIR, which has no name.
            let drive = format!(
                "file={ROOT},format=raw,if=none,id=root,file.locking=off,snapshot=on,cache=unsafe"
            );
            command
                .env("TMPDIR", here)
                .args(["-drive", &drive])
                .args(["-device", "virtio-blk-pci,drive=root"]);
        }
        Guest::spawn(command, lines, dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines are of a kernel that panicked at its boot, in QEMU 7.2.
    #[test]
    fn only_the_emulator_with_several_cpus_meets_a_removed_breakpoint() {
        let bed = |accel| Qemu {
            program: PathBuf::new(),
            accel,
            given: true,
        };
        let met = |line: &str| vec!["[    0.6] smp: Bringing up".to_owned(), line.to_owned()];
        let breakpoint = met("[    0.672013] Oops: int3: 0000 [#1] SMP NOPTI");
        let oops = met("[    0.672013] Oops: 0000 [#1] SMP NOPTI");
        assert!(bed(Accel::Tcg).caused_panic(2, &breakpoint));
        assert!(!bed(Accel::Tcg).caused_panic(2, &oops));
        assert!(!bed(Accel::Tcg).caused_panic(1, &breakpoint));
        assert!(!bed(Accel::Kvm).caused_panic(2, &breakpoint));
        assert!(!bed(Accel::Icount).caused_panic(1, &breakpoint));
    }

    #[test]
    fn a_missing_qemu_is_an_error_that_names_its_package() {
        let error = find("/nonexistent:/proc".into()).unwrap_err().to_string();
        assert!(error.contains("qemu-system-x86,"), "{error}");
    }
}
