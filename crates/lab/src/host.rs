//! What a report says of the host.

/// The processor's name.
pub fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "unknown".into(), |(_, name)| name.trim().to_string())
}

/// CPUs that this process may use.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// `uname -r`.
pub fn kernel() -> String {
    rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned()
}

/// Guests to run at once unless told otherwise: one with one CPU keeps about a core busy and makes
/// its host do as much again in page faults and I/O.
pub fn jobs() -> u32 {
    (cpus() / 2).max(1)
}

/// Columns of the terminal on standard output; 80 where that is none.
pub fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.ok()
        .map(|size| size.ws_col.into())
        .filter(|columns| *columns > 0)
        .unwrap_or(80)
}
