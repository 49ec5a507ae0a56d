//! The administrator's choices for protection.
use super::oom::rules::Rules;
use std::path::PathBuf;

/// `[protect]` of the configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub policy: policy::protect::Config,
    pub kill: Kill,
    /// Bytes of file pages that may be locked in memory; 0: none.
    pub lock_bytes: u64,
    /// SCHED_FIFO's priority, 1 to 99; 0: not real-time.
    pub realtime_priority: u8,
    pub cgroups: Vec<ProtectedCgroup>,
}

/// `[protect.kill]` of the configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    pub when: When,
    /// Name the victim, and kill nobody.
    pub dry_run: bool,
    pub rules: Rules,
    /// Program that is run after a kill. Its environment describes the kill.
    pub hook: Option<PathBuf>,
    /// Notify the users who are logged in.
    pub notify: bool,
}

/// When the daemon kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Unless the kernel itself keeps hard floors.
    Auto,
    Always,
    Never,
}

/// A cgroup whose working set is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedCgroup {
    /// Path below /sys/fs/cgroup: `user.slice`.
    pub name: String,
    /// Write memory.min rather than memory.low.
    pub hard: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            policy: policy::protect::Config::default(),
            kill: Kill {
                when: When::Auto,
                dry_run: false,
                rules: Rules::default(),
                hook: None,
                notify: true,
            },
            lock_bytes: 0,
            realtime_priority: 10,
            cgroups: Vec::new(),
        }
    }
}
