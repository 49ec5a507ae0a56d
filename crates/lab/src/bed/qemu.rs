//! QEMU: an x86-64 machine with PCI, ACPI, several memory nodes and page tables whose accessed bits
//! hardware sets. With KVM where that truly works, else emulated (TCG).
//!
//! The options used are described in qemu(1). Nothing of the guest listens anywhere: it has no
//! network, no display and no monitor, and its serial ports are pipes to hotset.
use super::process::Lines;
use super::{guest_dir, link, scratch, Bed, Boot, Guest, SCRATCH};
use crate::cpio::Archive;
use crate::results::explained;
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
/// The environment variable that says `kvm` or `tcg`, so that nothing has to be found out.
pub const ACCEL_VARIABLE: &str = "HOTSET_QEMU_ACCEL";
const PROGRAM: &str = "qemu-system-x86_64";
const KVM: &str = "/dev/kvm";
const DISK: &str = "/dev/vda";
/// Where `hotset-guest` looks for what to fill its RAM disk with.
const IMAGE: &str = "hotset/disk.img";

/// Set once a guest did not boot with KVM: asking each time again would cost its patience each time.
static KVM_FAILED: AtomicBool = AtomicBool::new(false);

/// What runs a guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accel {
    /// The processor.
    Kvm,
    /// QEMU's translator: 10 to 20 times slower.
    Tcg,
    /// The same with one CPU, and time counted in instructions: a nanosecond each.
    Icount,
}

/// The bed.
pub struct Qemu {
    program: PathBuf,
    accel: Accel,
    /// Nobody asked for another if this one does not work.
    given: bool,
}

impl Qemu {
    /// Finds QEMU. With `icount` the guest's clock counts its instructions.
    ///
    /// `/dev/kvm` may open and yet not run a kernel (in a virtual machine, for one), so whether KVM
    /// works is for [`crate::probe`] to find out by booting.
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

    /// The machine and its processors.
    fn machine(&self, boot: &Boot<'_>) -> Vec<String> {
        // A socket each: nodes must not share one.
        let cpus = format!("{0},sockets={0},cores=1,threads=1", boot.cpus);
        let mut words = ["-machine", "pc,usb=off,dump-guest-core=off", "-smp", &cpus]
            .map(String::from)
            .to_vec();
        let (accel, cpu): (&[&str], _) = match self.accel {
            Accel::Kvm => (&["-accel", "kvm"], "host"),
            Accel::Tcg if boot.cpus > 1 => (&["-accel", "tcg,thread=multi"], "qemu64,+rdrand"),
            Accel::Tcg => (&["-accel", "tcg"], "qemu64,+rdrand"),
            // sleep=off: an idle guest's clock jumps to the next timer instead of waiting for it.
            // The same seed at each boot: rdrand must not make runs differ.
            Accel::Icount => (
                &[
                    "-accel",
                    "tcg,thread=single",
                    "-icount",
                    "shift=0,sleep=off,align=off",
                    "-rtc",
                    "base=2020-01-01T00:00:00,clock=vm",
                    "-seed",
                    "1",
                ],
                "qemu64,+rdrand",
            ),
        };
        words.extend(accel.iter().map(|word| word.to_string()));
        words.extend(["-cpu".into(), cpu.into()]);
        words.extend(["-m".into(), format!("{}M", boot.memory_mb)]);
        words.extend(nodes(boot));
        words
    }
}

/// Memory nodes of the given sizes, the CPUs dealt out to them in turn.
fn nodes(boot: &Boot<'_>) -> Vec<String> {
    let mut words = Vec::new();
    let count = boot.nodes_mb.len() as u32;
    for (node, size) in (0..count).zip(boot.nodes_mb) {
        let cpus: String = (0..boot.cpus)
            .filter(|cpu| cpu % count == node)
            .map(|cpu| format!(",cpus={cpu}"))
            .collect();
        words.push("-object".into());
        words.push(format!("memory-backend-ram,id=node{node},size={size}M"));
        words.push("-numa".into());
        words.push(format!("node,nodeid={node},memdev=node{node}{cpus}"));
    }
    words
}

/// The kernel's command line: console on the second serial port, the first is the channel.
fn command_line(accel: Accel, ram_disk: Option<u64>, further: &[String]) -> String {
    let mut words: Vec<String> = [
        "console=ttyS1,115200",
        "earlyprintk=ttyS1,115200",
        "rdinit=/init",
        // A panic ends the guest: it resets, which -no-reboot makes an end. By the keyboard
        // controller, which needs nothing of a broken kernel.
        "panic=-1",
        "reboot=k",
        // For kernels that have these: the guest runs nobody else's programs.
        "mitigations=off",
        "nokaslr",
    ]
    .map(Into::into)
    .into();
    if accel != Accel::Kvm {
        // An emulated machine's timers are late under load, which is no fault of its TSC.
        words.extend(["tsc=reliable", "no_timer_check"].map(Into::into));
    }
    if accel == Accel::Icount {
        // Finding out the speeds of clocks that have none takes 15 s of the host's time: the TSC
        // counts nanoseconds, and HPET will do for a timer.
        words.extend(["noapictimer", "tsc_early_khz=1000000"].map(Into::into));
    }
    if let Some(bytes) = ram_disk {
        words.push(format!("brd.rd_size={}", bytes.div_ceil(1024)));
    }
    words.extend_from_slice(further);
    words.join(" ")
}

/// Puts a disk's image behind the first root, into which the kernel unpacks both. The image's size
/// in bytes.
fn hand_along(image: &Path, initramfs: &Path) -> Result<u64> {
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
            // A device answers when the host gets around to it, which no two runs have alike.
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

    fn slowness(&self) -> u32 {
        match self.accel {
            Accel::Kvm => 1,
            Accel::Tcg => 5,
            Accel::Icount => 20,
        }
    }

    fn boot_patience(&self) -> Duration {
        match self.accel {
            // Where KVM does not work a guest stands still, and there is TCG to go over to.
            Accel::Kvm => Duration::from_secs(15),
            _ => Duration::from_secs(60) * self.slowness(),
        }
    }

    fn boot_memory_mb(&self) -> u64 {
        // A distribution's kernel unpacks itself, and KASAN keeps a byte for every eight.
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

    /// A breakpoint that the kernel has put into its code, for as long as it patches it
    /// (arch/x86/kernel/alternative.c), and has taken out again: a CPU that is emulated by a thread of
    /// its own can come upon it still, once in some hundred boots. Processors cannot.
    fn stumbled(&self, cpus: u32, tail: &[String]) -> bool {
        self.accel == Accel::Tcg && cpus > 1 && tail.iter().any(|line| line.contains("Oops: int3"))
    }

    fn walks_page_tables(&self) -> bool {
        true
    }

    fn likes_one_cpu(&self, _cpus: u32) -> bool {
        // The emulated CPU and the devices are threads that work at the same time.
        false
    }

    fn start(&self, boot: &Boot<'_>) -> Result<Guest> {
        let dir = guest_dir(boot)?;
        let here = dir.path();
        link(here, "kernel", boot.kernel)?;
        let mut ram_disk = None;
        let mut drive = None;
        match &boot.disk {
            Some(disk) if self.accel == Accel::Icount && !disk.writable => {
                ram_disk = Some(hand_along(disk.path, &here.join("initramfs"))?);
            }
            Some(disk) => {
                link(here, "disk", disk.path)?;
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
            .args(self.machine(boot))
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
        if scratch(here, boot)? {
            // It goes with the guest: nothing of it need ever be on the host's disk.
            let drive = format!("file={SCRATCH},format=raw,if=none,id=scratch,cache=unsafe");
            command
                .args(["-drive", &drive])
                .args(["-device", "virtio-blk-pci,drive=scratch"]);
        }
        Guest::spawn(command, lines, dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_dealt_out_and_nodes_keep_their_sizes() {
        let boot = Boot {
            kernel: Path::new("k"),
            initramfs: &[],
            disk: None,
            memory_mb: 512,
            cpus: 3,
            nodes_mb: &[384, 128],
            scratch_mb: 0,
            command_line: &[],
        };
        assert_eq!(
            nodes(&boot),
            [
                "-object",
                "memory-backend-ram,id=node0,size=384M",
                "-numa",
                "node,nodeid=0,memdev=node0,cpus=0,cpus=2",
                "-object",
                "memory-backend-ram,id=node1,size=128M",
                "-numa",
                "node,nodeid=1,memdev=node1,cpus=1",
            ]
        );
        assert!(nodes(&Boot {
            nodes_mb: &[],
            ..boot
        })
        .is_empty());
    }

    /// As QEMU 7.2's emulator let a kernel die at its boot (experiments/numa-unequal.toml).
    #[test]
    fn only_the_emulator_with_cpus_beside_it_stumbles_over_a_breakpoint() {
        let bed = |accel| Qemu {
            program: PathBuf::new(),
            accel,
            given: true,
        };
        let met = |line: &str| vec!["[    0.6] smp: Bringing up".to_owned(), line.to_owned()];
        let breakpoint = met("[    0.672013] Oops: int3: 0000 [#1] SMP NOPTI");
        let fault = met("[    0.672013] Oops: 0000 [#1] SMP NOPTI");
        assert!(bed(Accel::Tcg).stumbled(2, &breakpoint));
        assert!(!bed(Accel::Tcg).stumbled(2, &fault));
        assert!(!bed(Accel::Tcg).stumbled(1, &breakpoint));
        assert!(!bed(Accel::Kvm).stumbled(2, &breakpoint));
        assert!(!bed(Accel::Icount).stumbled(1, &breakpoint));
    }

    #[test]
    fn a_missing_qemu_is_told_with_its_package() {
        let error = find("/nonexistent:/proc".into()).unwrap_err().to_string();
        assert!(error.contains("qemu-system-x86,"), "{error}");
    }
}
