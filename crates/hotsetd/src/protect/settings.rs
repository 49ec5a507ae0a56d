//! The administrator's choices for protection.
use super::oom::notifier::Notices;
use super::oom::rules::Rules;
use std::path::{Path, PathBuf};

/// `[protect]` of the configuration file.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub policy: policy::protect::Config,
    pub kill: Kill,
    /// Bytes of file pages that may be locked in memory; 0: none.
    pub lock_bytes: u64,
    /// SCHED_FIFO's priority, 1 to 99; 0: not real-time.
    pub realtime_priority: u8,
    /// Warn programs when memory is short.
    pub warn: bool,
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

impl Settings {
    /// The notices that are wanted on the machine below `root`; `kills`: memory that is exhausted leads to a kill.
    pub(super) fn notices(&self, root: &Path, kills: bool) -> Option<Notices> {
        let notices = Notices {
            root: root.to_owned(),
            hook: self.kill.hook.clone().filter(|_| kills),
            notify: kills && self.kill.notify,
            warn: self.warn,
        };
        (notices.hook.is_some() || notices.notify || notices.warn).then_some(notices)
    }
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
            warn: true,
            cgroups: Vec::new(),
        }
    }
}
