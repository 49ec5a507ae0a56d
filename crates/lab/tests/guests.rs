//! Guests that go wrong, on a real kernel: each is a result, and nothing is left of it.
mod common;

use common::{init, kernel};
use lab::attend::{attend, Ending, Heard, Limits};
use lab::bed::{Bed, Boot, Mode, Uml};
use lab::probe;
use lab::stop::Stop;
use lab::trial::Assembly;
use raw::record::{Outcome, Trial};
use raw::spec::{Disk, Failure, GuestSpec, Task};
use std::path::Path;
use std::time::{Duration, Instant};

fn bed(kernel: &Path) -> Uml {
    let mut bed = Uml::new(Mode::Seccomp, 64, 1).unwrap();
    probe::probe(&mut bed, kernel, &init(), 1, &Stop::new().unwrap()).unwrap();
    bed
}

fn limits(silent: Duration) -> Limits {
    Limits {
        silent,
        total: Duration::from_secs(120),
    }
}

fn boot(kernel: &Path, task: Task, limits: Limits, stop: &Stop) -> (Heard, Trial, String) {
    let bed = bed(kernel);
    let spec = GuestSpec {
        seed: 1,
        knobs: vec![],
        zram_mb: 0,
        disk: Disk {
            device: bed.device().into(),
            read_bps: 0,
            read_iops: 0,
        },
        sample_ms: 100,
        task,
    };
    let mut guest = bed
        .start(&Boot {
            kernel,
            initramfs: &init().archive(&spec).unwrap(),
            disk: None,
            memory_mb: 64,
            cpus: 1,
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
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let stats = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let child = |stat: &String| {
        let after = stat.rsplit_once(')')?.1;
        (after.split_whitespace().nth(1)? == own).then(|| stat.clone())
    };
    stats.filter_map(|stat| child(&stat)).collect()
}

const PATIENT: Duration = Duration::from_secs(60);

/// One test: the guests are this process's children, and other tests' guests would be counted too.
#[test]
fn guests_that_go_wrong_are_results() {
    let Some(kernel) = kernel("guests that panic, hang and fail") else {
        return;
    };
    let stop = Stop::new().unwrap();
    let fail = |how| Task::Fail { how };

    let (heard, trial, log) = boot(&kernel, Task::Boot, limits(PATIENT), &stop);
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
    let (_, trial, log) = boot(&kernel, fail(Failure::Panic), limits(PATIENT), &stop);
    let message = "sysrq triggered crash".to_string();
    assert_eq!(trial.outcome, Outcome::Panic { message }, "{log}");
    let tail = &trial.console_tail;
    assert!(
        tail.iter()
            .any(|line| line.contains("Kernel panic - not syncing")),
        "{tail:?}"
    );
    assert!(tail.len() <= 40);
    assert!(
        begun.elapsed() < PATIENT,
        "a panic is told by the console, not by silence"
    );

    let (_, trial, log) = boot(
        &kernel,
        fail(Failure::Hang),
        limits(Duration::from_secs(3)),
        &stop,
    );
    assert_eq!(trial.outcome, Outcome::Hang { silent_s: 3 }, "{log}");
    assert!(
        trial.wall_s >= 3.0 && !trial.release.is_empty(),
        "it spoke, then fell silent"
    );
    assert!(!trial.console_tail.is_empty());

    let (_, trial, log) = boot(&kernel, fail(Failure::Error), limits(PATIENT), &stop);
    let message = "this guest was told to fail".to_string();
    assert_eq!(trial.outcome, Outcome::Failed { message }, "{log}");

    let brief = Limits {
        silent: PATIENT,
        total: Duration::from_secs(2),
    };
    let (heard, ..) = boot(&kernel, fail(Failure::Hang), brief, &stop);
    assert_eq!(heard.ending, Ending::TooLong);

    let asked = Stop::new().unwrap();
    let later = asked.clone();
    let asker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        later.ask();
    });
    let (heard, ..) = boot(&kernel, fail(Failure::Hang), limits(PATIENT), &asked);
    assert_eq!(heard.ending, Ending::Stopped);
    asker.join().unwrap();
}
