//! The kernel's own file systems, the modules of a distribution's kernel, and the machine's end.
use anyhow::{bail, Context, Result};
use protocol::wire::Line;
use rustix::mount::{mount, MountFlags};

use crate::channel::now_ms;
use crate::kernel_files::read;

/// Mounts the kernel's own file systems.
///
/// # Errors
/// When one cannot be mounted, naming it.
pub fn mount_all() -> Result<()> {
    let none = MountFlags::empty();
    for (kind, at) in [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/tmp"),
        ("debugfs", "/sys/kernel/debug"),
        ("tracefs", "/sys/kernel/tracing"),
        ("cgroup2", "/sys/fs/cgroup"),
    ] {
        if !at.starts_with("/sys/") {
            let _ = std::fs::create_dir_all(at);
        }
        match mount(kind, at, kind, none, None) {
            // The kernel may have mounted devtmpfs itself.
            Ok(()) | Err(rustix::io::Errno::BUSY) => {}
            Err(error) => bail!("mounting {kind} at {at}: {error}"),
        }
    }
    Ok(())
}

/// The modules of a distribution's kernel that the guest needs, to be loaded in the order of their
/// names.
const MODULES: &str = "/hotset/modules";

/// Loads the modules that the lab put into the first root. The first root lies in memory, so each file
/// is deleted after loading.
///
/// # Errors
/// When a module cannot be read or loaded, naming it.
pub fn load_modules() -> Result<()> {
    let Ok(entries) = std::fs::read_dir(MODULES) else {
        return Ok(());
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file = std::fs::File::open(&path).with_context(|| path.display().to_string())?;
        rustix::system::finit_module(&file, c"", 0)
            .with_context(|| format!("loading {}", path.display()))?;
        std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The first line to the lab: the kernel's release, and its memory.
///
/// # Errors
/// When /proc/meminfo cannot be read.
pub fn hello() -> Result<Line> {
    let uname = rustix::system::uname();
    let meminfo = read("/proc/meminfo")?;
    let total = meminfo
        .lines()
        .find_map(|line| {
            line.strip_prefix("MemTotal:")?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .context("no MemTotal in /proc/meminfo")?;
    Ok(Line::Hello {
        t_ms: now_ms(),
        release: uname.release().to_string_lossy().into_owned(),
        cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        mem_total_kb: total,
    })
}

/// Ends the guest.
pub fn power_off() -> ! {
    rustix::fs::sync();
    let _ = rustix::system::reboot(rustix::system::RebootCommand::PowerOff);
    std::process::exit(1)
}
