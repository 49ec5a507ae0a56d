//! Which record lies where.
use serde::{Deserialize, Serialize};

/// Slots of each part of the file. The header's slot comes first, then the parts in the order of the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Bytes of a slot: a multiple of the largest page of a disk that a write does not tear, 4096.
    pub slot: u64,
    /// Every record, in turn.
    pub all: u64,
    /// The first record of each second, by its time.
    pub seconds: u64,
    /// The first record of each minute, by its time.
    pub minutes: u64,
    /// Copies of records around an event.
    pub kept: u64,
}

/// Events that are kept at once.
pub const EVENTS: u64 = 8;
/// The smallest file: 256 slots of 4 KiB.
pub const LEAST: u64 = 1 << 20;

impl Layout {
    /// The layout of a file of `bytes` with slots for a machine of `nodes` memory nodes.
    ///
    /// A quarter holds every record, three eighths one a second, an eighth one a minute, and a quarter what is kept:
    /// with 64 MiB and a record each 0.1 s, 7 minutes, 1.7 hours and 1.4 days; on a calm machine days of each.
    #[must_use]
    pub fn of(bytes: u64, nodes: usize) -> Layout {
        let slot = 4096 * (1 + nodes as u64 / 3);
        let slots = (bytes.max(LEAST) / slot).max(64);
        let (all, minutes, kept) = (slots / 4, slots / 8, slots / 4 / EVENTS * EVENTS);
        let seconds = slots - 1 - all - minutes - kept;
        Layout {
            slot,
            all,
            seconds,
            minutes,
            kept,
        }
    }

    /// Slots of the whole file.
    #[must_use]
    pub fn slots(&self) -> u64 {
        1 + self.all + self.seconds + self.minutes + self.kept
    }

    /// Bytes of the whole file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.slots() * self.slot
    }

    /// The slot of a record in [`Layout::all`]. `number`: of the record, counted from the file's first.
    #[must_use]
    pub fn of_record(&self, number: u64) -> u64 {
        1 + number % self.all
    }

    /// The slot in [`Layout::seconds`] of the second that the time lies in.
    #[must_use]
    pub fn of_second(&self, unix_s: f64) -> u64 {
        1 + self.all + unix_s as u64 % self.seconds
    }

    /// The slot in [`Layout::minutes`] of the minute that the time lies in.
    #[must_use]
    pub fn of_minute(&self, unix_s: f64) -> u64 {
        1 + self.all + self.seconds + unix_s as u64 / 60 % self.minutes
    }

    /// Slots that each kept event has.
    #[must_use]
    pub fn of_event(&self) -> u64 {
        self.kept / EVENTS
    }

    /// The slot of the `nth` record of the kept event `which`, 0 to 7.
    #[must_use]
    pub fn of_kept(&self, which: u64, nth: u64) -> u64 {
        let begin = 1 + self.all + self.seconds + self.minutes;
        begin + which % EVENTS * self.of_event() + nth % self.of_event()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side_and_fill_the_file() {
        for bytes in [0, LEAST, 3 << 20, 64 << 20, 1 << 30] {
            for nodes in [0, 1, 2, 3, 8, 64] {
                let layout = Layout::of(bytes, nodes);
                assert!(layout.bytes() <= bytes.max(64 * layout.slot).max(LEAST));
                assert!(layout.bytes() + layout.slot > bytes);
                assert_eq!(Layout::of(layout.bytes(), nodes), layout);
                let all = (0..layout.all).map(|number| layout.of_record(number));
                let seconds = (0..layout.seconds).map(|second| layout.of_second(second as f64));
                let minutes = (0..layout.minutes).map(|m| layout.of_minute(m as f64 * 60.0));
                let event = layout.of_event();
                let kept = (0..layout.kept).map(|n| layout.of_kept(n / event, n % event));
                let mut slots: Vec<u64> = all.chain(seconds).chain(minutes).chain(kept).collect();
                slots.sort_unstable();
                let wanted: Vec<u64> = (1..layout.slots()).collect();
                assert_eq!(slots, wanted, "{bytes} {nodes}");
            }
        }
    }
}
