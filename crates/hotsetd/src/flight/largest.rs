//! The largest processes, and when they are counted.
use crate::flight::budget::Budget;
use crate::flight::groups::{self, Group};
use crate::os::clock::Clock;
use crate::os::fixed_string::Text;
use crate::protect::oom::processes::{Processes, TICKS_A_S};
use policy::victim::Candidate;

/// Processes that a record names.
pub const MOST: usize = 8;
/// Bytes of a cgroup's path that a record shows: its end, which has the unit's name.
const UNIT: usize = 64;
/// Seconds between two counts on a calm machine, and while tasks wait for memory.
const CALM_S: f64 = 60.0;
const PRESSED_S: f64 = 2.0;
/// Counts take at most this share of a CPU in the long run, half of what the recorder may take.
const SHARE: f64 = 0.0005;
/// A process with less is read again only once its memory has changed. Bytes.
const SMALL: u64 = 4 << 20;

/// One process as a record shows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Large {
    pub pid: i32,
    start: u64,
    pub name: Text<16>,
    pub uid: u32,
    pub kib: u64,
    pub swap_kib: u64,
    /// Seconds since boot.
    pub start_s: f64,
    pub unit: Text<UNIT>,
}

/// The largest at the last count.
pub struct Largest {
    found: [Large; MOST],
    count: usize,
    groups: [Group; groups::MOST],
    group_count: usize,
    counted_s: Option<f64>,
    budget: Budget,
}

impl Default for Largest {
    fn default() -> Self {
        Largest {
            found: Default::default(),
            count: 0,
            groups: Default::default(),
            group_count: 0,
            counted_s: None,
            budget: Budget::new(SHARE),
        }
    }
}

impl Largest {
    /// Largest first.
    pub fn all(&self) -> &[Large] {
        &self.found[..self.count]
    }

    /// Processes of one name and user that have most together.
    pub fn groups(&self) -> &[Group] {
        &self.groups[..self.group_count]
    }

    /// Counts again where it is time. A count that protection has made meanwhile costs nothing and is taken.
    pub fn update(
        &mut self,
        processes: &mut Processes,
        clock: &Clock,
        now_s: f64,
        pressed: bool,
        page_size: u64,
    ) {
        let wanted_s = match pressed {
            true => PRESSED_S,
            false => CALM_S,
        };
        let theirs = processes.age_s(now_s) < PRESSED_S;
        let age_s = self.counted_s.map_or(f64::INFINITY, |at_s| now_s - at_s);
        let is_due = self.budget.is_left(now_s) && age_s >= wanted_s;
        if age_s < PRESSED_S || !(theirs || is_due) {
            return;
        }
        let begun_s = clock.thread_cpu_s();
        let small = SMALL / page_size;
        if !theirs && processes.sample(now_s, clock.boot_s(), small).is_err() {
            return;
        }
        let page_kib = page_size / 1024;
        self.group_count = groups::find(&processes.list, page_kib, &mut self.groups);
        let top = top(&processes.list);
        let before = self.found;
        self.count = top.iter().filter(|one| one.memory > 0).count();
        for (into, one) in self.found.iter_mut().zip(&top[..self.count]) {
            let known = before
                .iter()
                .find(|old| (old.pid, old.start) == (one.pid, one.start));
            *into = Large {
                pid: one.pid,
                start: one.start,
                name: Text::of(format_args!("{}", one.name())),
                uid: one.uid,
                kib: one.memory * page_kib,
                swap_kib: one.swapped * page_kib,
                start_s: one.start as f64 / TICKS_A_S,
                unit: match known {
                    Some(old) => old.unit,
                    None => Text::end_of(processes.cgroup(one.pid).as_str()),
                },
            };
        }
        self.counted_s = Some(now_s);
        self.budget.take(clock.thread_cpu_s() - begun_s);
    }
}

/// The largest of the list, largest first, filled up with empty ones.
fn top(list: &[Candidate]) -> [Candidate; MOST] {
    let mut top = [Candidate::default(); MOST];
    for one in list.iter().filter(|one| !one.fallen) {
        if one.memory > top[MOST - 1].memory {
            let at = top.partition_point(|other| other.memory >= one.memory);
            top.copy_within(at..MOST - 1, at + 1);
            top[at] = *one;
        }
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_found_in_order() {
        let sized = |memory| Candidate {
            memory,
            ..Candidate::default()
        };
        let list: Vec<Candidate> = [3, 90, 1, 7, 7, 50, 2, 4, 5, 6, 8].map(sized).to_vec();
        let found = top(&list).map(|one| one.memory);
        assert_eq!(found, [90, 50, 8, 7, 7, 6, 5, 4]);
        let few = top(&list[..2]).map(|one| one.memory);
        assert_eq!(few, [90, 3, 0, 0, 0, 0, 0, 0]);
    }
}
