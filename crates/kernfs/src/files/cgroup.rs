//! Memory files of a cgroup v2 (mm/memcontrol.c).
use crate::files::psi::Pressure;
use crate::parse::fields::fields;
use crate::parse::text;
use crate::ErrorKind;

fields! {
    /// memory.stat, in bytes, or events since the cgroup was made.
    MemoryStat {
        anon = "anon",
        file = "file",
        kernel = "kernel",
        kernel_stack = "kernel_stack",
        pagetables = "pagetables",
        percpu = "percpu",
        sock = "sock",
        shmem = "shmem",
        file_mapped = "file_mapped",
        file_dirty = "file_dirty",
        file_writeback = "file_writeback",
        swapcached = "swapcached",
        inactive_anon = "inactive_anon",
        active_anon = "active_anon",
        inactive_file = "inactive_file",
        active_file = "active_file",
        unevictable = "unevictable",
        slab_reclaimable = "slab_reclaimable",
        slab_unreclaimable = "slab_unreclaimable",
        slab = "slab",
        workingset_refault_whole = "workingset_refault",
        workingset_refault_anon = "workingset_refault_anon",
        workingset_refault_file = "workingset_refault_file",
        pgscan = "pgscan",
        pgsteal = "pgsteal",
        pgfault = "pgfault",
        pgmajfault = "pgmajfault",
    }
}

fields! {
    /// memory.events: how often each boundary was met.
    MemoryEvents {
        low = "low",
        high = "high",
        max = "max",
        oom = "oom",
        oom_kill = "oom_kill",
        oom_group_kill = "oom_group_kill",
    }
}

impl MemoryStat {
    /// Reads the text of memory.stat.
    ///
    /// # Errors
    /// Malformed text.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        self.fields.parse_lines(text)
    }
}

/// A boundary. A file that holds `max` sets none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    Bytes(u64),
    #[default]
    None,
}

/// The memory files of a cgroup; bytes. The root cgroup has only `stat` and, from 4.20 on, `pressure`.
#[derive(Clone, Debug, Default)]
pub struct CgroupMemory {
    pub current: Option<u64>,
    pub swap_current: Option<u64>,
    pub min: Option<Limit>,
    pub low: Option<Limit>,
    pub high: Option<Limit>,
    pub max: Option<Limit>,
    pub stat: MemoryStat,
    pub events: MemoryEvents,
    pub pressure: Pressure,
}

/// Reads a boundary: bytes, or `max`.
///
/// # Errors
/// The text is neither.
pub fn parse_limit(bytes: &[u8]) -> Result<Limit, ErrorKind> {
    let bytes = text::trim(bytes);
    if bytes == b"max" {
        return Ok(Limit::None);
    }
    parse_bytes(bytes).map(Limit::Bytes)
}

/// Reads a number of bytes.
///
/// # Errors
/// The text is no number.
pub fn parse_bytes(bytes: &[u8]) -> Result<u64, ErrorKind> {
    text::number(text::trim(bytes)).ok_or(ErrorKind::Malformed {
        line: 1,
        problem: "not a number of bytes",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_a_number_or_max() {
        assert_eq!(parse_limit(b"max\n"), Ok(Limit::None));
        assert_eq!(parse_limit(b"4096\n"), Ok(Limit::Bytes(4096)));
        assert!(parse_limit(b"-1\n").is_err());
        assert!(parse_limit(b"").is_err());
    }
}
