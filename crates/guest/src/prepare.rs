//! Fills the data disk, once for many trials.
use anyhow::{Context, Result};
use raw::spec::GuestSpec;
use raw::wire::Line;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use crate::channel::Channel;
use crate::work::Random;
use crate::{setup, work};

/// Writes each file with seeded, incompressible content: a page of zeros could be kept for nothing
/// by a host, a file system or zram.
pub fn run(spec: &GuestSpec, files: &BTreeMap<String, u64>, channel: &Channel) -> Result<()> {
    setup::disk(&spec.disk, false)?;
    let total: u64 = files.values().sum();
    let mut done = 0;
    let mut said = 0;
    let mut random = Random::new(spec.seed);
    let mut buffer = vec![0u8; 1 << 20];
    for (name, size) in files {
        let path = work::data_path(name);
        let mut file = File::create(&path).with_context(|| format!("creating {path}"))?;
        let mut left = *size;
        while left > 0 {
            let n = left.min(buffer.len() as u64) as usize;
            random.fill(&mut buffer[..n]);
            file.write_all(&buffer[..n])
                .with_context(|| format!("writing {path}"))?;
            left -= n as u64;
            done += n as u64;
            if done - said >= 32 << 20 {
                said = done;
                channel.say(&Line::Progress {
                    fraction: done as f64 / total as f64,
                });
            }
        }
        file.sync_all().with_context(|| format!("syncing {path}"))?;
    }
    rustix::mount::unmount(setup::DATA, rustix::mount::UnmountFlags::empty())
        .context("unmounting the data disk")
}
