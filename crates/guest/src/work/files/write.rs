//! Workers that write files to the scratch disk.
use anyhow::{Context, Result};
use protocol::work::Churn;
use std::fs::File;
use std::io::Write;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::paths::SCRATCH;
use crate::work::stop::stopping;
use crate::xorshift::Random;

/// Bytes of one write, as `dd bs=1M`.
const BLOCK: usize = 1 << 20;

/// Writes files, and deletes all but the last few.
pub fn churn(worker: &str, churn: &Churn, seed: u64, channel: &Channel) -> Result<()> {
    let own = std::process::id();
    let path = |number: u64| format!("{SCRATCH}/{worker}-{own}-{number}");
    let mut block = vec![0u8; BLOCK];
    Random::new(seed).fill(&mut block);
    for number in 0u64.. {
        if stopping() {
            break;
        }
        if let Some(old) = number.checked_sub(u64::from(churn.keep) + 1) {
            let old = path(old);
            std::fs::remove_file(&old).with_context(|| format!("deleting {old}"))?;
        }
        let begin = now_ms();
        put(&path(number), churn.size.bytes(), &block)?;
        channel.observe(format!("{worker}.file_ms"), begin, now_ms() - begin);
        std::thread::sleep(Duration::from_millis(churn.rest_ms));
    }
    Ok(())
}

/// Writes a file of `size` bytes, `block` after `block`.
pub(in crate::work) fn put(path: &str, size: u64, block: &[u8]) -> Result<()> {
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

/// Folder of the tree on the scratch disk.
pub(in crate::work) const TREE: &str = "tree";

/// Path of a source file of the tree.
pub(in crate::work) fn source(number: u32) -> String {
    // Folders stay small, so that looking names up does not dominate.
    format!("{SCRATCH}/{TREE}/{:02}/{number}", number % 64)
}

/// `size` times a factor from 0.5 to 3, by a number drawn from 0 to 1. Most factors are small.
pub(in crate::work) fn varied(size: u64, drawn: f64) -> u64 {
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
    fn sizes_vary_from_half_to_three_times_with_a_mean_near_the_size() {
        assert_eq!((varied(1000, 0.0), varied(1000, 1.0)), (500, 3000));
        let mut random = Random::new(7);
        let sizes = (0..10_000).map(|_| varied(1000, random.share()));
        let mean = sizes.sum::<u64>() / 10_000;
        assert!((1000..1250).contains(&mean), "{mean}");
    }
}
