//! Orders for a guest: settings to make, files to lay out, workers to run, scene by scene.
pub use crate::access::Access;
pub use crate::apps::AppCycle;
pub use crate::database::{LookUp, MakeDatabase};
pub use crate::size::Size;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that a guest needs to know, in `/hotset/spec.json` of its initramfs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestSpec {
    /// Seed of every random choice in the guest; the same for all arms of one repetition.
    pub seed: u64,
    /// Kernel files to write before the first scene, in this order.
    #[serde(default)]
    pub knobs: Vec<Knob>,
    /// Size of the zram swap device in MiB; 0 for none.
    #[serde(default)]
    pub zram_mb: u64,
    /// Block device that carries the data file system, such as `/dev/ubda`.
    pub disk: Disk,
    /// An empty disk that this trial alone may write to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Scratch>,
    /// The daemon that is there, where the arm has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<Daemon>,
    /// Period of the gauges' samples, in milliseconds.
    pub sample_ms: u64,
    /// What the kernel is traced for, over all scenes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Trace>,
    pub task: Task,
}

/// Tracepoints that the guest listens to. Tracing costs time and some memory, so that it is for
/// experiments that ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trace {
    /// How long each direct reclaim of a thread took (`mm_vmscan_direct_reclaim_begin` to `_end`;
    /// a cgroup's own reclaim is left out). Observes, once a scene and of those that began in it:
    /// `direct_reclaim.count`, `.total_ms`, `.p50_ms`, `.p90_ms`, `.p99_ms` (to 5%), `.max_ms`, the
    /// counts `.under_5_ms`, `.from_5_ms`, `.from_50_ms` and `.from_500_ms`, `.over_50_ms` (the last
    /// two together), `.unfinished`, and `.lost`, the events that the kernel dropped.
    DirectReclaim,
    /// Each page that comes into the page cache and goes from it (`mm_filemap_add_to_page_cache` and
    /// `mm_filemap_delete_from_page_cache`). The lab writes traces of them, one of those that came and
    /// one of those that went, which `hotset trace` and `hotset sim` read. Observes, once a scene:
    /// `page_cache.inserted` and `.evicted`, in pages, `.lost`, the events that the kernel dropped, and
    /// `.unread`, those that the guest did not understand. The kernel's buffer takes 4 MiB for each CPU.
    PageCache,
}

/// One kernel file and what to write to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// Absolute path in the guest, `/proc/sys/vm/swappiness` for instance.
    pub path: String,
    pub value: String,
}

/// The data disk. The throttle makes a refault cost what it costs on a real device: a test bed's
/// disk is the host's page cache and would otherwise be as fast as memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Empty where there are no files to have on it.
    pub device: String,
    /// Bytes a second read, for cgroup v2 `io.max`; 0 for no limit.
    #[serde(default)]
    pub read_bps: u64,
    /// Read operations a second; 0 for no limit.
    #[serde(default)]
    pub read_iops: u64,
}

/// A formatted disk to write to, mounted at `/scratch`. What is written is thrown away with the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scratch {
    pub device: String,
    /// Bytes a second written, for cgroup v2 `io.max`; 0 for no limit. Reads are throttled as the
    /// data disk's are.
    #[serde(default)]
    pub write_bps: u64,
    /// MiB of a swap file on it; 0 for none.
    #[serde(default, skip_serializing_if = "no_swap")]
    pub swap_mb: u64,
}

fn no_swap(mb: &u64) -> bool {
    *mb == 0
}

/// A daemon of the arm's. Its log, by line, are events `daemon-log`; a daemon that ends before it is
/// told to fails the trial. At the end there are events `daemon-exit` and `daemon-cost`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Daemon {
    /// Path in the guest of the program, and its arguments.
    pub command: Vec<String>,
    /// Started before the first scene and stopped with SIGTERM after the last; otherwise it is only
    /// put there, for workers that start it themselves.
    pub start: bool,
    /// Not hotsetd: SIGTERM may end it as it likes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// What the guest is booted for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// Make the file system on the (empty) disk's files: name to size in bytes. The disk is already
    /// formatted by the lab; the guest mounts it read-write and fills the files with seeded,
    /// incompressible content.
    Prepare { files: BTreeMap<String, u64> },
    /// Mount the disk read-only and play the scenes.
    Play { workload: Workload },
    /// Run the kernel's selftests of these names, which the lab puts at `/hotset/selftests/NAME`, one
    /// after the other. Each line that one says is an event `selftest`; the task fails when a line
    /// begins with `not ok`, or one ends otherwise than well.
    Selftest {
        programs: Vec<String>,
        /// A file of the data disk, handed to them as `WSPROT_FILE`; without it there is no disk.
        #[serde(default)]
        file: Option<String>,
    },
    /// Report that the kernel booted, then power off (`hotset kernel check`).
    Boot,
    /// Fail on purpose, for the lab's own tests.
    Fail { how: Failure },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// Kernel panic by sysrq.
    Panic,
    /// Say nothing more, for ever.
    Hang,
    /// Exit PID 1's work with an error message.
    Error,
}

/// Workers and the order in which they run. Sizes are plain bytes by the time a guest sees them: the
/// lab resolves percentages of the machine's memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub workers: BTreeMap<String, Worker>,
    pub scenes: Vec<Scene>,
    /// Clean file pages at or under which memory counts as exhausted once swap is full and free
    /// pages are short (see the guest's `watch`).
    #[serde(default)]
    pub exhausted_below: Size,
}

/// A stretch of time with a fixed set of workers. Workers named by consecutive scenes go on running
/// across the boundary; those no longer named are stopped, new ones started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    pub name: String,
    /// Names of the workers that run.
    #[serde(default)]
    pub run: Vec<String>,
    /// How long, in seconds; for a scene with `until`, the limit.
    pub seconds: f64,
    /// Ends the scene early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// How many processes must have been killed, with `until = "killed"`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub kills: u32,
    /// Drop the page cache before the scene starts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drop_caches: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// The first OOM kill (of any kind) in the scene.
    OomKill,
    /// So many of the workers' processes as the scene's `kills` says (1) were killed by SIGKILL, by
    /// whomever: the kernel or a daemon.
    Killed,
    /// All of the scene's workers that end by themselves have ended.
    Done,
    /// All of the scene's `fixed` and `app-cycle` workers have done the rounds that they `settle` for.
    Settled,
}

/// One kind of work, run as `count` processes of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Externally tagged, so that an error in an experiment file keeps its line: `does.hog = {}`.
    pub does: Work,
    /// Processes started.
    #[serde(default = "one")]
    pub count: u32,
    /// Start again when it ends or is killed, as the shell loop of the seed does. How many of its
    /// processes somebody has killed is observed for each scene: `<worker>.deaths`.
    #[serde(default)]
    pub restart: bool,
    /// Put the processes into a cgroup with this `memory.max` (0 for none).
    #[serde(default)]
    pub memory_max: Size,
    /// Put the processes into a cgroup of their own, as a desktop has one for each application.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_cgroup: bool,
    /// Put the processes into the cgroup of this name, with those of all workers that say the same.
    /// These have one limit, and the same `memory_max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<String>,
    /// `oom_score_adj` of the processes.
    #[serde(default)]
    pub oom_score_adj: i32,
    /// Memory of this node alone, and its CPUs, where it has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a worker's process does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Work {
    /// Take anonymous memory, touching every page, as `tail /dev/zero` does.
    Hog {
        /// Stop growing at this size and hold; 0 for no end.
        #[serde(default)]
        size: Size,
        /// Growth a second; 0 for as fast as it goes.
        #[serde(default)]
        rate: Size,
        #[serde(default)]
        fill: Fill,
        /// A second process writes the memory, through /proc/PID/mem, and the one that has it sleeps.
        /// On User-Mode Linux, where each page that a process touches is a system call of the host,
        /// this is several times as fast. Observes `<worker>.mb_per_s`, each stretch of 20 ms that is
        /// faster than those before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        from_outside: bool,
    },
    /// Read a file from end to end, for ever, in 128 KiB reads.
    Stream { file: String },
    /// Read a whole file each `period_ms`. Before each read the share of its pages that are
    /// resident is taken with cachestat(2). Observes `<worker>.resident` (share) and
    /// `<worker>.read_ms`.
    Probe { file: String, period_ms: u64 },
    /// Start processes without end, one each `period_ms`, each of which takes `size` bytes of
    /// anonymous memory and holds them: a fork storm. Its processes outlive the one that starts
    /// them.
    Forks { size: Size, period_ms: u64 },
    /// Hold `size` bytes of anonymous memory and touch all of it in a loop, each page every
    /// `period_ms`. Observes `<worker>.round_ms` and `<worker>.swapped_in`, the pages that the
    /// machine swapped in during the round.
    Touch {
        size: Size,
        period_ms: u64,
        #[serde(default)]
        fill: Fill,
        /// Touch as many pages as there are, each drawn at random, rather than each in turn. Going
        /// round in turn over more than fits is every policy's worst case, and chaotic.
        #[serde(default)]
        random: bool,
    },
    /// Read a file once from end to end and exit. Observes `<worker>.read_ms`.
    ReadOnce { file: String },
    /// Read a file from end to end `times` times in 128 KiB reads, with a rest after each read, and
    /// exit: reclaim at its plainest. With rests kswapd has the time to do all of it, without it
    /// falls to direct reclaim too. Observes `<worker>.done_ms`.
    Pass {
        file: String,
        times: u64,
        #[serde(default)]
        rest_ms: u64,
    },
    /// Drop the page cache, read a file from end to end and ask node 0 to give half of it back
    /// (`/sys/devices/system/node/node0/reclaim`, before 6.17 the root's `memory.reclaim`), `times`
    /// times, then exit: reclaim without kswapd and chance, for counting its instructions. Observes
    /// `<worker>.reclaim_ms`, the time of each giving back.
    Squeeze { file: String, times: u64 },
    /// Make a new generation of the root's pages (`/sys/kernel/debug/lru_gen`), `times` times, then
    /// exit: without reclaim there are then as many as MGLRU keeps. Observes `<worker>.generations`.
    Age { times: u32 },
    /// A fixed sequence of accesses by one process, the same in every run with the same seed:
    /// `rounds`, each a seeded random read of `read` bytes from `file` and a write of one page of
    /// `size` bytes of anonymous memory. Then exits. For comparing the counters of two kernels.
    /// Observes `<worker>.done_ms`.
    Fixed {
        file: String,
        size: Size,
        rounds: u64,
        /// Rounds before these, in which memory comes to rest: a scene `until = "settled"` ends
        /// with them.
        #[serde(default)]
        settle: u64,
        /// Bytes of one read, whole pages; 64 KiB unless said otherwise.
        #[serde(default = "read_size")]
        read: Size,
        #[serde(default = "mixed")]
        fill: Fill,
    },
    /// Write kernel files, one after the other and round again, `count` writes in all, each read
    /// back; then exit. Observes `<worker>.written`, `<worker>.wrong`, those that read back another
    /// number, and `<worker>.longest_ms`, the longest write.
    KnobLoop {
        /// Sysctls or absolute paths, and what to write.
        writes: Vec<(String, String)>,
        count: u64,
        /// Pause after each write, in milliseconds.
        #[serde(default = "once")]
        period_ms: u64,
    },
    /// Write files of `size` bytes to the scratch disk in writes of 1 MiB, as `dd` does, for ever; of
    /// each process's files the last `keep` stay, older ones are deleted. Observes
    /// `<worker>.file_ms`, the time of each file's writing.
    Churn {
        size: Size,
        #[serde(default)]
        keep: u32,
        /// A pause after each file.
        #[serde(default)]
        rest_ms: u64,
    },
    /// Write a tree of `files` source files of about `size` bytes each to the scratch disk, sync it,
    /// and exit: what [`Work::Compile`] reads. Observes `<worker>.done_ms`.
    Tree { files: u32, size: Size },
    /// What a compile is to memory management, where no compiler is at hand: `units` processes,
    /// `jobs` at once, each of which reads its own source and `headers` others of the tree (some are
    /// read by nearly all, most by few), fills about `memory` bytes of anonymous memory, computes
    /// over them, writes an object of about `object` bytes and exits; when all are done the objects
    /// are read and written as one, as by a linker. Sizes differ by unit, from half to three times,
    /// and are the same in every run with the same seed. It is not a compile: nothing is parsed, the
    /// share of time that it computes is `rounds`, and a unit has one process, not three.
    /// Observes `<worker>.done_ms`, and of each unit `<worker>.unit_ms` and `<worker>.hit`, the share
    /// of the pages that it read that were in the page cache.
    Compile {
        /// Files of the tree.
        files: u32,
        units: u32,
        jobs: u32,
        headers: u32,
        memory: Size,
        object: Size,
        /// Passes over the memory.
        #[serde(default = "rounds")]
        rounds: u32,
    },
    /// Map `size` bytes each period, ask for huge pages (`MADV_HUGEPAGE`), touch each huge page once
    /// and unmap all. Observes `<worker>.got`, the share of faults that gave a huge page
    /// (`thp_fault_alloc` against `thp_fault_fallback`, of the whole machine), and
    /// `<worker>.fault_ms`, the time of all the touching.
    HugePages { size: Size, period_ms: u64 },
    /// Each period: put `size` bytes into pipes, whose pages the kernel can neither move nor reclaim,
    /// and take them out again but for every sixteenth. Observes `<worker>.fill_ms`.
    Pipes { size: Size, period_ms: u64 },
    /// Start the daemon, kill it with SIGKILL at a random moment from `least_ms` to `most_ms`, start
    /// it again and stop it with SIGTERM, `times` times; then exit. After each time the `knobs` are
    /// compared with what they were at first. Observes `<worker>.killed`, `<worker>.wrong` (knobs
    /// that were not given back), `<worker>.changed` (times in which a knob had another value when it
    /// was killed) and `<worker>.bad_exit` (stops that did not end well).
    ///
    /// With `stopped_ms` it is stopped with SIGSTOP for so long first. Every other time it is then
    /// continued, and told to stop by SIGTERM; else killed, and `--restore` gives back, as a unit with
    /// a watchdog does. Observes `<worker>.stopped`, `<worker>.changed_while_stopped` (times),
    /// `<worker>.locked_mb` (the most that was locked then) and `<worker>.swapped_kb` (the daemon's
    /// own pages that were in swap, at most).
    KillDaemon {
        times: u32,
        least_ms: u64,
        most_ms: u64,
        #[serde(default, skip_serializing_if = "is_zero")]
        stopped_ms: u64,
        /// Sysctls or absolute paths.
        knobs: Vec<String>,
    },
    /// Pages by rule, and which of them were in memory: see [`Access`].
    Access(Access),
    /// A phone's apps, started in turn: see [`AppCycle`].
    AppCycle(AppCycle),
    /// A real database: see [`MakeDatabase`].
    MakeDatabase(MakeDatabase),
    /// Records of it, looked up at random: see [`LookUp`].
    LookUp(LookUp),
    /// Copy the tree that a [`Work::Tree`] has written to another folder of the scratch disk, file
    /// by file as rsync(1) does, again and again, with a rest after each file. Each page is used
    /// once. Observes `<worker>.copy_ms`, the time of each whole copy, and when it is stopped
    /// `<worker>.copied` (files) and `<worker>.copied_mb` (MiB).
    CopyTree {
        #[serde(default)]
        rest_ms: u64,
    },
    /// Look for files that are not there, each under a name of its own, for ever: the kernel remembers
    /// each name in a little memory that only its shrinkers give back. Observes `<worker>.names`,
    /// how many, each second.
    Names {},
    /// Each period: read the file, ask the kernel in some way to take memory back, and see what is
    /// left of the file. Observes `<worker>.left` (share), and, where memory itself is asked for,
    /// `<worker>.given` (share of it).
    Ask {
        file: String,
        by: Ask,
        /// Bytes that `memory.reclaim` is asked for.
        #[serde(default)]
        amount: Size,
        period_ms: u64,
    },
}

fn read_size() -> Size {
    Size::Bytes(64 << 10)
}

fn mixed() -> Fill {
    Fill::Mixed
}

fn rounds() -> u32 {
    4
}

fn once() -> u64 {
    1
}

/// By what a program asks for reclaim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// `memory.reclaim` of the workers' cgroup.
    CgroupReclaim,
    /// `memory.reclaim` of the root.
    RootReclaim,
    /// `MADV_PAGEOUT` of a mapped file.
    Pageout,
    /// `vm.drop_caches` = 1.
    DropCaches,
    /// Hibernation to its test of the freezer, for the smallest image: `shrink_all_memory()` and the
    /// image's memory are gone through, nothing is written. `given`: 1 if there was memory for it.
    Hibernation,
    /// All of each CMA area (`cma=` on the command line), and gives it back. `given`: of the areas.
    Cma,
    /// Each memory block that is movable (`movablecore=`) goes offline, and online again. `given`: of
    /// these blocks.
    Offline,
}

/// Contents of anonymous pages: zram keeps a page of one repeated word in no memory at all, so
/// zeros (what `tail /dev/zero` has) and real contents press differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    #[default]
    Zero,
    /// A third of each page random, the rest zero: compresses about 3:1.
    Mixed,
    /// Incompressible.
    Random,
}
