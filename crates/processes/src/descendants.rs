//! The processes below this one, found in `/proc`.
use rustix::process::{getpid, kill_process, Pid, Signal};

/// A process.
pub struct Process {
    pub pid: Pid,
    /// Its process group.
    pub group: i32,
}

/// All processes that this process started, and that those started. Parents come first. The process must be
/// a subreaper: then processes whose parent has ended are found, too.
pub fn all() -> Vec<Process> {
    let mut rest: Vec<(i32, Process)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| read(entry.ok()?.file_name().to_str()?))
        .collect();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![getpid().as_raw_nonzero().get()];
    while !parents.is_empty() {
        let (children, others): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|(parent, _)| parents.contains(parent));
        rest = others;
        parents = children
            .iter()
            .map(|(_, child)| child.pid.as_raw_nonzero().get())
            .collect();
        found.extend(children.into_iter().map(|(_, child)| child));
    }
    found
}

/// The parent of a process, and the process. None where it has ended, or `name` is no process.
fn read(name: &str) -> Option<(i32, Process)> {
    let pid = Pid::from_raw(name.parse().ok()?)?;
    let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
    // The name, in parentheses, may have any characters. State, parent and group follow.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(1);
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some((parent, Process { pid, group }))
}

/// Sends a signal to processes. Those that have ended since, or belong to somebody else, are left out.
pub fn send<'a>(to: impl IntoIterator<Item = &'a Process>, signal: Signal) {
    for process in to {
        let _ = kill_process(process.pid, signal);
    }
}
