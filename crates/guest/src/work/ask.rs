//! Workers that ask the kernel for something: reclaim, or other settings.
use anyhow::{bail, Context, Result};
use raw::spec::Ask;
use rustix::mm::{mmap, MapFlags, ProtFlags};
use std::fs::File;
use std::time::Duration;

use super::read::{read_all, resident_share, CHUNK};
use super::{asked_of_all, data_path, stopping};
use crate::channel::{now_ms, Channel};
use crate::setup;

/// Reads the file, asks, and says what is left of it, each period.
pub fn reclaim(
    worker: &str,
    name: &str,
    by: Ask,
    amount: u64,
    period_ms: u64,
    channel: &Channel,
) -> Result<()> {
    let path = data_path(name);
    let mut buffer = vec![0u8; CHUNK];
    while !stopping() {
        let begin = now_ms();
        let mut given = None;
        let mut file = File::open(&path).with_context(|| format!("opening {path}"))?;
        read_all(&mut file, &mut buffer).with_context(|| format!("reading {path}"))?;
        match by {
            Ask::CgroupReclaim => {
                memory_reclaim(&setup::cgroup_of(worker, false), amount)?;
            }
            Ask::RootReclaim => memory_reclaim("/sys/fs/cgroup", amount)?,
            Ask::Pageout => pageout(&file).with_context(|| format!("paging out {path}"))?,
            Ask::DropCaches => setup::write("/proc/sys/vm/drop_caches", "1")?,
            Ask::Hibernation => given = Some(asked_of_all::hibernation()?),
            Ask::Cma => given = Some(asked_of_all::cma()?),
            Ask::Offline => given = Some(asked_of_all::offline()?),
        }
        let left = resident_share(&file).with_context(|| format!("cachestat of {path}"))?;
        channel.observe(format!("{worker}.left"), begin, left);
        if let Some(given) = given {
            channel.observe(format!("{worker}.given"), begin, given);
        }
        if !stopping() {
            std::thread::sleep(Duration::from_millis(period_ms));
        }
    }
    Ok(())
}

/// Looks for names that are not there, each a new one, and says each second how many it were.
pub fn names(worker: &str, channel: &Channel) -> Result<()> {
    let own = std::process::id();
    let (mut begin, mut count) = (now_ms(), 0u64);
    for number in 0u64.. {
        if stopping() {
            break;
        }
        // As long as a name may be: more memory to each.
        let path = data_path(&format!("{own}-{number:0>200}"));
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => count += 1,
            Err(error) => return Err(error).with_context(|| format!("looking for {path}")),
            Ok(_) => bail!("{path} is there"),
        }
        let now = now_ms();
        if now - begin >= 1000.0 {
            channel.observe(format!("{worker}.names"), begin, count as f64);
            (begin, count) = (now, 0);
        }
    }
    Ok(())
}

/// EAGAIN says that not all of it could be had, which is what is to be seen.
fn memory_reclaim(cgroup: &str, amount: u64) -> Result<()> {
    let path = format!("{cgroup}/memory.reclaim");
    match std::fs::write(&path, amount.to_string()) {
        Ok(()) => Ok(()),
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(()),
        Err(error) => bail!("writing {amount} to {path}: {error}"),
    }
}

/// Maps the file, touches all of it, and gives it up with MADV_PAGEOUT.
fn pageout(file: &File) -> Result<()> {
    let len = file.metadata()?.len() as usize;
    // SAFETY: a fresh read-only mapping of a file that nothing writes to; it is unmapped below and
    // used by nothing else.
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

/// Writes kernel files in turn, `count` times in all, and reads each back.
pub fn knobs(
    worker: &str,
    writes: &[(String, String)],
    count: u64,
    period_ms: u64,
    channel: &Channel,
) -> Result<()> {
    let begin = now_ms();
    let (mut wrong, mut longest) = (0u64, 0f64);
    let mut written = 0;
    for (path, value) in writes.iter().cycle().take(count as usize) {
        if stopping() {
            break;
        }
        let start = now_ms();
        setup::write(path, value)?;
        longest = longest.max(now_ms() - start);
        written += 1;
        let back = crate::counters::read(path)?;
        if number(&back) != number(value) {
            wrong += 1;
            if wrong <= 10 {
                let back = back.trim();
                channel.event("wrong-knob", format!("{path}: {value:?} reads {back:?}"));
            }
        }
        std::thread::sleep(Duration::from_millis(period_ms));
    }
    channel.observe(format!("{worker}.written"), begin, written as f64);
    channel.observe(format!("{worker}.wrong"), begin, wrong as f64);
    channel.observe(format!("{worker}.longest_ms"), begin, longest);
    Ok(())
}

/// lru_gen reads `0x0007` after 7 was written.
fn number(text: &str) -> Result<i64, &str> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).map_err(|_| text),
        None => text.parse().map_err(|_| text),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn values_are_compared_as_numbers() {
        assert_eq!(number("0x0007\n"), number("7"));
        assert_eq!(number("15\n"), number(" 15"));
        assert_ne!(number("1"), number("15"));
        assert_ne!(number("always"), number("never"));
    }
}
