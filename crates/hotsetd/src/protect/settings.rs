//! What the administrator chose of protection, the policy's part aside.
use super::marks::Marks;
use std::path::PathBuf;

/// `[protect]` and what is below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub policy: policy::protect::Config,
    pub kill: Kill,
    /// Bytes of file pages that may be locked in memory; 0: none.
    pub lock_bytes: u64,
    /// SCHED_FIFO's priority, 1 to 99; 0: not real-time.
    pub realtime_priority: u8,
    pub cgroups: Vec<Slice>,
}

/// `[protect.kill]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Kill {
    pub when: When,
    /// Say whom it would be, and kill nobody.
    pub dry_run: bool,
    pub marks: Marks,
    /// Run after a kill, with what happened in its environment.
    pub hook: Option<PathBuf>,
    /// Tell the users who are logged in.
    pub notify: bool,
}

/// When the daemon kills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Where the kernel does not keep the floors itself.
    Auto,
    Always,
    Never,
}

/// A cgroup whose working set is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Below /sys/fs/cgroup: `user.slice`.
    pub name: String,
    /// memory.min, or memory.low.
    pub hard: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            policy: policy::protect::Config::default(),
            kill: Kill {
                when: When::Auto,
                dry_run: false,
                marks: Marks::default(),
                hook: None,
                notify: true,
            },
            lock_bytes: 0,
            realtime_priority: 10,
            cgroups: Vec::new(),
        }
    }
}
