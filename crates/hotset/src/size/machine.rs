//! The machine's counters.
use super::look::Look;
use anyhow::{bail, Result};
use kernfs::samples::Record;
use kernfs::{Options, Root, Sample, Sampler, Sources};
use std::path::Path;

/// Counters of /proc/vmstat, under the names of several kernels: pages of files that came back, and pages of programs
/// that left and that came back.
const REFAULTS: &[&str] = &["workingset_refault_file", "workingset_refault"];
const OUT: &[&str] = &["pgsteal_anon", "pswpout"];
const BACK: &[&str] = &["workingset_refault_anon", "pswpin"];

pub struct Machine {
    sampler: Sampler,
    sample: Sample,
    pub page_size: u64,
}

impl Machine {
    /// # Errors
    /// /proc is not there, or not readable.
    pub fn new() -> Result<Machine> {
        let options = Options {
            sources: Sources::VMSTAT | Sources::MEMINFO | Sources::PSI_MEMORY,
            ..Options::default()
        };
        let mut sampler = Sampler::new(Root::new(Path::new("/")), options);
        let mut sample = Sample::default();
        sampler.sample(&mut sample);
        if !sample.fresh.contains(Sources::VMSTAT | Sources::MEMINFO) {
            bail!("/proc/vmstat or /proc/meminfo cannot be read");
        }
        let page_size = sampler.machine().page_size.max(1024);
        Ok(Machine {
            sampler,
            sample,
            page_size,
        })
    }

    pub fn look(&mut self) -> Look {
        self.sampler.sample(&mut self.sample);
        let record = Record::of(&self.sample);
        let bytes = |name: &str| record.meminfo.get(name).copied().unwrap_or(0) << 10;
        let count = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| record.vmstat.get(*name));
            found.next().copied().unwrap_or(0)
        };
        let psi = record.psi.get("memory").and_then(|psi| psi.some);
        Look {
            memory: bytes("MemTotal"),
            available: bytes("MemAvailable"),
            refaults: count(REFAULTS),
            refaults_anon: count(BACK),
            out: count(OUT),
            waited_us: psi.map(|some| some.total),
        }
    }
}
