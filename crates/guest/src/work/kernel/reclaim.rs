//! A worker that asks the kernel for reclaim.
use anyhow::{bail, Context, Result};
use protocol::work::{Ask, AskBy};
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::fs::File;
use std::time::Duration;

use super::whole_machine;
use crate::boot::cgroups::cgroup_of;
use crate::channel::{now_ms, Channel};
use crate::kernel_files::write;
use crate::paths::data_path;
use crate::work::files::read::{read_all, resident_share, CHUNK};
use crate::work::stop::stopping;

/// Each period: reads the file, asks for reclaim, and observes the share of the file that is left.
pub fn ask(worker: &str, ask: &Ask, channel: &Channel) -> Result<()> {
    let path = data_path(&ask.file);
    let amount = ask.amount.bytes();
    let mut buffer = vec![0u8; CHUNK];
    while !stopping() {
        let begin = now_ms();
        let mut given = None;
        let mut file = File::open(&path).with_context(|| format!("opening {path}"))?;
        read_all(&mut file, &mut buffer).with_context(|| format!("reading {path}"))?;
        match ask.by {
            AskBy::CgroupReclaim => {
                memory_reclaim(&cgroup_of(worker, false), amount)?;
            }
            AskBy::RootReclaim => memory_reclaim("/sys/fs/cgroup", amount)?,
            AskBy::Pageout => pageout(&file).with_context(|| format!("paging out {path}"))?,
            AskBy::DropCaches => write("/proc/sys/vm/drop_caches", "1")?,
            AskBy::Hibernation => given = Some(whole_machine::hibernation()?),
            AskBy::Cma => given = Some(whole_machine::cma()?),
            AskBy::Offline => given = Some(whole_machine::offline()?),
        }
        let left = resident_share(&file).with_context(|| format!("cachestat of {path}"))?;
        channel.observe(format!("{worker}.left"), begin, left);
        if let Some(given) = given {
            channel.observe(format!("{worker}.given"), begin, given);
        }
        if !stopping() {
            std::thread::sleep(Duration::from_millis(ask.period_ms));
        }
    }
    Ok(())
}

/// Writes `memory.reclaim`. EAGAIN means that the kernel could not reclaim all of the amount, which is a
/// result too.
fn memory_reclaim(cgroup: &str, amount: u64) -> Result<()> {
    let path = format!("{cgroup}/memory.reclaim");
    match std::fs::write(&path, amount.to_string()) {
        Ok(()) => Ok(()),
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(()),
        Err(error) => bail!("writing {amount} to {path}: {error}"),
    }
}

/// Maps the file, touches all of it, and has it reclaimed with MADV_PAGEOUT.
fn pageout(file: &File) -> Result<()> {
    let len = file.metadata()?.len() as usize;
    // SAFETY: a fresh read-only mapping of a file that nothing writes to. The mapping is unmapped below
    // and used by nothing else.
    unsafe {
        let at = mmap(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            0,
        )?;
        for offset in (0..len).step_by(4096) {
            std::ptr::read_volatile(at.cast::<u8>().add(offset));
        }
        let result = libc::madvise(at, len, libc::MADV_PAGEOUT);
        let error = std::io::Error::last_os_error();
        rustix::mm::munmap(at, len)?;
        if result != 0 {
            return Err(error.into());
        }
    }
    Ok(())
}
