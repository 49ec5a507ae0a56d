//! The nice value of a node's kswapd, read and written as a knob.
use crate::actuate::error::Error;
use rustix::io::Errno;
use std::path::Path;

/// The flag of the kernel's own threads (include/linux/sched.h). Any program may have any name.
const PF_KTHREAD: u64 = 0x0020_0000;

/// Sets the nice value of a thread by its id.
pub type Renice = fn(root: &Path, pid: u32, nice: i32) -> Result<(), Errno>;

/// The knob's name, as the journal has it.
pub fn knob(node: u32) -> crate::actuate::journal::Name {
    crate::os::fixed_string::Text::of(format_args!("kswapd{node}/nice"))
}

/// The thread's name, if `knob` is the nice value of a kswapd.
pub fn thread_of(knob: &str) -> Option<&str> {
    let thread = knob.strip_suffix("/nice")?;
    let node = thread.strip_prefix("kswapd")?;
    (!node.is_empty() && node.bytes().all(|letter| letter.is_ascii_digit())).then_some(thread)
}

/// The thread's id and nice value.
///
/// # Errors
/// There is no such thread, as in a container, or /proc cannot be read.
pub fn find(root: &Path, thread: &str) -> Result<(u32, i32), Error> {
    let proc = root.join("proc");
    let entries = std::fs::read_dir(&proc).map_err(|error| read_error(&error))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process that has ended meanwhile was not kswapd.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        if let Some(nice) = nice_of(&stat, thread) {
            return Ok((pid, nice));
        }
    }
    Err(Error::Missing)
}

/// The nice value in a line of /proc/PID/stat, if the line is of the kernel's thread of this name: proc(5),
/// fields 9 and 19.
fn nice_of(stat: &str, thread: &str) -> Option<i32> {
    let (head, tail) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().take(17).collect();
    let flags: u64 = fields.get(6)?.parse().ok()?;
    if name != thread || flags & PF_KTHREAD == 0 {
        return None;
    }
    fields.get(16)?.parse().ok()
}

fn read_error(error: &std::io::Error) -> Error {
    Error::Read(Errno::from_io_error(error).unwrap_or(Errno::IO))
}

/// setpriority(2). The ids of a recorded /proc are not this machine's.
///
/// # Errors
/// Without CAP_SYS_NICE; where /proc below `root` is not this machine's, always.
pub fn renice(root: &Path, pid: u32, nice: i32) -> Result<(), Errno> {
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let proc = rustix::fs::open(root.join("proc"), flags, rustix::fs::Mode::empty())?;
    if !crate::os::process::is_own_proc(&proc) {
        return Err(Errno::ROFS);
    }
    // SAFETY: takes numbers only.
    match unsafe { libc::setpriority(libc::PRIO_PROCESS, pid, nice) } {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::PERM)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_kernels_own_thread_has_a_nice_value() {
        let line = |name: &str, flags: u64, nice: i32| {
            format!(
                "27 ({name}) S 2 0 0 0 -1 {flags} 0 0 0 0 0 1 0 0 {} {nice} 1 0 9",
                20 + nice
            )
        };
        assert_eq!(
            nice_of(&line("kswapd0", 2_129_984, -7), "kswapd0"),
            Some(-7)
        );
        // A program may take a kernel thread's name to hide.
        assert_eq!(nice_of(&line("kswapd0", 4_194_304, 0), "kswapd0"), None);
        assert_eq!(nice_of(&line("kswapd1", 2_129_984, 0), "kswapd0"), None);
        assert_eq!(
            nice_of(&line("a) S (kswapd0", 2_129_984, 0), "kswapd0"),
            None
        );
        assert_eq!(nice_of("27 (kswapd0) S 2", "kswapd0"), None);
        assert_eq!(nice_of("", "kswapd0"), None);
    }

    #[test]
    fn a_knob_is_named_by_its_node() {
        assert_eq!(thread_of(knob(12).as_str()), Some("kswapd12"));
        for other in [
            "vm.swappiness",
            "kswapd/nice",
            "kswapdx/nice",
            "kswapd0",
            "/kswapd0/nice",
        ] {
            assert_eq!(thread_of(other), None, "{other}");
        }
    }
}
