//! Reads everything that was asked for into one [`Sample`].
use crate::files::cgroup;
use crate::files::dentry::{DentryState, InodeNr};
use crate::files::knobs::{self, Knob};
use crate::files::lru_gen;
use crate::files::machine::Machine;
use crate::read::held::Shape;
pub use crate::read::reader::News;
use crate::read::reader::{Reader, Source};
use crate::sampling::cgroup_sources::CgroupSources;
use crate::sampling::node_sources::NodeSet;
pub use crate::sampling::sources::{Options, Sources};
use crate::{Root, Sample};

/// Holds the files open. It lives as long as its process, and fills one [`Sample`].
///
/// zoneinfo lists every CPU for every zone, with the zone's lock held: half a megabyte and
/// milliseconds on a machine with 256 CPUs. A long zoneinfo is read every 10 s and when a
/// watermark sysctl has changed. In between, free pages and LRU lists come from the nodes' vmstat.
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
    /// Whether the watermarks of that reading are fresh enough for a sample at `t`.
    fn will_do(&self, t: f64, sysctls: [Option<i64>; 2], nodes: usize) -> bool {
        // A node's vmstat is 5 KB: with few CPUs, zoneinfo costs no more.
        let long = self.bytes > (16 << 10) + nodes * (8 << 10);
        long && nodes > 0 && t - self.t < ZONEINFO_S && self.sysctls == sysctls
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

    /// The machine below the root.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Files that became unreadable or readable again with the last sample: for a log that reports each
    /// change once.
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
        sample.t = monotonic_s();
        sample.fresh = Sources::default();
        self.reader.news.clear();
        // Swapped there and back, so that both lists keep their room.
        std::mem::swap(&mut self.reader.errors, &mut sample.errors);
        self.reader.errors.clear();
        // Sysctls come before zoneinfo, which is read again when one of them has changed.
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
                        // A table that ends early would show wrong sums.
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

/// CLOCK_MONOTONIC in seconds. By libc, not rustix: rustix insists on a vDSO, which User-Mode Linux
/// does not have.
fn monotonic_s() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec, which lives through the call; with this clock it cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
