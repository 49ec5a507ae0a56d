//! The kinds of work, and the properties of each that the lab and PID 1 need.
use super::access::Access;
use super::apps::AppCycle;
use super::database::{LookUp, MakeDatabase};
use super::files::{Churn, Compile, Fixed, Pass};
use super::kernel::{Ask, KillDaemon, KnobLoop};
use super::memory::{Beat, Hog, Touch};
use super::program::Program;
use crate::size::Size;
use serde::{Deserialize, Serialize};

/// The work of a worker's process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Work {
    /// Anonymous memory, taken and held: see [`Hog`].
    Hog(Hog),
    /// Read a file from end to end, for ever, in 128 KiB reads.
    Stream { file: String },
    /// Read a whole file each `period_ms`. Before each read, cachestat(2) gives the share of its pages
    /// that are resident. Observes `<worker>.resident` (share) and `<worker>.read_ms`.
    Probe { file: String, period_ms: u64 },
    /// Start processes without end, one each `period_ms`, each of which takes `size` bytes of anonymous
    /// memory and holds them: a fork storm. Its processes outlive the one that starts them.
    Forks { size: Size, period_ms: u64 },
    /// Anonymous memory, held and touched in a loop: see [`Touch`].
    Touch(Touch),
    /// A small task that is to run ten times a second: see [`Beat`].
    Beat(Beat),
    /// Read a file once from end to end and exit. Observes `<worker>.read_ms`.
    ReadOnce { file: String },
    /// A file, read from end to end several times: see [`Pass`].
    Pass(Pass),
    /// Drop the page cache, read a file from end to end and have half of it reclaimed, `times` times. Then
    /// exit. The request goes to `/sys/devices/system/node/node0/reclaim`, before Linux 6.17 to the root's
    /// `memory.reclaim`. Such reclaim has no kswapd and no chance, so its instructions can be counted.
    /// Observes `<worker>.reclaim_ms`, the time of each reclaim.
    Squeeze { file: String, times: u64 },
    /// Make a new generation of the root's pages (`/sys/kernel/debug/lru_gen`), `times` times, then
    /// exit. Without reclaim there are then as many generations as MGLRU keeps. Observes
    /// `<worker>.generations`.
    Age { times: u32 },
    /// A fixed sequence of accesses: see [`Fixed`].
    Fixed(Fixed),
    /// Kernel files, written and read back: see [`KnobLoop`].
    KnobLoop(KnobLoop),
    /// Files, written and deleted: see [`Churn`].
    Churn(Churn),
    /// Write a tree of `files` source files of about `size` bytes each to the scratch disk, sync it, and
    /// exit: the tree that [`Compile`] reads. Observes `<worker>.done_ms`.
    Tree { files: u32, size: Size },
    /// A job like a compile: see [`Compile`].
    Compile(Compile),
    /// Map `size` bytes each period, ask for huge pages (`MADV_HUGEPAGE`), touch each huge page once and
    /// unmap all. Observes `<worker>.got`, the share of the whole machine's faults that gave a huge page
    /// (`thp_fault_alloc` against `thp_fault_fallback`), and `<worker>.fault_ms`, the time of all touches.
    HugePages { size: Size, period_ms: u64 },
    /// Each period: put `size` bytes into pipes, whose pages the kernel can neither move nor reclaim,
    /// and take them out again except for every sixteenth. Observes `<worker>.fill_ms`.
    Pipes { size: Size, period_ms: u64 },
    /// The daemon, killed and started again: see [`KillDaemon`].
    KillDaemon(KillDaemon),
    /// Pages by rule, counted as hits and misses: see [`Access`].
    Access(Access),
    /// A phone's apps, started in turn: see [`AppCycle`].
    AppCycle(AppCycle),
    /// A real database: see [`MakeDatabase`].
    MakeDatabase(MakeDatabase),
    /// Records of a database, looked up at random: see [`LookUp`].
    LookUp(LookUp),
    /// Copy the tree of a [`Work::Tree`] to another folder of the scratch disk, file by file as rsync(1)
    /// does, repeatedly. A rest follows each file. Each page is used once.
    /// Observes `<worker>.copy_ms`, the time of each whole copy, and when it is stopped
    /// `<worker>.copied` (files) and `<worker>.copied_mb` (MiB).
    CopyTree {
        #[serde(default)]
        rest_ms: u64,
    },
    /// Look up files that do not exist, each under another name, for ever. The kernel remembers each
    /// name in a little memory that only its shrinkers give back. Observes `<worker>.names`, the number
    /// of names, each second.
    Names {},
    /// Reclaim on request, and its effect on a file: see [`Ask`].
    Ask(Ask),
    /// A program of the experiment's root: see [`Program`].
    Program(Program),
}

impl Work {
    /// The name of this kind of work in experiment files: "read-once".
    pub fn name(&self) -> &'static str {
        self.traits().name
    }

    /// The file of the experiment that the work reads, except for kinds that name several.
    pub fn file(&self) -> Option<&str> {
        self.traits().file
    }

    /// Milliseconds between two rounds of work that must not be 0.
    pub fn period_ms(&self) -> Option<u64> {
        self.traits().period_ms
    }

    /// Whether the work is over some time: a scene `until = "done"` waits for it.
    pub fn ends_by_itself(&self) -> bool {
        self.traits().ends_by_itself
    }

    /// Whether the work brings memory to rest first: a scene `until = "settled"` waits for that.
    pub fn settles(&self) -> bool {
        self.traits().settles
    }

    /// Whether SIGTERM ends the work after a last measurement. Other work is killed.
    pub fn finishes_on_sigterm(&self) -> bool {
        self.traits().finishes_on_sigterm
    }

    /// Whether the work writes to the scratch disk.
    pub fn writes(&self) -> bool {
        self.traits().writes
    }

    /// Whether processes of the work outlive the one that starts them, so that only their cgroup can
    /// end them.
    pub fn leaves_processes(&self) -> bool {
        matches!(self, Work::Forks { .. })
    }

    /// The orders, if the work is a program of the experiment's root.
    pub fn program(&self) -> Option<&Program> {
        match self {
            Work::Program(program) => Some(program),
            _ => None,
        }
    }

    fn traits(&self) -> Traits<'_> {
        let named = Traits::named;
        match self {
            Work::Hog(_) => named("hog"),
            Work::Stream { file } => named("stream").file(file),
            Work::Probe { file, period_ms } => {
                named("probe").file(file).each(*period_ms).finishes()
            }
            Work::Forks { .. } => named("forks"),
            Work::Touch(touch) => named("touch").each(touch.period_ms).finishes(),
            Work::Beat(beat) => {
                let traits = named("beat").each(beat.period_ms).finishes();
                match &beat.file {
                    Some(file) => traits.file(file),
                    None => traits,
                }
            }
            Work::ReadOnce { file } => named("read-once").file(file).ends(),
            Work::Pass(pass) => named("pass").file(&pass.file).ends(),
            Work::Squeeze { file, .. } => named("squeeze").file(file).ends(),
            Work::Age { .. } => named("age").ends(),
            Work::Fixed(fixed) => named("fixed").file(&fixed.file).ends().settles(),
            Work::KnobLoop(_) => named("knob-loop").ends().finishes(),
            Work::Churn(_) => named("churn").writes(),
            Work::Tree { .. } => named("tree").ends().writes(),
            Work::Compile(_) => named("compile").ends().finishes().writes(),
            Work::HugePages { period_ms, .. } => named("huge-pages").each(*period_ms).finishes(),
            Work::Pipes { period_ms, .. } => named("pipes").each(*period_ms),
            Work::KillDaemon(_) => named("kill-daemon").ends().finishes(),
            Work::Access(_) => named("access").ends(),
            Work::AppCycle(_) => named("app-cycle").ends().settles().finishes(),
            Work::MakeDatabase(_) => named("make-database").ends().writes(),
            Work::LookUp(_) => named("look-up").ends().writes(),
            Work::CopyTree { .. } => named("copy-tree").finishes().writes(),
            Work::Names {} => named("names"),
            Work::Ask(ask) => { named("ask").file(&ask.file) }
                .each(ask.period_ms)
                .finishes(),
            // A service saves its state at SIGTERM; a job has no end but its own.
            Work::Program(program) if program.ready.is_some() => named("program").finishes(),
            Work::Program(_) => named("program").ends(),
        }
    }

    /// Every size in the orders, with the name of its field.
    pub fn sizes(&mut self) -> Vec<(&'static str, &mut Size)> {
        match self {
            Work::Hog(hog) => vec![("size", &mut hog.size), ("rate", &mut hog.rate)],
            Work::Touch(touch) => vec![("size", &mut touch.size)],
            Work::Beat(beat) => vec![("memory", &mut beat.memory)],
            Work::Fixed(fixed) => vec![("size", &mut fixed.size), ("read", &mut fixed.read)],
            Work::Ask(ask) => vec![("amount", &mut ask.amount)],
            Work::Churn(churn) => vec![("size", &mut churn.size)],
            Work::Tree { size, .. }
            | Work::HugePages { size, .. }
            | Work::Pipes { size, .. }
            | Work::Forks { size, .. } => vec![("size", size)],
            Work::Compile(job) => vec![("memory", &mut job.memory), ("object", &mut job.object)],
            Work::AppCycle(apps) => apps.sizes(),
            Work::Access(access) => access.rule.sizes(),
            Work::MakeDatabase(make) => vec![("size", &mut make.size)],
            Work::LookUp(look_up) => vec![("cache", &mut look_up.cache)],
            Work::Stream { .. }
            | Work::Probe { .. }
            | Work::ReadOnce { .. }
            | Work::Pass(_)
            | Work::Squeeze { .. }
            | Work::Age { .. }
            | Work::Names {}
            | Work::CopyTree { .. }
            | Work::KnobLoop(_)
            | Work::KillDaemon(_)
            | Work::Program(_) => vec![],
        }
    }
}

/// The properties of a kind of work, apart from its orders.
struct Traits<'a> {
    name: &'static str,
    file: Option<&'a str>,
    period_ms: Option<u64>,
    ends_by_itself: bool,
    settles: bool,
    finishes_on_sigterm: bool,
    writes: bool,
}

impl<'a> Traits<'a> {
    fn named(name: &'static str) -> Traits<'a> {
        Traits {
            name,
            file: None,
            period_ms: None,
            ends_by_itself: false,
            settles: false,
            finishes_on_sigterm: false,
            writes: false,
        }
    }

    fn file(mut self, file: &'a str) -> Traits<'a> {
        self.file = Some(file);
        self
    }

    fn each(mut self, period_ms: u64) -> Traits<'a> {
        self.period_ms = Some(period_ms);
        self
    }

    fn ends(mut self) -> Traits<'a> {
        self.ends_by_itself = true;
        self
    }

    fn settles(mut self) -> Traits<'a> {
        self.settles = true;
        self
    }

    fn finishes(mut self) -> Traits<'a> {
        self.finishes_on_sigterm = true;
        self
    }

    fn writes(mut self) -> Traits<'a> {
        self.writes = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One order of each kind, in JSON (experiments have them in TOML).
    const EACH: &str = r#"[
        {"hog": {}}, {"stream": {"file": "f"}}, {"probe": {"file": "f", "period_ms": 1}},
        {"forks": {"size": 1, "period_ms": 1}}, {"touch": {"size": 1, "period_ms": 1}},
        {"read-once": {"file": "f"}}, {"pass": {"file": "f", "times": 1}},
        {"squeeze": {"file": "f", "times": 1}}, {"age": {"times": 1}},
        {"fixed": {"file": "f", "size": 1, "rounds": 1}}, {"knob-loop": {"writes": [], "count": 1}},
        {"churn": {"size": 1}}, {"tree": {"files": 1, "size": 1}},
        {"compile": {"files": 1, "units": 1, "jobs": 1, "headers": 1, "memory": 1, "object": 1}},
        {"huge-pages": {"size": 1, "period_ms": 1}}, {"pipes": {"size": 1, "period_ms": 1}},
        {"kill-daemon": {"times": 1, "least_ms": 1, "most_ms": 1, "knobs": []}},
        {"access": {"rule": {"loop": {"size": 4096}}, "requests": 1, "by": {"anon": {}}}},
        {"make-database": {"engine": "redb", "size": 1}}, {"look-up": {"engine": "redb", "look_ups": 1}},
        {"copy-tree": {}}, {"names": {}},
        {"beat": {}}, {"program": {"command": ["p"]}},
        {"ask": {"file": "f", "by": "pageout", "period_ms": 1}},
        {"app-cycle": {"apps": 2, "iterations": 1, "memory": 1, "code": 1, "data": 1, "stream": 1,
                       "system": 1, "files": "f", "framework": "f", "media": "f"}}
    ]"#;

    #[test]
    fn each_kind_has_the_name_that_files_give_it_and_survives_a_round_trip() {
        let each: Vec<Work> = serde_json::from_str(EACH).unwrap();
        for work in &each {
            let json = serde_json::to_value(work).unwrap();
            assert_eq!(
                json.as_object().unwrap().keys().next().unwrap(),
                work.name()
            );
            assert_eq!(&serde_json::from_value::<Work>(json).unwrap(), work);
        }
        let names: std::collections::BTreeSet<_> = each.iter().map(Work::name).collect();
        assert_eq!(names.len(), 26);
    }

    #[test]
    fn an_unknown_field_is_refused_in_every_kind() {
        let each: Vec<serde_json::Value> = serde_json::from_str(EACH).unwrap();
        for mut work in each {
            let orders = work.as_object_mut().unwrap().values_mut().next().unwrap();
            orders["no_such_field"] = 1.into();
            assert!(
                serde_json::from_value::<Work>(work.clone()).is_err(),
                "{work}"
            );
        }
    }
}
