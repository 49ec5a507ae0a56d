//! One file of a machine replaced by any bytes: samples, observations and decisions of both loops do not panic.
//!
//! The first byte says which file; script/fuzz makes the seeds in the same order.
#![no_main]
use hotsetd::observe::{fast_sampler::FastSampler, machine, observation::Observer};
use hotsetd::os::clock::Clock;
use kernfs::{Options, Root, Sample, Sampler, Sources};
use libfuzzer_sys::fuzz_target;
use policy::protect::Protect;
use policy::{Decision, Policy};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const FILES: [&str; 12] = [
    "proc/vmstat",
    "proc/zoneinfo",
    "proc/meminfo",
    "proc/buddyinfo",
    "proc/pressure/memory",
    "proc/sys/fs/dentry-state",
    "proc/sys/fs/inode-nr",
    "proc/sys/vm/watermark_scale_factor",
    "sys/devices/system/node/node0/meminfo",
    "sys/devices/system/node/node0/vmstat",
    "sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    "sys/kernel/mm/lru_gen/enabled",
];

/// A copy in memory of a recorded machine.
fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = PathBuf::from(format!("/dev/shm/hotset-fuzz-{}", std::process::id()));
        let from = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../fixtures/kernfs/7.3-two-nodes"
        );
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .arg(from)
            .arg(&root)
            .status();
        assert!(copied.unwrap().success());
        for file in FILES {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
        }
        root
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&which, text)) = data.split_first() else {
        return;
    };
    let root = root();
    let path = root.join(FILES[usize::from(which) % FILES.len()]);
    let good = std::fs::read(&path).unwrap_or_default();
    let options = Options {
        sources: Sources::ALL,
        ..Options::default()
    };
    let mut sampler = Sampler::new(Root::new(root), options);
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    let page = sampler.machine().page_size;
    let mut policy = Policy::new(
        policy::Config::default(),
        machine::find(root, "7.3.0", page, &sample),
    );
    let mut fast = FastSampler::new(root, Clock::default());
    let mut protect = Protect::new(policy::protect::Config::default(), fast.page_size());
    let mut observer = Observer::default();
    let mut decision = Decision::default();
    for step in 0..4 {
        // Good, bad, bad, good again.
        match step {
            1 => std::fs::write(&path, text).unwrap(),
            3 => std::fs::write(&path, &good).unwrap(),
            _ => {}
        }
        sampler.sample(&mut sample);
        sample.t = 100.0 + f64::from(step);
        observer.take(&sample);
        observer.show(|seen| policy.observe(seen, &mut decision));
        fast.sample(true, 0, |seen| protect.decide(seen));
    }
});
