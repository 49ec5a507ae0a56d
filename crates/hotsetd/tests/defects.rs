//! Each defect of memoptimizer that a daemon can have (reference: "Defects found there"), with a
//! test that fails on it. Those of measuring are in kernfs' tests/defects.rs, those of deciding in
//! policy's. That the dry run writes nothing has a file of its own: dry_run.rs.
mod common;
#[path = "common/process.rs"]
mod process;

use common::FakeMachine;
use hotsetd::config::Config;
use hotsetd::daemon::Daemon;
use hotsetd::import::import;
use hotsetd::journal::Journal;
use hotsetd::knobs::{Knobs, WATERMARK_SCALE_FACTOR};
use hotsetd::load::load;
use hotsetd::log::Log;
use process::{read_socket, Process};
use std::path::Path;
use std::time::Duration;

fn daemon(machine: &FakeMachine, change: impl FnOnce(&mut Config)) -> Daemon {
    let mut config = Config::default();
    config.policy.sample_near_s = 0.1;
    change(&mut config);
    Daemon::new(machine.root(), config, Log::to_memory(5)).unwrap()
}

/// So many samples of a burst, 10 ms apart; the highest scale factor seen.
fn burst(machine: &mut FakeMachine, daemon: &mut Daemon, samples: usize) -> u64 {
    let mut highest = 0;
    for _ in 0..samples {
        machine.allocate(15_000, 3_000);
        std::thread::sleep(Duration::from_millis(10));
        daemon.step();
        highest = highest.max(machine.wsf());
    }
    highest
}

#[test]
fn nothing_is_restored_at_exit() {
    let mut machine = FakeMachine::new();
    let mut daemon = daemon(&machine, |_| {});
    assert!(
        burst(&mut machine, &mut daemon, 200) > 10,
        "the burst changed nothing"
    );
    daemon.stop();
    assert_eq!(machine.wsf(), 10);
}

#[test]
fn the_administrators_own_wsf_decays_to_10() {
    let mut machine = FakeMachine::new();
    machine.put("proc/sys/vm/watermark_scale_factor", "200\n");
    let mut daemon = daemon(&machine, |_| {});
    let mut lowest = u64::MAX;
    for round in 0..300 {
        match round {
            0..150 => machine.allocate(15_000, 3_000),
            _ => machine.free = 300_000,
        }
        machine.write();
        std::thread::sleep(Duration::from_millis(5));
        daemon.step();
        lowest = lowest.min(machine.wsf());
    }
    assert_eq!(daemon.state().summary.free_pages.floor, 200);
    daemon.stop();
    assert_eq!((lowest, machine.wsf()), (200, 200));
}

#[test]
fn the_cap_is_bypassed_by_a_fallback() {
    let mut machine = FakeMachine::new();
    let mut daemon = daemon(&machine, |config| {
        config.policy.watermark_scale_factor_max = Some(35);
    });
    let highest = burst(&mut machine, &mut daemon, 300);
    assert!((11..=35).contains(&highest), "{highest}");
}

#[test]
fn the_ceiling_is_1000_where_the_kernel_takes_3000() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotsetd.conf");
    std::fs::write(&path, "[free_pages]\nmax_watermark_scale_factor = 3000\n").unwrap();
    assert_eq!(
        load(&path, true).unwrap().policy.watermark_scale_factor_max,
        Some(3000)
    );
    let cap = |release: &str| {
        let mut machine = FakeMachine::new();
        machine.put("proc/sys/kernel/osrelease", release);
        // Plenty to reclaim: the cap follows that too.
        machine.file = 900_000;
        machine.write();
        let mut daemon = daemon(&machine, |config| {
            config.policy.watermark_scale_factor_max = Some(3000);
        });
        daemon.step();
        daemon.step();
        daemon.state().summary.free_pages.cap
    };
    assert!(cap("5.15.58\n") > 1000);
    assert_eq!(cap("5.15.57\n"), 1000);
}

#[test]
fn a_quoted_or_zero_aggressiveness_spins_the_cpu() {
    let path = Path::new("/etc/default/memoptimizer");
    let quoted = import(path, "AGGRESSIVENESS = \"2\"\n").unwrap();
    assert!(quoted.text.contains("\naggressiveness = 2\n"));
    for value in ["0", "\"0\"", "", "-1", "4"] {
        assert!(
            import(path, &format!("AGGRESSIVENESS = {value}\n")).is_err(),
            "{value}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    for value in ["0", "\"2\"", "4", "-1"] {
        let path = folder.path().join("hotsetd.conf");
        std::fs::write(&path, format!("aggressiveness = {value}\n")).unwrap();
        assert_eq!(load(&path, true).unwrap_err()[0].line, 1, "{value}");
    }
    // And whatever the policy says, the loop sleeps.
    let machine = FakeMachine::new();
    let mut daemon = daemon(&machine, |config| {
        config.policy.sample_near_s = 0.0;
        config.policy.sample_far_s = 0.0;
    });
    assert!(daemon.step() >= 0.05);
}

#[test]
fn a_long_key_overflows_the_stack() {
    let long = "K".repeat(1 << 20);
    let path = Path::new("/etc/default/memoptimizer");
    let imported = import(path, &format!("{long} = 1\nVERBOSE = {long}\n"));
    assert_eq!(imported.unwrap_err()[0].line, 2);
    let imported = import(path, &format!("{long} = {long}\nVERBOSE = 4\n")).unwrap();
    assert!(imported.text.contains("\nverbosity = 4\n"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotsetd.conf");
    std::fs::write(&path, format!("{long} = 1\n")).unwrap();
    assert_eq!(load(&path, true).unwrap_err()[0].line, 1);
}

#[test]
fn an_unknown_key_drops_the_rest_of_the_file() {
    let text = "VERBOSE = 2\nNO_SUCH_KEY = 1\nAGGRESSIVENESS = 3\n";
    let imported = import(Path::new("/etc/default/memoptimizer"), text).unwrap();
    assert!(
        imported.text.contains("\naggressiveness = 3\n"),
        "{}",
        imported.text
    );
    assert_eq!(imported.left_out.len(), 1);
    assert_eq!(imported.left_out[0].line, 2);
}

#[test]
fn bytes_past_the_end_are_written_to_a_sysctl() {
    let machine = FakeMachine::new();
    // A file that only ever grows shows every byte that is written to it.
    let journal = Journal::open(&machine.path("run/hotset/journal"), "boot").unwrap();
    let mut knobs = Knobs::new(machine.root(), journal, false);
    for value in ["3000", "120", "7", "1000"] {
        knobs.set(WATERMARK_SCALE_FACTOR, None, value).unwrap();
        let written = machine.read("proc/sys/vm/watermark_scale_factor");
        assert_eq!(written, format!("{value}\n"));
    }
}

#[test]
fn a_stale_lock_file_blocks_the_restart_after_a_kill() {
    let machine = FakeMachine::new();
    let answers = || read_socket(&machine.path("run/hotset/status.sock")).is_some();
    let mut first = Process::start(machine.root(), &[]);
    first.until("it answers", |_| answers());
    first.kill();
    assert!(machine.path("run/hotset/hotsetd.lock").exists());
    let mut second = Process::start(machine.root(), &[]);
    second.until("the second answers", |_| answers());
}

#[test]
fn a_first_compaction_is_followed_by_a_second_at_once() {
    // However often the policy asks: while one is under way on a node, there is no other.
    let machine = FakeMachine::new();
    let pipe = machine.path("sys/devices/system/node/node0/compact");
    std::fs::remove_file(&pipe).unwrap();
    // Opening a pipe for writing waits for a reader, as a compaction waits for the kernel.
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let mut worker = hotsetd::worker::Worker::start(machine.root()).unwrap();
    let job = hotsetd::worker::Job::Compact { node: 0 };
    assert!(worker.ask(job));
    for _ in 0..50 {
        assert!(!worker.ask(job));
    }
    assert_eq!(std::fs::read(&pipe).unwrap(), b"1");
}
