//! Fills the data disk, once for many trials.
use anyhow::{Context, Result};
use protocol::spec::GuestSpec;
use protocol::wire::Line;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use crate::boot::disks;
use crate::channel::Channel;
use crate::paths::data_path;
use crate::paths::DATA;
use crate::xorshift::Random;

/// Writes each file with seeded, incompressible content: a host, a file system or zram could keep a
/// page of zeros at no cost.
///
/// # Errors
/// When a file cannot be written, naming it.
pub fn run(spec: &GuestSpec, files: &BTreeMap<String, u64>, channel: &Channel) -> Result<()> {
    disks::mount_data(&spec.disk, false)?;
    let total: u64 = files.values().sum();
    let mut done = 0;
    let mut reported = 0;
    let mut random = Random::new(spec.seed);
    let mut buffer = vec![0u8; 1 << 20];
    for (name, size) in files {
        let path = data_path(name);
        let mut file = File::create(&path).with_context(|| format!("creating {path}"))?;
        let mut left = *size;
        while left > 0 {
            let n = left.min(buffer.len() as u64) as usize;
            random.fill(&mut buffer[..n]);
            file.write_all(&buffer[..n])
                .with_context(|| format!("writing {path}"))?;
            left -= n as u64;
            done += n as u64;
            if done - reported >= 32 << 20 {
                reported = done;
                channel.send(&Line::Progress {
                    fraction: done as f64 / total as f64,
                });
            }
        }
        file.sync_all().with_context(|| format!("syncing {path}"))?;
    }
    rustix::mount::unmount(DATA, rustix::mount::UnmountFlags::empty())
        .context("unmounting the data disk")
}
