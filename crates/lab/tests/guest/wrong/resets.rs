//! Guests that are reset while memory runs out: what the flight recorder has on the disk by then.
use crate::bench::{guests_run, left, until, Bench};
use crate::kernels::kernel;
use flight::Flight;
use lab::host::ext4::copy_out;
use lab::host::guest_memory_dir::VARIABLE;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const EXPERIMENT: &str = r#"
title = "A leak, recorded until the machine is reset"
repetitions = 1
[machine]
memory_mb = 128
zram_mb = 32
scratch_mb = 48
[workers.leaky]
does.hog = { fill = "mixed", rate = 24_000_000 }
restart = true
[[scenes]]
name = "leak"
run = ["leaky"]
seconds = 300
[[arms]]
name = "watch"
kernel = "vanilla"
lru = "mglru"
[arms.daemon.config]
flight = { file = "/scratch/flight", size_mb = 1 }
"#;

/// Mends a disk that was not unmounted, as the next boot does.
fn mend(disk: &Path) {
    let output = Command::new("e2fsck")
        .arg("-fy")
        .arg(disk)
        .env("PATH", "/usr/sbin:/sbin:/usr/bin:/bin")
        .output()
        .unwrap();
    // Status 1: something was mended.
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The scratch disk of the bench's guest, which nobody removed.
fn scratch(folder: &Path) -> Option<PathBuf> {
    std::fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => scratch(&path),
            false => (entry.file_name() == "scratch").then_some(path),
        }
    })
}

/// Resets a guest so long after its start. What its disk holds then, and when it was reset: seconds since 1970.
fn after_a_reset(bench: &Bench, after: Duration) -> (Flight, f64) {
    let mut command = bench.run(&[], &[]);
    // The guest's disk lies in the bench, too.
    command.env(VARIABLE, bench.dir.path());
    let mut lab = { command.stdout(Stdio::null()).stderr(Stdio::null()) }
        .spawn()
        .unwrap();
    until("a guest", || guests_run(bench));
    std::thread::sleep(after);
    // The guest's processes die with the one that started them.
    lab.kill().unwrap();
    let reset_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    lab.wait().unwrap();
    until("the guest to be gone", || left(bench).is_empty());
    let disk = scratch(bench.dir.path()).expect("a scratch disk");
    mend(&disk);
    let file = bench.path("flight");
    copy_out(&disk, "flight", &file).unwrap();
    let flight = flight::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_dir_all(disk.parent().unwrap()).unwrap();
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    (flight, reset_s.as_secs_f64())
}

mod long {
    use super::*;

    /// Resets, from five seconds after the start on.
    const RESETS: u32 = 50;

    #[test]
    #[ignore = "long: boots User-Mode Linux 7.3 fifty times; build it with `hotset kernel build 7.3 --vanilla`"]
    fn a_reset_costs_a_second_of_the_record_at_most() {
        let bench = Bench::with(kernel(), EXPERIMENT);
        let mut lost: Vec<f64> = Vec::new();
        for reset in 0..RESETS {
            // Spread over seven seconds, in an order that repeats nothing.
            let after = Duration::from_millis(5000 + u64::from(reset) * 2_749 % 7000);
            let (flight, reset_s) = after_a_reset(&bench, after);
            let last = flight.records.last().expect("records");
            lost.push(reset_s - last.unix_s);
            assert_eq!(flight.torn, 0, "{after:?}");
        }
        println!("lost, seconds: {lost:.2?}");
        let worst = lost.iter().copied().fold(0.0, f64::max);
        assert!(worst <= 1.0, "{lost:.2?}");
    }
}
