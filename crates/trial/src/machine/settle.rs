//! The machine's rest between two runs.
use anyhow::{Context, Result};
use kernfs::{Options, Root, Sample, Sampler, Sources};
use lab::host::stop::Stop;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Pages under writeback, in KiB, at which the machine is at rest.
const REST: u64 = 1024;
/// The longest wait.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

/// How the wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Settled,
    /// A minute was not enough.
    Restless,
    /// A signal came.
    Stopped,
}

/// Has all dirty pages written, and waits until little is under writeback.
pub fn settle(root: &Root, stop: &Stop) -> Rest {
    let begun = Instant::now();
    if is_own(root) {
        // sync(2) cannot be interrupted, so a thread makes the call. Where it hangs, the trial goes on without it.
        let (done, synced) = channel();
        std::thread::spawn(move || {
            rustix::fs::sync();
            let _ = done.send(());
        });
        while let Err(RecvTimeoutError::Timeout) = synced.recv_timeout(LOOK) {
            if stop.asked() {
                return Rest::Stopped;
            }
            if begun.elapsed() > PATIENCE {
                return Rest::Restless;
            }
        }
    }
    let options = Options {
        sources: Sources::MEMINFO,
        ..Options::default()
    };
    let mut sampler = Sampler::new(root.clone(), options);
    let mut sample = Sample::default();
    loop {
        sampler.sample(&mut sample);
        if sample.meminfo.writeback().unwrap_or(0) <= REST {
            return Rest::Settled;
        }
        if begun.elapsed() > PATIENCE {
            return Rest::Restless;
        }
        if wait(stop, LOOK) {
            return Rest::Stopped;
        }
    }
}

/// Waits. Returns whether a signal came.
pub fn wait(stop: &Stop, time: Duration) -> bool {
    let time = Timespec::try_from(time).unwrap_or_default();
    // An interrupted wait is a signal's, which `stop` knows of.
    let _ = poll(&mut [PollFd::new(stop, PollFlags::IN)], Some(&time));
    stop.asked()
}

/// Drops the clean page cache, dentries and inodes.
///
/// # Errors
/// The file cannot be written.
pub fn drop_caches(root: &Root) -> Result<()> {
    let path = root.sysctl("vm.drop_caches");
    std::fs::write(&path, "3\n").with_context(|| names::shown(&path).to_string())
}

/// Whether the root is this machine's.
pub fn is_own(root: &Root) -> bool {
    root.directory() == std::path::Path::new("/")
}
