//! CPU time of one sample: `cargo bench -p kernfs --bench sample [-- ROOT]`.
//!
//! Thread CPU time, kernel's part included: writing /proc/vmstat and zoneinfo is most of it.
use kernfs::{Options, Root, Sample, Sampler, Sources};
use rustix::time::{clock_gettime, ClockId};
use std::time::Duration;

const WARM: u32 = 50;
const ROUNDS: usize = 1000;

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

fn main() {
    // cargo bench hands its own options along.
    let root = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let root = Root::new(root.unwrap_or_else(|| "/".into()));
    let machine = kernfs::samples::Machine::of(&root);
    println!(
        "{}: Linux {}, {} CPUs; microseconds of CPU a sample, {ROUNDS} samples, back to back and 10 ms apart",
        root.directory().display(),
        machine.release,
        machine.cpus
    );
    println!(
        "{:28} {:>8} {:>8} {:>8} {:>8}",
        "", "median", "p99", "median", "p99"
    );
    for (name, sources) in [
        ("the loop's sources", Sources::LOOP),
        ("all sources", Sources::ALL),
        ("vmstat", Sources::VMSTAT),
        ("zoneinfo", Sources::ZONEINFO),
        ("buddyinfo", Sources::BUDDYINFO),
        ("meminfo", Sources::MEMINFO),
        ("pressure/memory", Sources::PSI_MEMORY),
        ("dentry-state, inode-nr", Sources::DENTRY),
        ("knobs", Sources::KNOBS),
        (
            "zoneinfo, huge page pools",
            Sources::ZONEINFO | Sources::HUGE,
        ),
        (
            "zoneinfo, files of nodes",
            Sources::ZONEINFO | Sources::NODE_FILES,
        ),
    ] {
        let options = Options {
            sources,
            ..Options::default()
        };
        let mut sampler = Sampler::new(root.clone(), options);
        let mut sample = Sample::default();
        (0..WARM).for_each(|_| sampler.sample(&mut sample));
        print!("{name:28}");
        for pause in [Duration::ZERO, Duration::from_millis(10)] {
            let rounds = if pause.is_zero() { ROUNDS } else { ROUNDS / 10 };
            let mut times: Vec<Duration> = (0..rounds)
                .map(|_| {
                    std::thread::sleep(pause);
                    let before = cpu();
                    sampler.sample(&mut sample);
                    cpu() - before
                })
                .collect();
            times.sort();
            let us = |time: Duration| time.as_secs_f64() * 1e6;
            print!(
                " {:8.1} {:8.1}",
                us(times[rounds / 2]),
                us(times[rounds * 99 / 100])
            );
        }
        println!();
        for error in &sample.errors {
            println!("    {error}");
        }
    }
}
