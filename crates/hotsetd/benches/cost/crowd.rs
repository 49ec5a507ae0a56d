//! Thousands of real processes, and the scan of them.
use hotsetd::protect::oom::{processes::Processes, rules::Rules};
use std::path::Path;

/// Children of this process that wait for ever, and end with it.
pub struct Crowd(Vec<i32>);

impl Crowd {
    /// Starts `count` processes, or as many as the system has room for.
    pub fn start(count: usize) -> Crowd {
        let mut pids = Vec::with_capacity(count);
        // SAFETY: getpid only tells.
        let parent = unsafe { libc::getpid() };
        for _ in 0..count {
            // SAFETY: this process has one thread, and the child makes nothing but system calls.
            match unsafe { libc::fork() } {
                // SAFETY: as above. The parent may have ended before prctl.
                0 => unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    while libc::getppid() == parent {
                        libc::pause();
                    }
                    libc::_exit(0)
                },
                -1 => {
                    println!("only {} processes: the system has no more", pids.len());
                    break;
                }
                pid => pids.push(pid),
            }
        }
        Crowd(pids)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for &pid in &self.0 {
            // SAFETY: the child is ours and not yet waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        for &pid in &self.0 {
            // SAFETY: as above; no status is asked for.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
        }
    }
}

/// Seconds between two scans at most: growth would not be known with fewer.
const APART_S: f64 = 1.5;
const ROUNDS: usize = 20;

/// CPU of a scan in milliseconds: mean, and half of its 95% interval.
struct Cost(f64, f64);

impl Cost {
    fn of(times: &[f64]) -> Cost {
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares = times.iter().map(|time| (time - mean).powi(2));
        let variance = squares.sum::<f64>() / (count - 1.0);
        // Student's t for 19 degrees of freedom.
        Cost(mean, 2.093 * (variance / count).sqrt())
    }
}

/// Scans all processes in turn: as if nothing were known of small ones, and with what is known.
pub fn scans() {
    let open = || Processes::open(Path::new("/"), 4096, Rules::default()).expect("/proc");
    // Small: less than 1/400 of 16 GiB.
    let mut arms = [(0, open()), (10_486, open())].map(|(small, of)| (small, of, Vec::new()));
    let mut first = 0.0;
    for round in 0..=ROUNDS + 1 {
        for (small, processes, times) in &mut arms {
            let begun = super::cpu_of_thread_s();
            let now_s = round as f64 * APART_S;
            // Long after the processes began: none is young.
            let sampled = processes.sample(now_s, 1e9, *small);
            sampled.expect("/proc");
            let took = (super::cpu_of_thread_s() - begun) * 1e3;
            match round {
                0 => first = took,
                // The second finds out who grows.
                1 => {}
                _ => times.push(took),
            }
        }
    }
    let [all, quiet] = arms.each_ref().map(|(_, _, times)| Cost::of(times));
    let count = arms[0].1.list.len();
    println!(
        "a scan of {count} processes: the first {first:.0} ms; all anew {:.1} +- {:.1} ms; \
         what has changed {:.1} +- {:.1} ms, {:.1}% of a CPU",
        all.0,
        all.1,
        quiet.0,
        quiet.1,
        quiet.0 / APART_S / 10.0
    );
    let mut list = arms[1].1.list.to_vec();
    let begun = super::cpu_of_thread_s();
    std::hint::black_box(policy::victim::choose(&mut list, 4 << 20, 4096));
    let took = (super::cpu_of_thread_s() - begun) * 1e3;
    println!("the choice among them: {took:.2} ms");
}
