//! The cost of the daemon: CPU a sample, memory, wakeups. On this machine's real /proc, in a dry run,
//! which writes nothing; memory also locked, on a copy of /proc's files.
//!
//! `cargo bench -p hotsetd`; seconds of watching as an argument: `cargo bench -p hotsetd -- 120`.
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

/// CPU of a quick sample, and of a sample of every process: milliseconds, means.
fn quick_samples(root: &Path) -> (f64, f64) {
    use hotsetd::observe::fast_sampler::FastSampler;
    use hotsetd::os::clock::Clock;
    use hotsetd::protect::oom::{processes::Processes, rules::Rules};
    let mut fast = FastSampler::new(root, Clock::System);
    let mut processes = Processes::open(root, fast.page_size()).expect("/proc");
    let begun = hotsetd::os::process::cpu_s();
    for _ in 0..SAMPLES {
        fast.sample(false, 0, |seen| std::hint::black_box(seen.now_s));
    }
    let middle = hotsetd::os::process::cpu_s();
    for _ in 0..100 {
        processes
            .sample(0.0, 0.0, &Rules::default())
            .expect("/proc");
    }
    let end = hotsetd::os::process::cpu_s();
    let mean = |seconds: f64, count: f64| seconds * 1e3 / count;
    (
        mean(middle - begun, SAMPLES as f64),
        mean(end - middle, 100.0),
    )
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

/// The files that the daemon reads, as they are now.
fn copy_of_proc(to: &Path) {
    for path in [
        "proc/vmstat",
        "proc/zoneinfo",
        "proc/buddyinfo",
        "proc/meminfo",
        "proc/pressure/memory",
        "proc/sys/fs/dentry-state",
        "proc/sys/fs/inode-nr",
        "proc/sys/vm/watermark_scale_factor",
        "proc/sys/vm/vfs_cache_pressure",
        "proc/sys/vm/compaction_proactiveness",
        "proc/sys/kernel/osrelease",
    ] {
        if let Ok(bytes) = std::fs::read(Path::new("/").join(path)) {
            let path = to.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, bytes).expect("a copy");
        }
    }
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

    let (calm, scan) = quick_samples(Path::new("/"));
    println!("CPU a quick sample of [protect]: {calm:.4} ms, of every process {scan:.4} ms");

    let dry = start(&["--dry-run", "--log", "stderr"]);
    // The first samples are close together: the daemon knows nothing yet.
    std::thread::sleep(Duration::from_secs(40));
    let wakes = of(&dry, "status", "voluntary_ctxt_switches:");
    std::thread::sleep(Duration::from_secs(seconds));
    let wakes = of(&dry, "status", "voluntary_ctxt_switches:") - wakes;
    println!(
        "wakeups in {seconds} s: {wakes}, {:.2} in 10 s",
        wakes * 10.0 / seconds as f64
    );
    println!("resident, dry run: {} KiB", of(&dry, "status", "VmRSS:"));
    stop(dry);

    let root = tempfile::tempdir().expect("a folder");
    copy_of_proc(root.path());
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
