//! The nice value of a node's kswapd, read and written as if it were a knob's file.
use crate::knobs::Fault;
use rustix::io::Errno;
use std::path::Path;

/// include/linux/sched.h: what it is part of is the kernel's own thread, whatever its name.
const PF_KTHREAD: u64 = 0x0020_0000;

/// How a thread's nice value is set: its id and the value.
pub type Renice = fn(root: &Path, pid: u32, nice: i32) -> Result<(), Errno>;

/// The knob's name, as the journal has it.
pub fn knob(node: u32) -> crate::journal::Name {
    crate::text::Text::of(format_args!("kswapd{node}/nice"))
}

/// The thread's name, if it is such a knob's.
pub fn thread_of(knob: &str) -> Option<&str> {
    let thread = knob.strip_suffix("/nice")?;
    let node = thread.strip_prefix("kswapd")?;
    (!node.is_empty() && node.bytes().all(|letter| letter.is_ascii_digit())).then_some(thread)
}

/// The thread's id and nice value.
///
/// # Errors
/// When there is none, as in a container, or /proc cannot be read.
pub fn find(root: &Path, thread: &str) -> Result<(u32, i32), Fault> {
    let proc = root.join("proc");
    let entries = std::fs::read_dir(&proc).map_err(|error| fault(&error))?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // One that has ended meanwhile was not it.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        if let Some(nice) = nice_of(&stat, thread) {
            return Ok((pid, nice));
        }
    }
    Err(Fault::Missing)
}

/// The nice value in a line of /proc/PID/stat, if it is the kernel's thread of this name: proc(5),
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

fn fault(error: &std::io::Error) -> Fault {
    Fault::Read(Errno::from_io_error(error).unwrap_or(Errno::IO))
}

/// setpriority(2). The ids below another root are not this machine's.
///
/// # Errors
/// Without CAP_SYS_NICE; below another root than `/`, always.
pub fn renice(root: &Path, pid: u32, nice: i32) -> Result<(), Errno> {
    if root != Path::new("/") {
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
    fn only_the_kernels_own_thread_of_that_name() {
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
        // Programs have borne that name to hide.
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
    fn names_of_knobs() {
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
