//! A job like a compile: see [`protocol::work::Compile`] for the model.
use anyhow::{bail, Context, Result};
use protocol::work::{Compile, Fill};
use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Child, Command};
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::paths::SCRATCH;
use crate::work::files::read::{read_all, resident, CHUNK};
use crate::work::files::write::{put, source, varied};
use crate::work::memory::anon;
use crate::work::stop::stopping;
use crate::xorshift::Random;

fn object(worker: &str, unit: u32) -> String {
    format!("{SCRATCH}/{worker}-{unit}.o")
}

/// Runs all units, `jobs` at once, and links them.
pub fn all(worker: &str, job: &Compile, channel: &Channel) -> Result<()> {
    let begin = now_ms();
    let mut running: BTreeMap<u32, Child> = BTreeMap::new();
    let mut next = 0;
    while next < job.units || !running.is_empty() {
        if stopping() {
            // Stopped before the end: nothing is observed.
            for child in running.values_mut() {
                let _ = child.kill();
                let _ = child.wait();
            }
            return Ok(());
        }
        while next < job.units && running.len() < job.jobs as usize {
            let child = Command::new("/init")
                .args(["work", worker, &next.to_string()])
                .spawn()
                .with_context(|| format!("starting unit {next}"))?;
            running.insert(next, child);
            next += 1;
        }
        let mut done = Vec::new();
        for (unit, child) in &mut running {
            if let Some(status) = child.try_wait().context("waiting for a unit")? {
                if !status.success() {
                    bail!("unit {unit} ended with {status}");
                }
                done.push(*unit);
            }
        }
        running.retain(|unit, _| !done.contains(unit));
        if done.is_empty() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    link(worker, job)?;
    channel.observe(format!("{worker}.done_ms"), begin, now_ms() - begin);
    Ok(())
}

fn link(worker: &str, job: &Compile) -> Result<()> {
    let path = format!("{SCRATCH}/{worker}");
    let mut program = File::create(&path).with_context(|| format!("creating {path}"))?;
    for unit in 0..job.units {
        let path = object(worker, unit);
        let mut file = File::open(&path).with_context(|| format!("opening {path}"))?;
        std::io::copy(&mut file, &mut program).with_context(|| format!("linking {path}"))?;
    }
    Ok(())
}

/// One unit, a process of its own.
pub fn unit(worker: &str, job: &Compile, number: u32, seed: u64, channel: &Channel) -> Result<()> {
    let begin = now_ms();
    // Seeded by unit: the same work in every arm, whatever the order in which units end.
    let mut random = Random::new(seed ^ (u64::from(number) << 32));
    let mut buffer = vec![0u8; CHUNK];
    let (mut pages, mut hits) = (0, 0);
    let own = number % job.files;
    let headers: Vec<u32> = (0..job.headers)
        .map(|_| header(job.files, random.share()))
        .collect();
    for file in std::iter::once(own).chain(headers) {
        let path = source(file);
        let mut file = File::open(&path).with_context(|| format!("opening {path}"))?;
        let (cached, all) = resident(&file).with_context(|| format!("cachestat of {path}"))?;
        hits += cached;
        pages += all;
        read_all(&mut file, &mut buffer).with_context(|| format!("reading {path}"))?;
    }
    let memory = anon::map(varied(job.memory.bytes(), random.share()) as usize)?;
    for page in memory.chunks_mut(4096) {
        random.page(page, Fill::Mixed);
    }
    let mut sum = 0u64;
    for _ in 0..job.rounds {
        for word in memory.chunks_exact(8) {
            let word = u64::from_le_bytes(word.try_into().unwrap_or_default());
            sum = (sum ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }
    // The object depends on the sum, so that the compiler keeps the computation.
    Random::new(sum).fill(&mut buffer);
    let path = object(worker, number);
    put(&path, varied(job.object.bytes(), random.share()), &buffer)?;
    let share = hits as f64 / pages.max(1) as f64;
    channel.observe(format!("{worker}.hit"), begin, share);
    channel.observe(format!("{worker}.unit_ms"), begin, now_ms() - begin);
    Ok(())
}

/// The header for a number drawn from 0 to 1. Files with lower numbers are read by more units.
fn header(files: u32, drawn: f64) -> u32 {
    ((f64::from(files) * drawn.powi(3)) as u32).min(files - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_the_headers_gets_nearly_half_of_the_reads() {
        let mut random = Random::new(3);
        let drawn: Vec<u32> = (0..10_000).map(|_| header(1000, random.share())).collect();
        assert!(drawn.iter().all(|file| *file < 1000));
        let popular = drawn.iter().filter(|file| **file < 100).count();
        // A tenth of the files, cubic: the 0.1^(1/3) = 46% quantile.
        assert!((4400..4900).contains(&popular), "{popular}");
        assert_eq!(header(5, 1.0), 4);
    }
}
