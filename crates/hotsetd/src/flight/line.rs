//! One record as a line of JSON, written into a buffer of fixed size: nothing is allocated.
use crate::flight::groups::Group;
use crate::flight::largest::Large;
use crate::flight::pressure::Waiting;
use crate::telemetry::state::PastAction;
use kernfs::fields::Fields;
use kernfs::knobs::Knob;
use kernfs::psi::{Pressure, Stall};
use kernfs::sample::Node;
use kernfs::Sample;
use std::fmt::{self, Write};

/// Bytes that a copy needs for why it is kept.
pub const KEPT: usize = 64;

/// Counters of /proc/vmstat that tell what reclaim did, by the beginnings of their names. Those that are 0 are left
/// out: they say nothing, and a slot is small.
const VMSTAT: [&str; 13] = [
    "allocstall",
    "compact_fail",
    "compact_stall",
    "compact_success",
    "oom_kill",
    "pgmajfault",
    "pgpgin",
    "pgscan_",
    "pgsteal_",
    "pswp",
    "thp_fault_fallback",
    "workingset_",
    "zswp",
];
/// Fields of /proc/meminfo that say where memory is.
const MEMINFO: [&str; 24] = [
    "MemTotal",
    "MemFree",
    "MemAvailable",
    "Buffers",
    "Cached",
    "SwapCached",
    "Active",
    "Inactive",
    "Unevictable",
    "AnonPages",
    "Mapped",
    "Shmem",
    "Dirty",
    "Writeback",
    "SwapTotal",
    "SwapFree",
    "KReclaimable",
    "SReclaimable",
    "SUnreclaim",
    "KernelStack",
    "PageTables",
    "Hugetlb",
    "HugePages_Total",
    "HugePages_Free",
];

/// What a record is made of besides its sample.
pub struct About<'a> {
    pub number: u64,
    pub unix_s: f64,
    pub boot: &'a str,
    pub whole: bool,
    pub processes: &'a [Large],
    pub groups: &'a [Group],
    pub cgroups: &'a [Waiting],
}

/// The text, as far as it is written.
pub struct Line {
    bytes: Box<[u8]>,
    length: usize,
    /// Bytes that text may take.
    room: usize,
    /// The text did not fit: nothing more is written.
    full: bool,
}

impl Line {
    /// A line for slots of so many bytes.
    pub fn new(slot: usize) -> Line {
        Line {
            bytes: vec![0; slot].into_boxed_slice(),
            length: 0,
            room: slot - flight::slot::SEAL - KEPT,
            full: false,
        }
    }

    /// Writes the record, with as many of its `deeds`, processes and cgroups as fit. Returns how many deeds did.
    pub fn write<'a>(
        &mut self,
        sample: &Sample,
        about: &About,
        deeds: impl Iterator<Item = &'a PastAction>,
    ) -> usize {
        (self.length, self.full) = (0, false);
        self.put(format_args!(
            "{{\"schema\":\"{}\",\"t\":{:.3},\"unix_s\":{:.3},\"number\":{},\"boot\":\"{}\",\"whole\":{}",
            kernfs::samples::Record::SCHEMA,
            sample.t,
            about.unix_s,
            about.number,
            about.boot,
            about.whole
        ));
        self.list("nodes", sample.nodes.iter(), node);
        self.counters("vmstat", &sample.vmstat.fields, |name| {
            VMSTAT.iter().any(|begin| name.starts_with(begin))
        });
        self.counters("meminfo", &sample.meminfo.fields, |name| {
            MEMINFO.contains(&name)
        });
        self.pressure(sample, about.whole);
        if about.whole {
            self.knobs(sample);
        }
        let did = self.list("did", deeds, deed);
        self.list("processes", about.processes.iter(), process);
        self.list("groups", about.groups.iter(), group);
        self.list("cgroups", about.cgroups.iter(), cgroup);
        did
    }

    /// Writes the sum, and gives the slot's bytes.
    pub fn sealed(&mut self) -> &[u8] {
        flight::slot::seal(&mut self.bytes, self.length);
        &self.bytes
    }

    /// Appends text, all of it or nothing.
    fn put(&mut self, text: fmt::Arguments) -> bool {
        let before = self.length;
        let fits = self.write_fmt(text).is_ok();
        if !fits {
            self.length = before;
        }
        fits
    }

    /// Appends a list under a name: its items as far as they fit. Returns their number.
    fn list<T>(
        &mut self,
        name: &str,
        items: impl Iterator<Item = T>,
        write: impl Fn(&mut Line, T) -> fmt::Result,
    ) -> usize {
        if !self.put(format_args!(",\"{name}\":[]")) {
            return 0;
        }
        // The bracket is written again behind each item.
        self.length -= 1;
        let mut written = 0;
        for item in items {
            let before = self.length;
            let comma = if written > 0 { "," } else { "" };
            let done = self
                .write_str(comma)
                .and_then(|()| write(self, item))
                .and_then(|()| self.write_str("]"));
            if done.is_err() {
                self.length = before;
                break;
            }
            self.length -= 1;
            written += 1;
        }
        self.bytes[self.length] = b']';
        self.length += 1;
        written
    }

    fn counters(&mut self, name: &str, fields: &Fields, wanted: impl Fn(&str) -> bool) {
        let before = self.length;
        let mut comma = "";
        let mut done = self.write_fmt(format_args!(",\"{name}\":{{"));
        for (name, value) in fields.iter() {
            if value > 0 && wanted(name) {
                let field = format_args!("{comma}\"{}\":{value}", Escaped(name));
                done = done.and_then(|()| self.write_fmt(field));
                comma = ",";
            }
        }
        if done.and_then(|()| self.write_str("}")).is_err() {
            self.length = before;
        }
    }

    /// A quick sample has no pressure of the CPU.
    fn pressure(&mut self, sample: &Sample, whole: bool) {
        let psi = &sample.psi;
        let all = [("memory", &psi.memory), ("io", &psi.io), ("cpu", &psi.cpu)];
        let shown = if whole { 3 } else { 2 };
        let before = self.length;
        let mut comma = "";
        let mut done = self.write_str(",\"psi\":{");
        for (name, pressure) in &all[..shown] {
            if pressure.some.is_some() {
                done = done.and_then(|()| self.resource(comma, name, pressure));
                comma = ",";
            }
        }
        if done.and_then(|()| self.write_str("}")).is_err() {
            self.length = before;
        }
    }

    fn resource(&mut self, comma: &str, name: &str, pressure: &Pressure) -> fmt::Result {
        write!(self, "{comma}\"{name}\":{{")?;
        let some = pressure.some.unwrap_or_default();
        stall(self, "", "some", &some)?;
        if let Some(full) = &pressure.full {
            stall(self, ",", "full", full)?;
        }
        self.write_str("}")
    }

    fn knobs(&mut self, sample: &Sample) {
        let before = self.length;
        let mut comma = "";
        let mut done = self.write_str(",\"knobs\":{");
        for knob in Knob::LOOP.iter().chain(&[Knob::Swappiness]) {
            if let Some(value) = sample.knobs.get(*knob) {
                let field = format_args!("{comma}\"{}\":{value}", knob.name());
                done = done.and_then(|()| self.write_fmt(field));
                comma = ",";
            }
        }
        if done.and_then(|()| self.write_str("}")).is_err() {
            self.length = before;
        }
    }
}

/// Text that does not fit is an error: the caller takes back what it has begun.
impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        if end > self.room {
            return Err(fmt::Error);
        }
        self.bytes[self.length..end].copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

fn stall(line: &mut Line, comma: &str, name: &str, stall: &Stall) -> fmt::Result {
    let (avg10, total) = (stall.avg10, stall.total_us);
    write!(
        line,
        "{comma}\"{name}\":{{\"avg10\":{avg10:.2},\"total\":{total}}}"
    )
}

fn node(line: &mut Line, node: &Node) -> fmt::Result {
    let marks = node.watermarks;
    write!(
        line,
        "{{\"id\":{},\"managed\":{},\"free\":{},\"min\":{},\"low\":{},\"high\":{},\"boost\":{},\"reserved\":{},\
         \"active_anon\":{},\"inactive_anon\":{},\"active_file\":{},\"inactive_file\":{},\"huge\":{}",
        node.id,
        node.managed,
        node.free,
        marks.min,
        marks.low,
        marks.high,
        node.boost,
        node.reserved,
        node.active_anon,
        node.inactive_anon,
        node.active_file,
        node.inactive_file,
        node.huge
    )?;
    if let Some(stolen) = node.stolen {
        write!(line, ",\"stolen\":{stolen}")?;
    }
    line.write_str(",\"blocks\":[")?;
    for (order, blocks) in node.blocks.iter().enumerate() {
        let comma = if order > 0 { "," } else { "" };
        write!(line, "{comma}{blocks}")?;
    }
    line.write_str("]}")
}

fn deed(line: &mut Line, deed: &PastAction) -> fmt::Result {
    write!(
        line,
        "{{\"unix_s\":{:.3},\"did\":\"{}\",\"why\":\"{}\",\"came\":\"{}\"}}",
        deed.at_unix_s,
        Escaped(deed.action.as_str()),
        Escaped(deed.reason.as_str()),
        Escaped(deed.outcome.as_str())
    )
}

fn process(line: &mut Line, one: &Large) -> fmt::Result {
    write!(
        line,
        "{{\"pid\":{},\"name\":\"{}\",\"uid\":{},\"kib\":{},\"swap\":{},\"start_s\":{:.2},\"unit\":\"{}\"}}",
        one.pid,
        Escaped(one.name.as_str()),
        one.uid,
        one.kib,
        one.swap_kib,
        one.start_s,
        Escaped(one.unit.as_str())
    )
}

fn group(line: &mut Line, group: &Group) -> fmt::Result {
    write!(
        line,
        "{{\"name\":\"{}\",\"uid\":{},\"count\":{},\"kib\":{}}}",
        Escaped(group.name.as_str()),
        group.uid,
        group.count,
        group.kib
    )
}

fn cgroup(line: &mut Line, one: &Waiting) -> fmt::Result {
    write!(
        line,
        "{{\"name\":\"{}\",\"kib\":{},\"max\":{},\"oom\":{},\"some\":{},\"full\":{}}}",
        Escaped(one.name.as_str()),
        one.kib,
        one.max_kib,
        one.oom_kills,
        one.some_us,
        one.full_us
    )
}

/// Text of others in a string of JSON.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plain = 0;
        for (at, letter) in self.0.char_indices() {
            if letter == '"' || letter == '\\' || letter.is_control() {
                f.write_str(&self.0[plain..at])?;
                match letter {
                    '"' | '\\' => write!(f, "\\{letter}")?,
                    _ => write!(f, "\\u{:04x}", letter as u32)?,
                }
                plain = at + letter.len_utf8();
            }
        }
        f.write_str(&self.0[plain..])
    }
}
