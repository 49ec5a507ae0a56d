//! Counters and gauges of one moment, by the names of the lab's records.
use anyhow::{ensure, Result};
use kernfs::{Options, Root, Sample, Sampler, Sources};
use protocol::wire::Counters;

/// Reads the machine's files, which stay open.
pub struct Reader {
    sampler: Sampler,
    sample: Sample,
}

impl Reader {
    /// # Errors
    /// There is no kernel to measure below the root.
    pub fn open(root: &Root) -> Result<Reader> {
        let options = Options {
            sources: Sources::VMSTAT | Sources::MEMINFO | Sources::PSI_MEMORY,
            ..Options::default()
        };
        let mut reader = Reader {
            sampler: Sampler::new(root.clone(), options),
            sample: Sample::default(),
        };
        reader.sampler.sample(&mut reader.sample);
        let fresh = reader.sample.fresh;
        ensure!(
            fresh.contains(Sources::VMSTAT | Sources::MEMINFO),
            "{}: nothing to measure: {}",
            names::shown(root.directory()),
            { reader.sample.errors.first() }.map_or(String::new(), ToString::to_string)
        );
        Ok(reader)
    }

    /// Counters since boot. Those that this kernel lacks are absent.
    pub fn counters(&mut self) -> Counters {
        self.sampler.sample(&mut self.sample);
        let mut found = Counters::new();
        let vmstat = &self.sample.vmstat;
        for (name, value) in vmstat.fields.iter() {
            found.insert(format!("vmstat.{name}"), value as f64);
        }
        // Kernels count by zone, and by type.
        for (name, value) in [
            ("vmstat.allocstall", vmstat.allocstall()),
            ("vmstat.workingset_refault", vmstat.workingset_refault()),
        ] {
            found.extend(value.map(|value| (name.to_string(), value as f64)));
        }
        let psi = &self.sample.psi.memory;
        for (name, stall) in [("some", psi.some), ("full", psi.full)] {
            let total = stall.map(|stall| stall.total_us as f64);
            found.extend(total.map(|total| (format!("psi.memory.{name}_us"), total)));
        }
        found
    }

    /// Memory in MiB at this moment.
    pub fn gauges(&mut self) -> Counters {
        self.sampler.sample_only(Sources::MEMINFO, &mut self.sample);
        let now = &self.sample.meminfo;
        let mib = |kib: u64| kib as f64 / 1024.0;
        let found = [
            ("memory.free_mib", now.mem_free()),
            ("memory.available_mib", now.mem_available()),
            ("memory.cached_mib", now.cached()),
            ("memory.anonymous_mib", now.anon_pages()),
            ("memory.dirty_mib", now.dirty()),
        ];
        let found = found.into_iter();
        found
            .filter_map(|(name, kib)| Some((name.to_string(), mib(kib?))))
            .collect()
    }

    /// The memory file of this moment.
    pub fn meminfo(&mut self) -> &kernfs::meminfo::Meminfo {
        self.sampler.sample_only(Sources::MEMINFO, &mut self.sample);
        &self.sample.meminfo
    }
}
