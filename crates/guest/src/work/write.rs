//! Workers that write files to the scratch disk.
use anyhow::{Context, Result};
use std::fs::File;
use std::io::Write;
use std::time::Duration;

use super::{stopping, Random};
use crate::channel::{now_ms, Channel};
use crate::setup::SCRATCH;

/// `dd bs=1M`.
const BLOCK: usize = 1 << 20;

/// Writes files and deletes them again, `keep` behind.
pub fn churn(
    worker: &str,
    size: u64,
    keep: u32,
    rest_ms: u64,
    seed: u64,
    channel: &Channel,
) -> Result<()> {
    let own = std::process::id();
    let path = |number: u64| format!("{SCRATCH}/{worker}-{own}-{number}");
    let mut block = vec![0u8; BLOCK];
    Random::new(seed).fill(&mut block);
    for number in 0u64.. {
        if stopping() {
            break;
        }
        if let Some(old) = number.checked_sub(u64::from(keep) + 1) {
            let old = path(old);
            std::fs::remove_file(&old).with_context(|| format!("deleting {old}"))?;
        }
        let begin = now_ms();
        put(&path(number), size, &block)?;
        channel.observe(format!("{worker}.file_ms"), begin, now_ms() - begin);
        std::thread::sleep(Duration::from_millis(rest_ms));
    }
    Ok(())
}

/// A file of `size` bytes, `block` after `block`.
pub(super) fn put(path: &str, size: u64, block: &[u8]) -> Result<()> {
    let mut file = File::create(path).with_context(|| format!("creating {path}"))?;
    let mut left = size;
    while left > 0 {
        let n = left.min(block.len() as u64) as usize;
        file.write_all(&block[..n])
            .with_context(|| format!("writing {path}"))?;
        left -= n as u64;
    }
    Ok(())
}

/// Where the tree is, below the scratch disk.
pub(super) const TREE: &str = "tree";

/// A source file of the tree.
pub(super) fn source(number: u32) -> String {
    // No folder with thousands of files: looking names up would be what is measured.
    format!("{SCRATCH}/{TREE}/{:02}/{number}", number % 64)
}

/// `size`, but for half to three times of it, by a number drawn from 0 to 1: most are small.
pub(super) fn varied(size: u64, drawn: f64) -> u64 {
    (size as f64 * (0.5 + 2.5 * drawn.powi(3))) as u64
}

/// Writes the tree that a compile reads.
pub fn tree(worker: &str, files: u32, size: u64, seed: u64, channel: &Channel) -> Result<()> {
    let begin = now_ms();
    let mut random = Random::new(seed);
    let mut block = vec![0u8; BLOCK];
    random.fill(&mut block);
    for folder in 0..64.min(files) {
        let folder = format!("{SCRATCH}/{TREE}/{folder:02}");
        std::fs::create_dir_all(&folder).with_context(|| format!("making {folder}"))?;
    }
    for number in 0..files {
        put(&source(number), varied(size, random.share()), &block)?;
    }
    rustix::fs::sync();
    channel.observe(format!("{worker}.done_ms"), begin, now_ms() - begin);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_vary_from_half_to_three_times_and_are_about_right_on_the_whole() {
        assert_eq!((varied(1000, 0.0), varied(1000, 1.0)), (500, 3000));
        let mut random = Random::new(7);
        let sizes = (0..10_000).map(|_| varied(1000, random.share()));
        let mean = sizes.sum::<u64>() / 10_000;
        assert!((1000..1250).contains(&mean), "{mean}");
    }
}
