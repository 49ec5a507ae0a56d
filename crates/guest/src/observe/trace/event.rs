//! The kernel's tracepoints, and their lines in trace_pipe.

/// The tracepoints of direct reclaim.
pub const RECLAIM: [&str; 2] = [
    "vmscan/mm_vmscan_direct_reclaim_begin",
    "vmscan/mm_vmscan_direct_reclaim_end",
];
/// The tracepoints of the page cache.
pub const PAGES: [&str; 2] = [
    "filemap/mm_filemap_add_to_page_cache",
    "filemap/mm_filemap_delete_from_page_cache",
];

/// A line of trace_pipe: `COMM-PID [CPU] FLAGS SECONDS: NAME: DETAIL`.
pub struct Event<'a> {
    pub thread: u32,
    pub t_ms: f64,
    pub name: &'a str,
    pub detail: &'a str,
}

/// Parses a line of trace_pipe; none for a line of another event.
pub fn event(line: &str) -> Option<Event<'_>> {
    // A program's name may contain anything, so the event's own name is searched first.
    let (name_at, name) = { RECLAIM.iter().chain(&PAGES) }.find_map(|event| {
        let name = event.rsplit('/').next()?;
        Some((line.find(&format!(": {name}:"))?, name))
    })?;
    let (before, seconds) = line[..name_at].rsplit_once(' ')?;
    let (task, _) = before.rsplit_once('[')?;
    let (_, thread) = task.trim_end().rsplit_once('-')?;
    Some(Event {
        thread: thread.parse().ok()?,
        t_ms: seconds.parse::<f64>().ok()? * 1e3,
        name,
        detail: line[name_at + name.len() + 3..].trim(),
    })
}
