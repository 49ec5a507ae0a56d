//! A worker whose memory the kernel can neither move nor reclaim: pages in pipes.
use anyhow::{bail, Context, Result};
use std::fs::File;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::work::stop::stopping;

const PAGE: usize = 4096;
/// Pages in a pipe, the kernel's default (PIPE_DEF_BUFFERS in include/linux/pipe_fs_i.h).
const DEPTH: usize = 16;

/// Each period: fills pipes until they hold `size` bytes, one pipe after the other, and reads all
/// but the last page of each. The remaining pages are spread over the memory that the kernel gave,
/// one page in sixteen.
pub fn hold(worker: &str, size: u64, period_ms: u64, channel: &Channel) -> Result<()> {
    let number = (size as usize / PAGE / DEPTH).max(1);
    // Two descriptors a pipe, and some for the rest of the process.
    may_open(number as u64 * 2 + 64)?;
    let mut pipes: Vec<(PipeReader, PipeWriter)> = (0..number)
        .map(|i| std::io::pipe().with_context(|| format!("making pipe {i} of {number}")))
        .collect::<Result<_>>()?;
    let mut page = [0x5a_u8; PAGE];
    let mut held = 0;
    while !stopping() {
        let begin = now_ms();
        for (_, end) in &mut pipes {
            // Whole pages: the kernel would append less to the page before.
            for _ in held..DEPTH {
                end.write_all(&page).context("filling a pipe")?;
            }
        }
        channel.observe(format!("{worker}.fill_ms"), begin, now_ms() - begin);
        for (end, _) in &mut pipes {
            for _ in 1..DEPTH {
                end.read_exact(&mut page).context("reading from a pipe")?;
            }
        }
        held = 1;
        std::thread::sleep(Duration::from_millis(period_ms));
    }
    Ok(())
}

/// Lets this process open `files` files.
fn may_open(files: u64) -> Result<()> {
    let limit = libc::rlimit {
        rlim_cur: files,
        rlim_max: files,
    };
    // SAFETY: the kernel reads one struct, which lives through the call.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } != 0 {
        let error = std::io::Error::last_os_error();
        bail!("allowing {files} open files: {error}");
    }
    // The limit of the whole system, which may be low on a small machine.
    let all = std::fs::read_to_string("/proc/sys/fs/file-max").unwrap_or_default();
    if all.trim().parse().is_ok_and(|most: u64| most < files + 256) {
        let mut knob = File::create("/proc/sys/fs/file-max").context("raising fs.file-max")?;
        write!(knob, "{}", files + 1024).context("raising fs.file-max")?;
    }
    Ok(())
}
