//! Waits for the disk that are waits for memory: what is read had been in memory before.
use flight::Record;

/// The shares of the time, 0 to 1, in which some task, and every task, waited for what had been evicted to be read again: the
/// pressure of io until each record, times the share of what was read that had been in memory.
///
/// The kernel counts a wait for an evicted page as one for memory only if the page had been used more than once
/// (PG_workingset, mm/workingset.c), and reads by read(2) are no such use on MGLRU. `page_size`: bytes.
pub(crate) fn waits(records: &[Record], page_size: u64) -> Vec<(f64, f64)> {
    let mut waits = vec![(0.0, 0.0); records.len()];
    let mut since: Option<usize> = None;
    for (at, record) in records.iter().enumerate() {
        // A recording may lack it, and some of its records may.
        if !record.sample.psi.contains_key("io") {
            continue;
        }
        let begin = since.filter(|&since| follows(&records[since], record));
        if let Some(since) = begin {
            let stretch = Stretch(&records[since], record);
            let share = stretch.evicted_before(page_size);
            waits[since + 1..=at]
                .fill((share * stretch.waited(false), share * stretch.waited(true)));
        }
        since = Some(at);
    }
    waits
}

/// Whether a record is a later one of the same boot.
pub(crate) fn follows(before: &Record, record: &Record) -> bool {
    before.boot == record.boot && before.sample.t < record.sample.t
}

/// The time between two records.
struct Stretch<'a>(&'a Record, &'a Record);

impl Stretch<'_> {
    fn grown(&self, name: &str) -> u64 {
        let value = |record: &Record| record.sample.vmstat.get(name).copied().unwrap_or(0);
        value(self.1).saturating_sub(value(self.0))
    }

    /// Of what disks gave to the page cache, the share that had been in memory before, 0 to 1.
    fn evicted_before(&self, page_size: u64) -> f64 {
        // pgpgin counts KiB, and what comes from swap as well.
        let read = (self.grown("pgpgin") << 10).saturating_sub(page_size * self.grown("pswpin"));
        if read == 0 {
            return 0.0;
        }
        let refaults = self.grown("workingset_refault_file") + self.grown("workingset_refault");
        (refaults as f64 * page_size as f64 / read as f64).min(1.0)
    }

    /// Share of the time in which some task, or every task, waited for a disk.
    fn waited(&self, full: bool) -> f64 {
        let total = |record: &Record| {
            let io = record.sample.psi.get("io")?;
            Some(if full { io.full } else { io.some }?.total)
        };
        let (Some(then), Some(now)) = (total(self.0), total(self.1)) else {
            return 0.0;
        };
        let seconds = self.1.sample.t - self.0.sample.t;
        (now.saturating_sub(then) as f64 / 1e6 / seconds).min(1.0)
    }
}
