//! Reads everything that was asked for into one [`Sample`].
use crate::cgroup::{self, CgroupMemory};
use crate::dentry::{DentryState, InodeNr};
use crate::held::{Buffer, Held, Shape};
use crate::knobs::{self, Knob};
use crate::nodes::NodeSet;
use crate::samples::Machine;
use crate::{lru_gen, Error, ErrorKind, Root, Sample};
use std::ops::BitOr;
use std::path::PathBuf;
use std::sync::Arc;

/// A set of things to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sources(u16);

impl Sources {
    pub const VMSTAT: Self = Self(1);
    pub const ZONEINFO: Self = Self(1 << 1);
    pub const BUDDYINFO: Self = Self(1 << 2);
    pub const MEMINFO: Self = Self(1 << 3);
    pub const PSI_MEMORY: Self = Self(1 << 4);
    pub const PSI_CPU: Self = Self(1 << 5);
    pub const PSI_IO: Self = Self(1 << 6);
    /// dentry-state and inode-nr.
    pub const DENTRY: Self = Self(1 << 7);
    pub const KNOBS: Self = Self(1 << 8);
    /// The huge page pools of each node.
    pub const HUGE: Self = Self(1 << 9);
    /// meminfo, vmstat and numastat of each node.
    pub const NODE_FILES: Self = Self(1 << 10);
    pub const CGROUPS: Self = Self(1 << 11);
    pub const LRU_GEN: Self = Self(1 << 12);
    /// debugfs' list of all generations: long on a machine with many cgroups.
    pub const GENERATIONS: Self = Self(1 << 13);

    /// What the policy needs of every sample.
    pub const LOOP: Self = Self(
        Self::VMSTAT.0
            | Self::ZONEINFO.0
            | Self::BUDDYINFO.0
            | Self::MEMINFO.0
            | Self::PSI_MEMORY.0
            | Self::DENTRY.0
            | Self::KNOBS.0
            | Self::HUGE.0,
    );
    /// All but what may be long.
    pub const ALL: Self = Self(((1 << 14) - 1) & !Self::GENERATIONS.0);

    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Sources {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a [`Sampler`] reads.
#[derive(Clone, Debug)]
pub struct Options {
    /// Read by [`Sampler::sample`].
    pub sources: Sources,
    /// Knobs to read with [`Sources::KNOBS`]; [`Knob::LOOP`] by default.
    pub knobs: Vec<Knob>,
    /// Directories of cgroups, as on a machine (`/sys/fs/cgroup/user.slice`).
    pub cgroups: Vec<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sources: Sources::LOOP,
            knobs: Knob::LOOP.to_vec(),
            cgroups: Vec::new(),
        }
    }
}

/// A file that stopped or began giving what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    Lost(Error),
    Back(Arc<std::path::Path>),
}

/// Holds the files open. It lives as long as its process, and fills one [`Sample`].
///
/// zoneinfo lists every CPU for every zone, with the zone's lock held: half a megabyte and
/// milliseconds on a machine with 256 CPUs. Where it is long, it is read every 10 s and when a
/// watermark sysctl has changed; in between, free pages and LRU lists come from the nodes' vmstat.
#[derive(Debug)]
pub struct Sampler {
    machine: Machine,
    options: Options,
    zoneinfo_read: Option<ZoneinfoRead>,
    /// dentry-state counts negative dentries.
    counts_negative: bool,
    vmstat: Source,
    zoneinfo: Source,
    buddyinfo: Source,
    meminfo: Source,
    psi: [Source; 3],
    dentry_state: Source,
    inode_nr: Source,
    knobs: Vec<(Knob, Source)>,
    lru_gen: [Source; 2],
    generations: Source,
    cgroups: Vec<CgroupSources>,
    nodes: NodeSet,
    reader: Reader,
}

/// A file and whether it gave what it should the last time.
#[derive(Debug)]
pub(crate) struct Source {
    held: Held,
    failed: bool,
}

/// The last time that zoneinfo was read.
#[derive(Clone, Copy, Debug)]
struct ZoneinfoRead {
    t: f64,
    bytes: usize,
    /// watermark_scale_factor and min_free_kbytes then.
    sysctls: [Option<i64>; 2],
}

/// Seconds until a long zoneinfo is read again.
const ZONEINFO_S: f64 = 10.0;

impl ZoneinfoRead {
    /// Whether what it said of watermarks will do for a sample at `t`.
    fn will_do(&self, t: f64, sysctls: [Option<i64>; 2], nodes: usize) -> bool {
        // A node's vmstat is 5 KB: with few CPUs, zoneinfo is no dearer.
        let long = self.bytes > (16 << 10) + nodes * (8 << 10);
        long && nodes > 0 && t - self.t < ZONEINFO_S && self.sysctls == sysctls
    }
}

/// What all reading shares.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    buffer: Buffer,
    errors: Vec<Error>,
    news: Vec<News>,
}

impl Source {
    pub(crate) fn new(path: PathBuf, shape: Shape, required: bool) -> Self {
        Self {
            held: Held::new(path, shape, required),
            failed: false,
        }
    }
}

impl Reader {
    /// Reads and parses one file. `None`, and a word in errors and news, where that does not work.
    pub(crate) fn take<T>(
        &mut self,
        source: &mut Source,
        parse: impl FnOnce(&[u8]) -> Result<T, ErrorKind>,
    ) -> Option<T> {
        let read = source.held.read(&mut self.buffer);
        match read.and_then(parse) {
            Ok(value) => {
                if std::mem::take(&mut source.failed) {
                    let path = source.held.error(ErrorKind::Missing).path;
                    self.news.push(News::Back(path));
                }
                Some(value)
            }
            Err(kind) => {
                if source.held.is_fault(kind) {
                    let error = source.held.error(kind);
                    if !std::mem::replace(&mut source.failed, true) {
                        self.news.push(News::Lost(error.clone()));
                    }
                    self.errors.push(error);
                }
                None
            }
        }
    }
}

/// Files of one cgroup.
#[derive(Debug)]
struct CgroupSources {
    stat: Source,
    events: Source,
    pressure: Source,
    /// current, swap.current
    bytes: [Source; 2],
    /// min, low, high, max
    limits: [Source; 4],
}

impl CgroupSources {
    fn new(directory: PathBuf) -> Self {
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

    fn read(&mut self, reader: &mut Reader, into: &mut CgroupMemory) -> bool {
        let stat = &mut into.stat;
        let fine = reader.take(&mut self.stat, |text| stat.fields.parse_lines(text));
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

impl Sampler {
    /// Opens nothing yet: each file is opened when it is first read.
    #[must_use]
    pub fn new(root: Root, options: Options) -> Self {
        let records = |path: &str| Source::new(root.path(path), Shape::Records, true);
        let whole = |path: &str, required| Source::new(root.path(path), Shape::Whole, required);
        let knobs = options.knobs.iter();
        let knobs = knobs.map(|&knob| {
            let path = root.sysctl(knob.name());
            (knob, Source::new(path, Shape::Line, false))
        });
        let line = |path: &str| Source::new(root.path(path), Shape::Line, false);
        let machine = Machine::of(&root);
        let cgroups = options.cgroups.iter();
        Self {
            counts_negative: machine.major().is_none_or(|major| major >= 5),
            machine,
            zoneinfo_read: None,
            vmstat: records("/proc/vmstat"),
            zoneinfo: records("/proc/zoneinfo"),
            buddyinfo: records("/proc/buddyinfo"),
            meminfo: whole("/proc/meminfo", true),
            // PSI may be left out of a kernel, or be switched off at boot.
            psi: ["memory", "cpu", "io"]
                .map(|name| whole(&format!("/proc/pressure/{name}"), false)),
            dentry_state: line("/proc/sys/fs/dentry-state"),
            inode_nr: line("/proc/sys/fs/inode-nr"),
            knobs: knobs.collect(),
            lru_gen: ["enabled", "min_ttl_ms"]
                .map(|name| line(&format!("/sys/kernel/mm/lru_gen/{name}"))),
            generations: Source::new(
                root.path("/sys/kernel/debug/lru_gen"),
                Shape::Records,
                false,
            ),
            cgroups: cgroups
                .map(|directory| CgroupSources::new(root.path(directory)))
                .collect(),
            nodes: NodeSet::new(root),
            options,
            reader: Reader::default(),
        }
    }

    /// The machine that the root is of.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// What changed with the last sample: for a log that says a thing once.
    #[must_use]
    pub fn news(&self) -> &[News] {
        &self.reader.news
    }

    /// Reads all that the options name.
    pub fn sample(&mut self, sample: &mut Sample) {
        self.sample_only(self.options.sources, sample);
    }

    /// Reads `sources` only; the rest of `sample` stays as it is.
    pub fn sample_only(&mut self, sources: Sources, sample: &mut Sample) {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        sample.t = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9;
        sample.fresh = Sources::default();
        self.reader.news.clear();
        // Handed over and back, so that both keep what they have allocated.
        std::mem::swap(&mut self.reader.errors, &mut sample.errors);
        self.reader.errors.clear();
        // Before zoneinfo, which is read when a sysctl has changed.
        self.numbers(sources, sample);
        self.tables(sources, sample);
        self.pressure(sources, sample);
        self.by_node(sources, sample);
        self.of_cgroups(sources, sample);
        std::mem::swap(&mut self.reader.errors, &mut sample.errors);
    }

    fn tables(&mut self, sources: Sources, sample: &mut Sample) {
        let reader = &mut self.reader;
        macro_rules! table {
            ($source:ident, $file:ident) => {
                if sources.contains(Sources::$source) {
                    let table = &mut sample.$file;
                    match reader.take(&mut self.$file, |text| table.parse(text)) {
                        Some(()) => sample.fresh = sample.fresh | Sources::$source,
                        // Half of a table is no table.
                        None => table.clear(),
                    }
                }
            };
        }
        table!(VMSTAT, vmstat);
        table!(BUDDYINFO, buddyinfo);
        table!(MEMINFO, meminfo);
    }

    fn pressure(&mut self, sources: Sources, sample: &mut Sample) {
        let psi = &mut sample.psi;
        let wanted = [
            (Sources::PSI_MEMORY, &mut psi.memory),
            (Sources::PSI_CPU, &mut psi.cpu),
            (Sources::PSI_IO, &mut psi.io),
        ];
        for ((bit, pressure), source) in wanted.into_iter().zip(&mut self.psi) {
            if sources.contains(bit) {
                match self.reader.take(source, |text| pressure.parse(text)) {
                    Some(()) => sample.fresh = sample.fresh | bit,
                    None => pressure.clear(),
                }
            }
        }
    }

    /// Files of one number or one row.
    fn numbers(&mut self, sources: Sources, sample: &mut Sample) {
        let reader = &mut self.reader;
        if sources.contains(Sources::DENTRY) {
            sample.dentry = reader.take(&mut self.dentry_state, |text| {
                let mut found = DentryState::default();
                found.parse(text).map(|()| found)
            });
            if let (false, Some(found)) = (self.counts_negative, &mut sample.dentry) {
                found.nr_negative = None;
            }
            sample.inode = reader.take(&mut self.inode_nr, |text| {
                let mut found = InodeNr::default();
                found.parse(text).map(|()| found)
            });
            if sample.dentry.is_some() && sample.inode.is_some() {
                sample.fresh = sample.fresh | Sources::DENTRY;
            }
        }
        if sources.contains(Sources::KNOBS) {
            for (knob, source) in &mut self.knobs {
                sample.knobs.set(*knob, reader.take(source, knobs::parse));
            }
            sample.fresh = sample.fresh | Sources::KNOBS;
        }
        if sources.contains(Sources::LRU_GEN) {
            let [enabled, min_ttl_ms] = &mut self.lru_gen;
            sample.lru_gen.enabled = reader.take(enabled, lru_gen::parse_enabled);
            sample.lru_gen.min_ttl_ms = reader.take(min_ttl_ms, cgroup::parse_bytes);
            if sample.lru_gen.enabled.is_some() {
                sample.fresh = sample.fresh | Sources::LRU_GEN;
            }
        }
        if sources.contains(Sources::GENERATIONS) {
            let found = &mut sample.generations;
            match reader.take(&mut self.generations, |text| found.parse(text)) {
                Some(()) => sample.fresh = sample.fresh | Sources::GENERATIONS,
                None => found.list.clear(),
            }
        }
    }

    fn zones(&mut self, sample: &mut Sample) {
        let knob = |knob| sample.knobs.get(knob);
        let sysctls = [Knob::WatermarkScaleFactor, Knob::MinFreeKbytes].map(knob);
        let nodes = sample.zoneinfo.nodes.len();
        let read = self.zoneinfo_read;
        if read.is_some_and(|read| read.will_do(sample.t, sysctls, nodes)) {
            sample.join_nodes();
            if self.nodes.refresh(&mut self.reader, sample) {
                sample.fresh = sample.fresh | Sources::ZONEINFO;
                return;
            }
        }
        let zoneinfo = &mut sample.zoneinfo;
        let parse = |text: &[u8]| zoneinfo.parse(text).map(|()| text.len());
        let bytes = self.reader.take(&mut self.zoneinfo, parse);
        self.zoneinfo_read = bytes.map(|bytes| ZoneinfoRead {
            t: sample.t,
            bytes,
            sysctls,
        });
        match bytes {
            Some(_) => sample.fresh = sample.fresh | Sources::ZONEINFO,
            None => sample.zoneinfo.clear(),
        }
        sample.join_nodes();
    }

    fn by_node(&mut self, sources: Sources, sample: &mut Sample) {
        if sources.contains(Sources::ZONEINFO) {
            self.zones(sample);
        } else if sources.contains(Sources::BUDDYINFO) {
            sample.join_nodes();
        }
        let reader = &mut self.reader;
        if sources.contains(Sources::HUGE) && self.nodes.huge(reader, sample) {
            sample.fresh = sample.fresh | Sources::HUGE;
        } else {
            self.nodes.keep_huge(sample);
        }
        if sources.contains(Sources::NODE_FILES) && self.nodes.files(reader, sample) {
            sample.fresh = sample.fresh | Sources::NODE_FILES;
        }
    }

    fn of_cgroups(&mut self, sources: Sources, sample: &mut Sample) {
        if !sources.contains(Sources::CGROUPS) || self.cgroups.is_empty() {
            return;
        }
        sample
            .cgroups
            .resize_with(self.cgroups.len(), Default::default);
        let mut fine = true;
        for (files, into) in self.cgroups.iter_mut().zip(&mut sample.cgroups) {
            fine &= files.read(&mut self.reader, into);
        }
        if fine {
            sample.fresh = sample.fresh | Sources::CGROUPS;
        }
    }
}
