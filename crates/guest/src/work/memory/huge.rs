//! A worker that asks for huge pages.
use anyhow::{Context, Result};
use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, vmstat_field};
use crate::work::stop::stopping;

const HUGE: usize = 2 << 20;

/// Maps, touches and unmaps memory, each period.
pub fn faults(worker: &str, size: u64, period_ms: u64, channel: &Channel) -> Result<()> {
    let pages = (size as usize / HUGE).max(1);
    while !stopping() {
        let begin = now_ms();
        let before = counts()?;
        touch(pages)?;
        let after = counts()?;
        channel.observe(format!("{worker}.fault_ms"), begin, now_ms() - begin);
        let (got, missed) = (after.0 - before.0, after.1 - before.1);
        // If neither counter has grown, the kernel did not try, and there is no share.
        if got + missed > 0 {
            let share = got as f64 / (got + missed) as f64;
            channel.observe(format!("{worker}.got"), begin, share);
        }
        std::thread::sleep(Duration::from_millis(period_ms));
    }
    Ok(())
}

/// The faults that got a huge page, and those that did not.
fn counts() -> Result<(u64, u64)> {
    let vmstat = read("/proc/vmstat")?;
    let get = |name| {
        let field = vmstat_field(&vmstat, name);
        field.with_context(|| format!("/proc/vmstat has no {name}: a kernel without huge pages"))
    };
    Ok((get("thp_fault_alloc")?, get("thp_fault_fallback")?))
}

fn touch(pages: usize) -> Result<()> {
    // One more page, so that the mapping contains an aligned start.
    let len = (pages + 1) * HUGE;
    // SAFETY: a fresh private mapping, used by nothing else; every access is within it, and it is
    // unmapped after the last.
    unsafe {
        let at = mmap_anonymous(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
        .with_context(|| format!("mapping {len} bytes"))?;
        let asked = libc::madvise(at, len, libc::MADV_HUGEPAGE);
        let error = std::io::Error::last_os_error();
        if asked == 0 {
            let first = at.cast::<u8>().add(at.align_offset(HUGE));
            for page in 0..pages {
                // A write: a read would get the shared huge page of zeros.
                std::ptr::write_volatile(first.add(page * HUGE), 1);
            }
        }
        rustix::mm::munmap(at, len).context("unmapping")?;
        if asked != 0 {
            return Err(error).context("madvise(MADV_HUGEPAGE)");
        }
    }
    Ok(())
}
