//! The two writes that take long: a node's `reclaim` and `compact` return when the kernel is done,
//! after seconds on a large machine. A thread of its own makes them, so that the loop goes on
//! sampling; it is started once, and talks to the loop through two pipes.
use crate::text::Text;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Bytes that are reclaimed by one write: what is left of a larger request can be told in between.
const CHUNK: u64 = 64 << 20;
/// The thread needs a path and a number on its stack.
const STACK: usize = 64 << 10;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    Reclaim {
        node: u32,
        bytes: u64,
    },
    Compact {
        node: u32,
    },
    /// Anonymous memory only, where the kernel can be asked for that (6.10 on).
    ReclaimAnon {
        node: u32,
        bytes: u64,
    },
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Done {
    pub job: Job,
    /// Bytes that were asked for and reclaimed; 0 for a compaction.
    pub bytes: u64,
    pub error: Option<Errno>,
    pub seconds: f64,
}

/// The thread, seen from the loop.
pub struct Worker {
    jobs: OwnedFd,
    done: OwnedFd,
    under_way: Vec<Job>,
}

/// Messages have a fixed length, far below what a pipe takes in one piece.
const JOB: usize = 16;
const DONE: usize = 40;

impl Worker {
    /// Starts the thread. Signals should be blocked before, or it would take them.
    ///
    /// # Errors
    /// When there are no descriptors, or no memory for a thread.
    pub fn start(root: &Path) -> std::io::Result<Worker> {
        let (take, jobs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let (done, tell) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&jobs, true)?;
        rustix::io::ioctl_fionbio(&done, true)?;
        let root = root.to_owned();
        std::thread::Builder::new()
            .name("hotsetd-work".into())
            .stack_size(STACK)
            .spawn(move || work(&root, &take, &tell))?;
        Ok(Worker {
            jobs,
            done,
            under_way: Vec::with_capacity(64),
        })
    }

    /// Readable when something is done.
    pub fn done_fd(&self) -> BorrowedFd<'_> {
        self.done.as_fd()
    }

    /// Asks for it. `false`: the like of it is still under way on that node, or too much is.
    pub fn ask(&mut self, job: Job) -> bool {
        let like = |other: &Job| match (other, &job) {
            (Job::Reclaim { node: a, .. }, Job::Reclaim { node: b, .. }) => a == b,
            (Job::Compact { node: a }, Job::Compact { node: b }) => a == b,
            (Job::ReclaimAnon { node: a, .. }, Job::ReclaimAnon { node: b, .. }) => a == b,
            _ => false,
        };
        if self.under_way.iter().any(like) || self.under_way.len() == self.under_way.capacity() {
            return false;
        }
        let sent = rustix::io::write(&self.jobs, &encode_job(job)).is_ok();
        if sent {
            self.under_way.push(job);
        }
        sent
    }

    /// The next that is done, if one is.
    pub fn take_done(&mut self) -> Option<Done> {
        let mut message = [0; DONE];
        match rustix::io::read(&self.done, &mut message) {
            Ok(DONE) => {}
            _ => return None,
        }
        let done = decode_done(&message);
        self.under_way.retain(|job| *job != done.job);
        Some(done)
    }
}

fn encode_job(job: Job) -> [u8; JOB] {
    let (kind, node, bytes) = match job {
        Job::Reclaim { node, bytes } => (0u32, node, bytes),
        Job::Compact { node } => (1, node, 0),
        Job::ReclaimAnon { node, bytes } => (2, node, bytes),
    };
    let mut message = [0; JOB];
    message[..4].copy_from_slice(&kind.to_ne_bytes());
    message[4..8].copy_from_slice(&node.to_ne_bytes());
    message[8..].copy_from_slice(&bytes.to_ne_bytes());
    message
}

fn u32_at(message: &[u8], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&message[at..at + 4]);
    u32::from_ne_bytes(bytes)
}

fn u64_at(message: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&message[at..at + 8]);
    u64::from_ne_bytes(bytes)
}

fn decode_job(message: &[u8]) -> Job {
    let node = u32_at(message, 4);
    let bytes = u64_at(message, 8);
    match u32_at(message, 0) {
        0 => Job::Reclaim { node, bytes },
        2 => Job::ReclaimAnon { node, bytes },
        _ => Job::Compact { node },
    }
}

fn encode_done(done: &Done) -> [u8; DONE] {
    let mut message = [0; DONE];
    message[..JOB].copy_from_slice(&encode_job(done.job));
    message[16..24].copy_from_slice(&done.bytes.to_ne_bytes());
    let errno = done.error.map_or(0, Errno::raw_os_error);
    message[24..28].copy_from_slice(&errno.to_ne_bytes());
    message[32..].copy_from_slice(&done.seconds.to_ne_bytes());
    message
}

fn decode_done(message: &[u8]) -> Done {
    let errno = u32_at(message, 24) as i32;
    Done {
        job: decode_job(message),
        bytes: u64_at(message, 16),
        error: (errno != 0).then(|| Errno::from_raw_os_error(errno)),
        seconds: f64::from_bits(u64_at(message, 32)),
    }
}

/// Until the loop's end of the pipe is closed.
fn work(root: &Path, take: &OwnedFd, tell: &OwnedFd) {
    loop {
        let mut message = [0; JOB];
        match rustix::io::read(take, &mut message) {
            Ok(JOB) => {}
            Err(Errno::INTR) => continue,
            _ => return,
        }
        let job = decode_job(&message);
        let begun = Instant::now();
        let (bytes, error) = match job {
            Job::Reclaim { node, bytes } => reclaim(root, node, bytes),
            Job::Compact { node } => (0, compact(root, node).err()),
            Job::ReclaimAnon { node, bytes } => reclaim_anon(root, node, bytes),
        };
        let done = Done {
            job,
            bytes,
            error,
            seconds: begun.elapsed().as_secs_f64(),
        };
        if rustix::io::write(tell, &encode_done(&done)).is_err() {
            return;
        }
    }
}

/// The node's own file where there is one (6.17 on), else that of the root cgroup, which takes from
/// every node.
fn reclaim(root: &Path, node: u32, bytes: u64) -> (u64, Option<Errno>) {
    let own = node_file(root, node, "reclaim");
    let all = below(root, "sys/fs/cgroup/memory.reclaim");
    let mut left = bytes;
    while left > 0 {
        let chunk = left.min(CHUNK);
        let words = Text::<32>::of(format_args!("{chunk}"));
        let written = match write(&own, words.as_bytes()) {
            Err(Errno::NOENT) => write(&all, words.as_bytes()),
            done => done,
        };
        match written {
            Ok(()) => left -= chunk,
            // Less than that could be reclaimed: no more is asked of it.
            Err(Errno::AGAIN) => return (bytes - left, None),
            Err(errno) => return (bytes - left, Some(errno)),
        }
    }
    (bytes, None)
}

/// Of anonymous memory only: `swappiness=max` from 6.16 on, `swappiness=200` from 6.10 on. An older
/// kernel says that it is invalid; without the word it would take files, so it is not asked.
fn reclaim_anon(root: &Path, node: u32, bytes: u64) -> (u64, Option<Errno>) {
    let own = node_file(root, node, "reclaim");
    let all = below(root, "sys/fs/cgroup/memory.reclaim");
    for swappiness in ["max", "200"] {
        let words = Text::<48>::of(format_args!("{bytes} swappiness={swappiness}"));
        let written = match write(&own, words.as_bytes()) {
            Err(Errno::NOENT) => write(&all, words.as_bytes()),
            done => done,
        };
        match written {
            Ok(()) => return (bytes, None),
            Err(Errno::INVAL) => {}
            // Less than that could be reclaimed: no more is asked of it.
            Err(Errno::AGAIN) => return (0, None),
            Err(errno) => return (0, Some(errno)),
        }
    }
    (0, Some(Errno::INVAL))
}

fn compact(root: &Path, node: u32) -> Result<(), Errno> {
    match write(&node_file(root, node, "compact"), b"1") {
        // A kernel without nodes has one file for all of the memory.
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

fn write(place: &Text<512>, words: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(place.as_str(), flags, Mode::empty())?;
    rustix::io::write(file, words).map(drop)
}

/// Does this kernel have a file by which a node can be reclaimed?
pub fn can_reclaim(root: &Path) -> bool {
    any_node_has(root, "reclaim") || root.join("sys/fs/cgroup/memory.reclaim").exists()
}

/// Does it have one by which memory can be compacted?
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
    use std::time::Duration;

    fn wait(worker: &mut Worker) -> Done {
        for _ in 0..500 {
            if let Some(done) = worker.take_done() {
                return done;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("nothing was done within 5 s");
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

    #[test]
    fn a_node_that_is_gone_is_told_of() {
        let root = tempfile::tempdir().unwrap();
        let mut worker = Worker::start(root.path()).unwrap();
        assert!(worker.ask(Job::Compact { node: 7 }));
        assert_eq!(wait(&mut worker).error, Some(Errno::NOENT));
        assert!(!can_compact(root.path()) && !can_reclaim(root.path()));
    }
}
