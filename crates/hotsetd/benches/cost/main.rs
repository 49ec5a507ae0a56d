//! The cost of the daemon: CPU a sample, memory, wakeups. On this machine's real /proc, in a dry run,
//! which writes nothing; memory also locked, on a copy of /proc's files. Besides 10,000 real processes, which the
//! benchmark starts and ends, and a zoneinfo of 256 CPUs, which it makes of this machine's.
//!
//! `cargo bench -p hotsetd`; seconds of watching as an argument: `cargo bench -p hotsetd -- 120`.
mod crowd;
mod machines;

use hotsetd::config::settings::Config;
use hotsetd::runtime::daemon::Daemon;
use hotsetd::telemetry::log::Log;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SAMPLES: usize = 2000;

fn cpu_of_thread_s() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is ours to write; the clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// CPU of each sample in milliseconds, sorted.
fn samples(root: &Path) -> Vec<f64> {
    let config = Config {
        dry_run: true,
        ..Config::default()
    };
    let mut daemon = Daemon::new(root, config, Log::to_nowhere(3)).expect("a daemon");
    let mut costs: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let before = cpu_of_thread_s();
            daemon.step();
            (cpu_of_thread_s() - before) * 1e3
        })
        .collect();
    costs.sort_by(f64::total_cmp);
    costs
}

/// CPU of a quick sample in milliseconds, a mean.
fn quick_sample(root: &Path) -> f64 {
    use hotsetd::observe::fast_sampler::FastSampler;
    use hotsetd::os::clock::Clock;
    let mut fast = FastSampler::new(root, Clock::System);
    // The first reads files that change slowly.
    fast.sample(true, 0, |_| {}).expect("a sample");
    let begun = cpu_of_thread_s();
    for _ in 0..SAMPLES {
        fast.sample(false, 0, |seen| std::hint::black_box(seen.now_s))
            .expect("a sample");
    }
    (cpu_of_thread_s() - begun) * 1e3 / SAMPLES as f64
}

/// Quick samples, and the reading of zoneinfo, with 2 nodes and 256 CPUs.
fn many_cpus() {
    let root = tempfile::tempdir().expect("a folder");
    let text = machines::large(root.path(), 2, 256);
    let mut zoneinfo = kernfs::zoneinfo::Zoneinfo::default();
    let begun = cpu_of_thread_s();
    for _ in 0..100 {
        zoneinfo.parse(text.as_bytes()).expect("zoneinfo");
    }
    let parsed = (cpu_of_thread_s() - begun) * 10.0;
    assert_eq!(zoneinfo.nodes.len(), 2);
    println!(
        "2 nodes, 256 CPUs, files of a disk: {:.4} ms a quick sample; every 10 s {parsed:.3} ms for {} KiB of \
         zoneinfo",
        quick_sample(root.path()),
        text.len() >> 10
    );
}

/// A number out of /proc/PID/FILE.
fn of(child: &Child, file: &str, field: &str) -> f64 {
    let path = format!("/proc/{}/{file}", child.id());
    let text = std::fs::read_to_string(&path).expect("a process");
    let line = text
        .lines()
        .find(|line| line.starts_with(field))
        .expect("a field");
    line.split_whitespace()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .expect("a number")
}

/// CPU seconds of the daemon's first thread, which decides.
fn cpu_of(child: &Child) -> f64 {
    let path = format!("/proc/{}/schedstat", child.id());
    let text = std::fs::read_to_string(path).expect("a process");
    let first = text.split_whitespace().next().expect("a field");
    first.parse::<f64>().expect("a number") / 1e9
}

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_hotsetd"))
        .args(arguments)
        .stderr(Stdio::null())
        .spawn()
        .expect("hotsetd")
}

fn stop(mut child: Child) {
    // SAFETY: kill only sends; the child is ours and not yet waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    let _ = child.wait();
}

fn main() {
    // Cargo adds --bench.
    let seconds = std::env::args()
        .skip(1)
        .find_map(|word| word.parse().ok())
        .unwrap_or(60u64);
    let costs = samples(Path::new("/"));
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    let at = |share: f64| costs[(share * (costs.len() - 1) as f64) as usize];
    println!(
        "CPU a sample, {SAMPLES} of them: mean {mean:.4} ms, median {:.4}, 99% {:.4}",
        at(0.5),
        at(0.99)
    );

    let calm = quick_sample(Path::new("/"));
    println!("CPU a quick sample of [protect]: {calm:.4} ms");
    many_cpus();
    {
        let _crowd = crowd::Crowd::start(10_000);
        crowd::scans();
    }
    crowd::scans();

    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("hotsetd.conf");
    std::fs::write(&config, "[protect]\nworkingset_protection = true\n").expect("a file");
    let config = config.to_str().expect("a path");
    let dry = start(&["--dry-run", "--config", config, "--log", "stderr"]);
    // The first samples are close together: the daemon knows nothing yet.
    std::thread::sleep(Duration::from_secs(40));
    let wakes = of(&dry, "status", "voluntary_ctxt_switches:");
    let cpu_s = cpu_of(&dry);
    std::thread::sleep(Duration::from_secs(seconds));
    println!(
        "CPU in {seconds} s: {:.2} ms, {:.2} s an hour",
        (cpu_of(&dry) - cpu_s) * 1e3,
        (cpu_of(&dry) - cpu_s) * 3600.0 / seconds as f64
    );
    let wakes = of(&dry, "status", "voluntary_ctxt_switches:") - wakes;
    println!(
        "wakeups in {seconds} s: {wakes}, {:.2} in 10 s",
        wakes * 10.0 / seconds as f64
    );
    println!("resident, dry run: {} KiB", of(&dry, "status", "VmRSS:"));
    stop(dry);

    let root = tempfile::tempdir().expect("a folder");
    machines::copy_of_proc(root.path());
    let place = root.path().to_str().expect("a path");
    let locked = start(&["--root", place, "--log", "stderr"]);
    std::thread::sleep(Duration::from_secs(5));
    let (resident, lock) = (
        of(&locked, "status", "VmRSS:"),
        of(&locked, "status", "VmLck:"),
    );
    println!("resident, locked in memory: {resident} KiB (VmLck {lock} KiB)");
    stop(locked);
}
