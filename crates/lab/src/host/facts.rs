//! Facts of the host, as reports give them.

/// The processor's name.
pub fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "unknown".into(), |(_, name)| name.trim().to_string())
}

/// The number of CPUs that this process may use.
pub fn cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// The release of the host's kernel, as `uname -r` prints it.
pub fn kernel() -> String {
    rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned()
}

/// The default number of guests at once. A guest with one CPU keeps about one core busy, and makes
/// its host do as much work again in page faults and I/O.
pub fn jobs() -> u32 {
    (cpus() / 2).max(1)
}

/// The columns of the terminal on standard output; 80 where standard output is no terminal.
pub fn terminal_width() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.ok()
        .map(|size| size.ws_col.into())
        .filter(|columns| *columns > 0)
        .unwrap_or(80)
}
