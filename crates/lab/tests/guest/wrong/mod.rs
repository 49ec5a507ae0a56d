//! Guests that go wrong, on each bed: each is a result, and no process of it is left.
mod resets;

use crate::kernels::{alone, init, kernel, kernel_x86};
use lab::bed::{Bed, Boot, Mode, Qemu, Uml};
use lab::guest::monitor::{listen, Ending, Heard, Limits};
use lab::guest::probe;
use lab::host::stop::Stop;
use lab::results::assembly::Assembly;
use protocol::record::{Outcome, Trial};
use protocol::spec::{Disk, Failure, GuestSpec, Task};
use std::path::Path;
use std::time::{Duration, Instant};

fn limits(silent: Duration) -> Limits {
    Limits {
        silent,
        total: Duration::from_secs(600),
    }
}

fn boot(
    bed: &dyn Bed,
    kernel: &Path,
    task: Task,
    limits: Limits,
    stop: &Stop,
) -> (Heard, Trial, String) {
    let spec = GuestSpec {
        seed: 1,
        knobs: vec![],
        zram_mb: 0,
        disk: Disk {
            device: bed.device().into(),
            read_bps: 0,
            read_iops: 0,
        },
        scratch: None,
        root: None,
        daemon: None,
        sample_ms: 100,
        trace: Vec::new(),
        task,
    };
    let mut guest = bed
        .start(&Boot {
            kernel,
            initramfs: &init().archive(&spec).unwrap(),
            disk: None,
            memory_mb: 128,
            cpus: 1,
            in_turn: false,
            nodes_mb: &[],
            scratch_mb: 0,
            keep: &[],
            root: None,
            command_line: &[],
        })
        .unwrap();
    let mut log = Vec::new();
    let mut assembly = Assembly::new("arm", 0, 1, vec![]);
    let heard = listen(&mut guest, &mut log, limits, stop, &mut |line| {
        assembly.take(line);
        Ok(())
    })
    .unwrap();
    assert_eq!(children(), Vec::<String>::new(), "of this guest are left");
    let trial = assembly.finish(heard.clone(), limits.silent.as_secs());
    (heard, trial, String::from_utf8_lossy(&log).into_owned())
}

/// This process's children, as lines of /proc/PID/stat.
pub fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let stats = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let child = |stat: &String| {
        let after = stat.rsplit_once(')')?.1;
        (after.split_whitespace().nth(1)? == own).then(|| stat.clone())
    };
    stats.filter_map(|stat| child(&stat)).collect()
}

const PATIENT: Duration = Duration::from_secs(300);

fn fail(how: Failure) -> Task {
    Task::Fail { how }
}

/// A guest without work ends well, and its console is kept whole.
fn boots(bed: &dyn Bed, kernel: &Path, stop: &Stop) {
    let (heard, trial, log) = boot(bed, kernel, Task::Boot, limits(PATIENT), stop);
    assert_eq!(heard.ending, Ending::Finished, "{log}");
    assert_eq!(trial.outcome, Outcome::Ok);
    assert!(
        !trial.release.is_empty() && trial.mem_total_kb > 32 << 10,
        "{trial:?}"
    );
    assert!(log.contains("Linux version"), "{log}");
}

/// A panic is found on the console, before the time limit for silence.
fn panics(bed: &dyn Bed, kernel: &Path, stop: &Stop) {
    let begun = Instant::now();
    let (_, trial, log) = boot(bed, kernel, fail(Failure::Panic), limits(PATIENT), stop);
    let message = "sysrq triggered crash".to_string();
    assert_eq!(trial.outcome, Outcome::Panic { message }, "{log}");
    let tail = &trial.console_tail;
    assert!(
        tail.iter()
            .any(|line| line.contains("Kernel panic - not syncing")),
        "{tail:?}"
    );
    assert!(tail.len() <= lab::guest::monitor::TAIL);
    assert!(begun.elapsed() < PATIENT);
}

/// A guest that falls silent has hung.
fn hangs(bed: &dyn Bed, kernel: &Path, stop: &Stop) {
    // More than the time to boot.
    let silent_s = bed.boot_patience().as_secs() / 15;
    let silent = limits(Duration::from_secs(silent_s));
    let (_, trial, log) = boot(bed, kernel, fail(Failure::Hang), silent, stop);
    assert_eq!(trial.outcome, Outcome::Hang { silent_s }, "{log}");
    assert!(
        trial.wall_s >= silent_s as f64 && !trial.release.is_empty(),
        "the guest sent lines, then fell silent"
    );
    assert!(!trial.console_tail.is_empty());

    let brief = Limits {
        silent: PATIENT,
        total: Duration::from_secs(2),
    };
    let (heard, ..) = boot(bed, kernel, fail(Failure::Hang), brief, stop);
    assert_eq!(heard.ending, Ending::TooLong);
}

/// A guest's own error is the trial's outcome.
fn fails(bed: &dyn Bed, kernel: &Path, stop: &Stop) {
    let (_, trial, log) = boot(bed, kernel, fail(Failure::Error), limits(PATIENT), stop);
    let Outcome::Failed { message } = &trial.outcome else {
        panic!("{:?}\n{log}", trial.outcome)
    };
    assert!(!message.is_empty());
}

/// A request to stop ends a guest that hangs.
fn is_stopped(bed: &dyn Bed, kernel: &Path) {
    let stop = Stop::new().unwrap();
    let later = stop.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        later.ask();
    });
    let (heard, ..) = boot(bed, kernel, fail(Failure::Hang), limits(PATIENT), &stop);
    assert_eq!(heard.ending, Ending::Stopped);
    thread.join().unwrap();
}

/// Each guest that goes wrong is a result, and leaves no process. The guests are children of this
/// process, so its other tests must run no guests meanwhile.
fn guests_that_go_wrong_are_results(bed: &mut dyn Bed, kernel: &Path) {
    let _turn = alone();
    let stop = Stop::new().unwrap();
    probe::probe(bed, kernel, &init(), 1, &stop).unwrap();
    boots(bed, kernel, &stop);
    panics(bed, kernel, &stop);
    hangs(bed, kernel, &stop);
    fails(bed, kernel, &stop);
    is_stopped(bed, kernel);
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn guests_that_go_wrong_on_user_mode_linux_are_results() {
    let mut bed = Uml::new(Mode::Seccomp, 128, 1).unwrap();
    guests_that_go_wrong_are_results(&mut bed, &kernel());
}

#[test]
#[ignore = "guest: boots Linux 6.12 in QEMU; build it with `hotset kernel build 6.12 --arch x86_64`"]
fn guests_that_go_wrong_in_qemu_are_results() {
    let mut bed = Qemu::new(false).unwrap();
    guests_that_go_wrong_are_results(&mut bed, &kernel_x86());
}
