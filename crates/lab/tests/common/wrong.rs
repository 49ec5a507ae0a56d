//! Guests that go wrong, on a real kernel and any bed.
use super::init;
use lab::attend::{attend, Ending, Heard, Limits};
use lab::bed::{Bed, Boot};
use lab::stop::Stop;
use lab::trial::Assembly;
use raw::record::{Outcome, Trial};
use raw::spec::{Disk, Failure, GuestSpec, Task};
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
            nodes_mb: &[],
            scratch_mb: 0,
            command_line: &[],
        })
        .unwrap();
    let mut log = Vec::new();
    let mut assembly = Assembly::new("arm", 0, 1, vec![]);
    let heard = attend(&mut guest, &mut log, limits, stop, &mut |line| {
        assembly.take(line);
        Ok(())
    })
    .unwrap();
    assert_eq!(children(), Vec::<String>::new(), "of this guest are left");
    let trial = assembly.finish(heard.clone(), limits.silent.as_secs());
    (heard, trial, String::from_utf8_lossy(&log).into_owned())
}

/// This process's children, with what /proc says of them.
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

/// Guests that boot, panic, hang, fail and are stopped: each is a result, and nothing is left of it.
/// For one test of a program: the guests are this process's children, and other tests' guests would
/// be counted too.
pub fn guests_that_go_wrong_are_results(bed: &dyn Bed, kernel: &Path) {
    let stop = Stop::new().unwrap();
    // Time to boot, and then some.
    let silent_s = bed.boot_patience().as_secs() / 15;
    let fail = |how| Task::Fail { how };

    let (heard, trial, log) = boot(bed, kernel, Task::Boot, limits(PATIENT), &stop);
    assert_eq!(heard.ending, Ending::Finished, "{log}");
    assert_eq!(trial.outcome, Outcome::Ok);
    assert!(
        !trial.release.is_empty() && trial.mem_total_kb > 32 << 10,
        "{trial:?}"
    );
    assert!(
        log.contains("Linux version"),
        "the whole console is kept: {log}"
    );

    let begun = Instant::now();
    let (_, trial, log) = boot(bed, kernel, fail(Failure::Panic), limits(PATIENT), &stop);
    let message = "sysrq triggered crash".to_string();
    assert_eq!(trial.outcome, Outcome::Panic { message }, "{log}");
    let tail = &trial.console_tail;
    assert!(
        tail.iter()
            .any(|line| line.contains("Kernel panic - not syncing")),
        "{tail:?}"
    );
    assert!(tail.len() <= lab::attend::TAIL);
    assert!(
        begun.elapsed() < PATIENT,
        "a panic is told by the console, not by silence"
    );

    let (_, trial, log) = boot(
        bed,
        kernel,
        fail(Failure::Hang),
        limits(Duration::from_secs(silent_s)),
        &stop,
    );
    assert_eq!(trial.outcome, Outcome::Hang { silent_s }, "{log}");
    assert!(
        trial.wall_s >= silent_s as f64 && !trial.release.is_empty(),
        "it spoke, then fell silent"
    );
    assert!(!trial.console_tail.is_empty());

    let (_, trial, log) = boot(bed, kernel, fail(Failure::Error), limits(PATIENT), &stop);
    let message = "this guest was told to fail".to_string();
    assert_eq!(trial.outcome, Outcome::Failed { message }, "{log}");

    let brief = Limits {
        silent: PATIENT,
        total: Duration::from_secs(2),
    };
    let (heard, ..) = boot(bed, kernel, fail(Failure::Hang), brief, &stop);
    assert_eq!(heard.ending, Ending::TooLong);

    let asked = Stop::new().unwrap();
    let later = asked.clone();
    let asker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        later.ask();
    });
    let (heard, ..) = boot(bed, kernel, fail(Failure::Hang), limits(PATIENT), &asked);
    assert_eq!(heard.ending, Ending::Stopped);
    asker.join().unwrap();
}
