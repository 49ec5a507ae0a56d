//! What the machine says by itself, where no daemon runs.
use crate::shell::document;
use anyhow::Result;
use doctor::Machine;
use kernfs::{Options, Root, Sample, Sampler};
use serde::Serialize;
use std::fmt::{self, Write};
use units::format_bytes;

/// One look at the machine.
#[derive(Serialize)]
pub struct Look {
    machine: Machine,
    /// Bytes of a page.
    page_size: u64,
    nodes: Vec<Node>,
    /// Free swap, bytes.
    swap_free_bytes: u64,
    /// `None`: the kernel does not measure stalls.
    memory_pressure: Option<Pressure>,
    since_boot: SinceBoot,
}

/// Pages of a node.
#[derive(Serialize)]
struct Node {
    id: u32,
    free_pages: u64,
    min: u64,
    low: u64,
    high: u64,
    anon_pages: u64,
    file_pages: u64,
}

/// Percent of the last 10 s in which tasks stalled on memory.
#[derive(Serialize)]
struct Pressure {
    some_avg10: f64,
    full_avg10: f64,
}

#[derive(Serialize)]
struct SinceBoot {
    allocstall: Option<u64>,
    workingset_refault: Option<u64>,
    oom_kill: Option<u64>,
}

impl Look {
    /// Reads the machine below `root`.
    pub fn at(root: &Root) -> Look {
        let mut sampler = Sampler::new(root.clone(), Options::default());
        let mut sample = Sample::default();
        sampler.sample(&mut sample);
        let nodes = sample.nodes.iter().map(|node| Node {
            id: node.id,
            free_pages: node.free,
            min: node.watermarks.min,
            low: node.watermarks.low,
            high: node.watermarks.high,
            anon_pages: node.anon(),
            file_pages: node.file(),
        });
        let memory = &sample.psi.memory;
        Look {
            machine: Machine::of(root),
            page_size: sampler.machine().page_size,
            nodes: nodes.collect(),
            swap_free_bytes: sample.meminfo.swap_free().unwrap_or(0) * 1024,
            memory_pressure: memory.some.map(|some| Pressure {
                some_avg10: some.avg10,
                full_avg10: memory.full.map_or(0.0, |full| full.avg10),
            }),
            since_boot: SinceBoot {
                allocstall: sample.vmstat.allocstall(),
                workingset_refault: sample.vmstat.workingset_refault(),
                oom_kill: sample.vmstat.oom_kill(),
            },
        }
    }

    /// The look as JSON.
    pub fn json(&self) -> Result<String> {
        document("machine", 1, self)
    }

    /// The look as text for a person.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        let pages = |pages: u64| format_bytes((pages * self.page_size) as f64);
        writeln!(to, "{}", self.machine)?;
        for node in &self.nodes {
            writeln!(to, "\nNode {}: {} free", node.id, pages(node.free_pages))?;
            let (min, low, high) = (pages(node.min), pages(node.low), pages(node.high));
            writeln!(to, "  watermarks {min} min, {low} low, {high} high")?;
            let (anon, file) = (pages(node.anon_pages), pages(node.file_pages));
            writeln!(to, "  {anon} anonymous, {file} of files")?;
        }
        writeln!(to)?;
        if self.machine.swap_bytes > 0 {
            let free = format_bytes(self.swap_free_bytes as f64);
            writeln!(to, "Swap: {free} free")?;
        }
        if let Some(pressure) = &self.memory_pressure {
            writeln!(
                to,
                "Stalled on memory in the last 10 s: some tasks {:.1}%, all tasks {:.1}%",
                pressure.some_avg10, pressure.full_avg10
            )?;
        }
        let known = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
        let (boot, refaults) = (&self.since_boot, self.since_boot.workingset_refault);
        writeln!(
            to,
            "Since boot: {} allocation stalls, {} refaults, {} kills by the kernel",
            known(boot.allocstall),
            refaults.map_or("?".to_owned(), pages),
            known(boot.oom_kill)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_recorded_kernel_gives_a_text_of_80_columns() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernfs");
        let mut machines = 0;
        for entry in std::fs::read_dir(fixtures).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                machines += 1;
                let text = Look::at(&Root::new(&path)).text();
                assert!(text.contains("Node 0: "), "{text}");
                let long = text.lines().find(|line| line.chars().count() > 80);
                assert_eq!(long, None, "{path:?}");
            }
        }
        assert!(machines > 8);
    }
}
