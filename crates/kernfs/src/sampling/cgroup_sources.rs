//! The memory files of one cgroup, held open.
use crate::files::cgroup::{self, CgroupMemory};
use crate::read::held::Shape;
use crate::read::reader::{Reader, Source};
use std::path::PathBuf;

/// Files of one cgroup.
#[derive(Debug)]
pub(crate) struct CgroupSources {
    stat: Source,
    events: Source,
    pressure: Source,
    /// current, swap.current
    bytes: [Source; 2],
    /// min, low, high, max
    limits: [Source; 4],
}

impl CgroupSources {
    pub(crate) fn new(directory: PathBuf) -> Self {
        let file = |name: &str, required| Source::new(directory.join(name), Shape::Whole, required);
        Self {
            stat: file("memory.stat", true),
            events: file("memory.events", false),
            pressure: file("memory.pressure", false),
            bytes: ["memory.current", "memory.swap.current"].map(|name| file(name, false)),
            limits: ["memory.min", "memory.low", "memory.high", "memory.max"]
                .map(|name| file(name, false)),
        }
    }

    pub(crate) fn read(&mut self, reader: &mut Reader, into: &mut CgroupMemory) -> bool {
        let stat = &mut into.stat;
        let fine = reader.take(&mut self.stat, |text| stat.parse(text));
        if fine.is_none() {
            stat.clear();
        }
        let events = &mut into.events;
        let read = reader.take(&mut self.events, |text| events.fields.parse_lines(text));
        if read.is_none() {
            events.clear();
        }
        let pressure = &mut into.pressure;
        let read = reader.take(&mut self.pressure, |text| pressure.parse(text));
        if read.is_none() {
            pressure.clear();
        }
        let [current, swap] = &mut self.bytes;
        into.current = reader.take(current, cgroup::parse_bytes);
        into.swap_current = reader.take(swap, cgroup::parse_bytes);
        let [min, low, high, max] = &mut self.limits;
        into.min = reader.take(min, cgroup::parse_limit);
        into.low = reader.take(low, cgroup::parse_limit);
        into.high = reader.take(high, cgroup::parse_limit);
        into.max = reader.take(max, cgroup::parse_limit);
        fine.is_some()
    }
}
