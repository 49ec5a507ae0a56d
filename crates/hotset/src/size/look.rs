//! The kernel's counters of what is watched.

/// The counters at one moment. Since boot, or since the cgroup was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Bytes that there are, and that could be had.
    pub memory: u64,
    pub available: u64,
    /// Pages of files, and of programs, that came back.
    pub refaults: u64,
    pub refaults_anon: u64,
    /// Pages of programs that left.
    pub out: u64,
    /// Microseconds in which some task waited for memory.
    pub waited_us: Option<u64>,
}
