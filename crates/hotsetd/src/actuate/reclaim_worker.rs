//! The writes that take long: a node's `reclaim` and `compact` return when the kernel is done, after
//! seconds on a large machine. Threads of their own make them, so that the event loop goes on
//! sampling. Jobs and results go through bounded channels; an eventfd wakes the event loop.
use crate::os::fixed_string::Text;
use rustix::event::EventfdFlags;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of one write. A larger request is split, so that a partial result is known.
const CHUNK: u64 = 64 << 20;
/// Jobs under way at most.
const MOST_JOBS: usize = 64;
/// The thread needs a path and a number on its stack.
const STACK: usize = 64 << 10;

/// A job of the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    Reclaim {
        node: u32,
        bytes: u64,
    },
    Compact {
        node: u32,
    },
    /// Reclaim of anonymous memory only. The kernel takes such requests from 6.10 on.
    ReclaimAnon {
        node: u32,
        bytes: u64,
    },
}

/// A job's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    pub job: Job,
    /// Bytes that were asked for and reclaimed; 0 for a compaction.
    pub bytes: u64,
    pub error: Option<Errno>,
    pub seconds: f64,
}

impl Job {
    /// Whether somebody waits for the job: it must not wait for a compaction.
    fn is_urgent(self) -> bool {
        matches!(self, Job::ReclaimAnon { .. })
    }
}

/// The threads, as the event loop sees them.
pub struct Worker {
    jobs: SyncSender<Job>,
    urgent: SyncSender<Job>,
    done: Receiver<Done>,
    /// Readable when `done` has a result.
    ready: Arc<OwnedFd>,
    under_way: Vec<Job>,
}

impl Worker {
    /// Starts two threads, one for urgent jobs. Signals must be blocked before: the threads inherit the mask.
    ///
    /// # Errors
    /// There are no descriptors, or no memory for a thread.
    pub fn start(root: &Path) -> std::io::Result<Worker> {
        let (give, done) = mpsc::sync_channel(MOST_JOBS);
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let ready = Arc::new(rustix::event::eventfd(0, flags)?);
        let start = |name: &str| -> std::io::Result<SyncSender<Job>> {
            let (jobs, take) = mpsc::sync_channel(MOST_JOBS);
            let (root, give, signal) = (root.to_owned(), give.clone(), ready.clone());
            std::thread::Builder::new()
                .name(name.into())
                .stack_size(STACK)
                .spawn(move || work(&root, &take, &give, &signal))?;
            Ok(jobs)
        };
        Ok(Worker {
            jobs: start("hotsetd-work")?,
            urgent: start("hotsetd-anon")?,
            done,
            ready,
            under_way: Vec::with_capacity(MOST_JOBS),
        })
    }

    /// Readable when a job is done.
    pub fn done_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }

    /// Hands a job over. `false`: such a job is still under way on that node, or too many jobs are.
    pub fn ask(&mut self, job: Job) -> bool {
        let like = |other: &Job| match (other, &job) {
            (Job::Reclaim { node: a, .. }, Job::Reclaim { node: b, .. }) => a == b,
            (Job::Compact { node: a }, Job::Compact { node: b }) => a == b,
            (Job::ReclaimAnon { node: a, .. }, Job::ReclaimAnon { node: b, .. }) => a == b,
            _ => false,
        };
        if self.under_way.iter().any(like) || self.under_way.len() == MOST_JOBS {
            return false;
        }
        let queue = match job.is_urgent() {
            true => &self.urgent,
            false => &self.jobs,
        };
        let sent = queue.try_send(job).is_ok();
        if sent {
            self.under_way.push(job);
        }
        sent
    }

    /// The next result, if there is one.
    pub fn take_done(&mut self) -> Option<Done> {
        // The eventfd is cleared first: a later result is either received below or signalled.
        let _ = rustix::io::read(&self.ready, &mut [0; 8]);
        let done = self.done.try_recv().ok()?;
        self.under_way.retain(|job| *job != done.job);
        Some(done)
    }
}

/// Runs until the event loop's ends of the channels are closed.
fn work(root: &Path, jobs: &Receiver<Job>, done: &SyncSender<Done>, ready: &OwnedFd) {
    while let Ok(job) = jobs.recv() {
        let begun = Instant::now();
        let (bytes, error) = match job {
            Job::Reclaim { node, bytes } => reclaim(root, node, bytes),
            Job::Compact { node } => (0, compact(root, node).err()),
            Job::ReclaimAnon { node, bytes } => reclaim_anon(root, node, bytes),
        };
        let seconds = begun.elapsed().as_secs_f64();
        let result = Done {
            job,
            bytes,
            error,
            seconds,
        };
        if done.send(result).is_err() {
            return;
        }
        // The counter cannot overflow: there are far fewer results.
        let _ = rustix::io::write(ready, &1u64.to_ne_bytes());
    }
}

/// Reclaims through the node's own file (6.17 on), else through the root cgroup's file, which
/// reclaims from every node.
fn reclaim(root: &Path, node: u32, bytes: u64) -> (u64, Option<Errno>) {
    let own = node_file(root, node, "reclaim");
    let all = below(root, "sys/fs/cgroup/memory.reclaim");
    let mut left = bytes;
    while left > 0 {
        let chunk = left.min(CHUNK);
        let text = Text::<32>::of(format_args!("{chunk}"));
        let written = match write(&own, text.as_bytes()) {
            Err(Errno::NOENT) => write(&all, text.as_bytes()),
            done => done,
        };
        match written {
            Ok(()) => left -= chunk,
            // The kernel reclaimed less than requested: no more is requested.
            Err(Errno::AGAIN) => return (bytes - left, None),
            Err(errno) => return (bytes - left, Some(errno)),
        }
    }
    (bytes, None)
}

/// Reclaims anonymous memory only: `swappiness=max` from 6.16 on, `swappiness=200` from 6.10
/// on. An older kernel refuses both. There is no third try: a request without `swappiness`
/// would reclaim file pages too.
fn reclaim_anon(root: &Path, node: u32, bytes: u64) -> (u64, Option<Errno>) {
    let own = node_file(root, node, "reclaim");
    let all = below(root, "sys/fs/cgroup/memory.reclaim");
    for swappiness in ["max", "200"] {
        let text = Text::<48>::of(format_args!("{bytes} swappiness={swappiness}"));
        let written = match write(&own, text.as_bytes()) {
            Err(Errno::NOENT) => write(&all, text.as_bytes()),
            done => done,
        };
        match written {
            Ok(()) => return (bytes, None),
            Err(Errno::INVAL) => {}
            // The kernel reclaimed less than requested: no more is requested.
            Err(Errno::AGAIN) => return (0, None),
            Err(errno) => return (0, Some(errno)),
        }
    }
    (0, Some(Errno::INVAL))
}

fn compact(root: &Path, node: u32) -> Result<(), Errno> {
    match write(&node_file(root, node, "compact"), b"1") {
        // A kernel without nodes has one file for all memory.
        Err(Errno::NOENT) => write(&below(root, "proc/sys/vm/compact_memory"), b"1"),
        done => done,
    }
}

fn node_file(root: &Path, node: u32, name: &str) -> Text<512> {
    let root = root.display();
    Text::of(format_args!(
        "{root}/sys/devices/system/node/node{node}/{name}"
    ))
}

fn below(root: &Path, path: &str) -> Text<512> {
    Text::of(format_args!("{}/{path}", root.display()))
}

fn write(place: &Text<512>, text: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(place.as_str(), flags, Mode::empty())?;
    rustix::io::write(file, text).map(drop)
}

/// Whether this kernel has a file that reclaims a node's memory.
pub fn can_reclaim(root: &Path) -> bool {
    any_node_has(root, "reclaim") || root.join("sys/fs/cgroup/memory.reclaim").exists()
}

/// Whether this kernel has a file that compacts memory.
pub fn can_compact(root: &Path) -> bool {
    any_node_has(root, "compact") || root.join("proc/sys/vm/compact_memory").exists()
}

fn any_node_has(root: &Path, name: &str) -> bool {
    let folder: PathBuf = root.join("sys/devices/system/node");
    std::fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.path().join(name).exists()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec};
    use std::time::Duration;

    fn wait(worker: &mut Worker) -> Done {
        for _ in 0..500 {
            if let Some(done) = worker.take_done() {
                return done;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no job ended within 5 s");
    }

    #[test]
    fn each_job_writes_its_file() {
        let root = tempfile::tempdir().unwrap();
        let node = root.path().join("sys/devices/system/node/node3");
        std::fs::create_dir_all(&node).unwrap();
        std::fs::write(node.join("compact"), "").unwrap();
        std::fs::write(node.join("reclaim"), "").unwrap();
        assert!(can_compact(root.path()) && can_reclaim(root.path()));
        let mut worker = Worker::start(root.path()).unwrap();
        assert!(worker.ask(Job::Compact { node: 3 }));
        let done = wait(&mut worker);
        assert_eq!((done.job, done.error), (Job::Compact { node: 3 }, None));
        assert_eq!(std::fs::read(node.join("compact")).unwrap(), b"1");
        let job = Job::Reclaim {
            node: 3,
            bytes: CHUNK + 5,
        };
        assert!(worker.ask(job));
        assert!(!worker.ask(job) || worker.under_way.len() == 1);
        assert_eq!(wait(&mut worker).bytes, CHUNK + 5);
    }

    /// Linux 5.19 to 6.16.
    #[test]
    fn a_kernel_without_a_file_of_the_node_reclaims_from_all_nodes() {
        let root = tempfile::tempdir().unwrap();
        let all = root.path().join("sys/fs/cgroup/memory.reclaim");
        std::fs::create_dir_all(all.parent().unwrap()).unwrap();
        std::fs::write(&all, "").unwrap();
        assert!(can_reclaim(root.path()));
        let mut worker = Worker::start(root.path()).unwrap();
        let job = Job::Reclaim {
            node: 0,
            bytes: 8192,
        };
        assert!(worker.ask(job));
        assert_eq!(wait(&mut worker).bytes, 8192);
        assert_eq!(std::fs::read(&all).unwrap(), b"8192");
    }

    fn is_readable(worker: &Worker, timeout_s: i64) -> bool {
        let fd = worker.done_fd();
        let mut wait = [PollFd::new(&fd, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: timeout_s,
            tv_nsec: 0,
        };
        rustix::event::poll(&mut wait, Some(&timeout)).unwrap() == 1
    }

    #[test]
    fn every_result_wakes_the_event_loop_until_all_are_taken() {
        let root = tempfile::tempdir().unwrap();
        let mut worker = Worker::start(root.path()).unwrap();
        let mut taken = Vec::new();
        for node in 0..MOST_JOBS as u32 {
            assert!(worker.ask(Job::Compact { node }));
        }
        assert!(!worker.ask(Job::Compact { node: 1000 }));
        while taken.len() < MOST_JOBS {
            assert!(is_readable(&worker, 5), "{} results", taken.len());
            while let Some(done) = worker.take_done() {
                taken.push(done.job);
            }
        }
        let asked: Vec<_> = (0..MOST_JOBS as u32)
            .map(|node| Job::Compact { node })
            .collect();
        assert_eq!(taken, asked);
        assert!(worker.under_way.is_empty() && worker.take_done().is_none());
    }

    /// A compaction of a large machine takes seconds.
    #[test]
    fn anonymous_reclaim_does_not_wait_for_a_compaction() {
        let root = tempfile::tempdir().unwrap();
        let node = root.path().join("sys/devices/system/node/node0");
        std::fs::create_dir_all(&node).unwrap();
        std::fs::write(node.join("reclaim"), "").unwrap();
        // Opening a FIFO for writing waits until somebody reads.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            node.join("compact"),
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        let mut worker = Worker::start(root.path()).unwrap();
        assert!(worker.ask(Job::Compact { node: 0 }));
        let anon = Job::ReclaimAnon {
            node: 0,
            bytes: 4096,
        };
        assert!(worker.ask(anon));
        assert_eq!(wait(&mut worker).job, anon);
        std::fs::read(node.join("compact")).unwrap();
        assert_eq!(wait(&mut worker).job, Job::Compact { node: 0 });
    }

    #[test]
    fn the_threads_end_with_the_worker() {
        let root = tempfile::tempdir().unwrap();
        let worker = Worker::start(root.path()).unwrap();
        let ready = Arc::downgrade(&worker.ready);
        drop(worker);
        let begun = Instant::now();
        while ready.strong_count() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(5));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_job_on_a_missing_node_ends_with_its_error() {
        let root = tempfile::tempdir().unwrap();
        let mut worker = Worker::start(root.path()).unwrap();
        assert!(worker.ask(Job::Compact { node: 7 }));
        assert_eq!(wait(&mut worker).error, Some(Errno::NOENT));
        assert!(!can_compact(root.path()) && !can_reclaim(root.path()));
    }
}
