//! What a kill led to.
use crate::os::fixed_string::Text;
use rustix::io::Errno;

/// The outcome of a kill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Killed {
    /// The last victim's memory is still on its way, or another process is dying anyway.
    Waiting,
    /// No process may be killed, or none holds enough memory.
    Nobody,
    /// /proc cannot be listed.
    Unlisted(Errno),
    Done(Victim),
    Failed(Victim, Errno),
    /// A process that was asked to end has not, and was killed: its pid.
    Insisted(i32),
}

/// The process that was killed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Victim {
    pub pid: i32,
    pub uid: u32,
    pub name: Text<16>,
    /// The end of the path of its cgroup: the unit, where systemd runs.
    pub cgroup: Text<128>,
    /// Pages of all processes that were killed.
    pub memory: u64,
    pub score: i64,
    /// Processes killed: 1, or those of a storm.
    pub count: u32,
    /// The victim was only named, and lives.
    pub dry_run: bool,
    /// Microseconds from the decision to the last signal.
    pub took_us: u32,
    /// The signal was SIGTERM: there is time yet.
    pub asked: bool,
}
