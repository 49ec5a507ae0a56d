//! The record of a trial, made of the lines that a guest sent.
use lab::guest::monitor::{Ending, Heard};
use lab::results::assembly::Assembly;
use protocol::record::{Outcome, Trial};
use protocol::wire::Line;
use std::time::Duration;

/// Lines as a guest writes them.
const LINES: &str = r#"
{"type":"hello","t_ms":80.5,"release":"7.3.4","cpus":1,"mem_total_kb":505000}
{"type":"settings","values":{"/proc/sys/vm/swappiness":"60"}}
{"type":"observe","t_ms":90,"name":"disk.mount_ms","value":3}
{"type":"scene-begin","t_ms":100,"name":"calm","counters":{"vmstat.pgscan_direct":5,"vmstat.nr_free_pages":1000}}
{"type":"sample","t_ms":110,"gauges":{"meminfo.MemFree":400000}}
{"type":"observe","t_ms":150,"name":"probe.read_ms","value":12}
{"type":"scene-end","t_ms":1100,"name":"calm","counters":{"vmstat.pgscan_direct":5,"vmstat.nr_free_pages":900}}
{"type":"scene-begin","t_ms":1101,"name":"pressure","counters":{"vmstat.pgscan_direct":5}}
{"type":"observe","t_ms":1500,"name":"probe.read_ms","value":700}
{"type":"observe","t_ms":1050,"name":"probe.read_ms","value":13}
{"type":"sample","t_ms":1610,"gauges":{"meminfo.MemFree":2000}}
{"type":"event","t_ms":1700,"name":"oom-kill","detail":"hog 33"}
{"type":"observe","t_ms":1800,"name":"probe.read_ms","value":800}
"#;
const ENDING: &str = r#"
{"type":"scene-end","t_ms":3101,"name":"pressure","counters":{"vmstat.pgscan_direct":105,"vmstat.oom_kill":1}}
{"type":"end","t_ms":3110}
"#;

fn assembled(lines: &[&str], ending: Ending, tail: &[&str]) -> Trial {
    let mut assembly = Assembly::new("classic", 2, 99, vec![1.0, 3.0]);
    for line in lines
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| !line.is_empty())
    {
        let line: Line = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assembly.take(line);
    }
    let heard = Heard {
        ending,
        tail: tail.iter().map(|line| line.to_string()).collect(),
        boot: Duration::from_millis(120),
        wall: Duration::from_secs(4),
        garbled: None,
    };
    assembly.finish(heard, 180)
}

#[test]
fn lines_become_scenes_with_their_growth() {
    let trial = assembled(&[LINES, ENDING], Ending::Finished, &["not kept"]);
    assert_eq!(
        (trial.arm.as_str(), trial.repetition, trial.seed),
        ("classic", 2, 99)
    );
    assert_eq!(trial.outcome, Outcome::Ok);
    assert!(
        trial.console_tail.is_empty(),
        "kept for trials that went wrong"
    );
    assert_eq!(
        (trial.release.as_str(), trial.mem_total_kb),
        ("7.3.4", 505_000)
    );
    assert_eq!((trial.boot_s, trial.wall_s), (0.12, 4.0));
    assert_eq!(trial.settings["/proc/sys/vm/swappiness"], "60");
    let [calm, pressure] = &trial.scenes[..] else {
        panic!("{:?}", trial.scenes)
    };
    assert_eq!(
        (calm.name.as_str(), calm.begin_ms, calm.end_ms),
        ("calm", 100.0, 1100.0)
    );
    assert_eq!(calm.counters["vmstat.pgscan_direct"], 0.0);
    assert_eq!(calm.counters["vmstat.nr_free_pages"], -100.0);
    assert_eq!(pressure.counters["vmstat.pgscan_direct"], 100.0);
    assert_eq!(pressure.counters["vmstat.oom_kill"], 1.0);
    let gauges = &trial.gauges["meminfo.MemFree"];
    assert_eq!(*gauges, [(110.0, 400_000.0), (1610.0, 2000.0)]);
    assert_eq!(trial.events.len(), 1);
    assert_eq!(trial.events[0].detail, "hog 33");
}

#[test]
fn observations_belong_to_the_scene_in_which_they_were_made() {
    let trial = assembled(&[LINES, ENDING], Ending::Finished, &[]);
    let of = |scene: usize| &trial.scenes[scene].observations["probe.read_ms"];
    assert_eq!(
        *of(0),
        [(150.0, 12.0), (1050.0, 13.0)],
        "its line came late"
    );
    assert_eq!(*of(1), [(1500.0, 700.0), (1800.0, 800.0)]);
    assert_eq!(
        trial.gauges["disk.mount_ms"],
        [(90.0, 3.0)],
        "before any scene, and not lost"
    );
}

#[test]
fn a_trial_that_ends_early_keeps_its_measurements() {
    let tail = ["one", "Kernel panic - not syncing: sysrq triggered crash"];
    let panic = Ending::Panic("sysrq triggered crash".into());
    let trial = assembled(&[LINES], panic, &tail);
    let message = "sysrq triggered crash".to_string();
    assert_eq!(trial.outcome, Outcome::Panic { message });
    assert_eq!(trial.console_tail, tail);
    let pressure = &trial.scenes[1];
    assert_eq!(pressure.end_ms, 1800.0, "the time of the last line");
    assert!(pressure.counters.is_empty(), "unknown, not zero");
    assert_eq!(pressure.observations["probe.read_ms"].len(), 2);
}

#[test]
fn each_end_has_its_outcome() {
    let outcome = |ending, tail: &[&str]| assembled(&[], ending, tail).outcome;
    assert_eq!(
        outcome(Ending::Silent, &[]),
        Outcome::Hang { silent_s: 180 }
    );
    let failed = |outcome| match outcome {
        Outcome::Failed { message } => message,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        failed(outcome(Ending::Error("no disk".into()), &[])),
        "no disk"
    );
    assert_eq!(
        failed(outcome(Ending::TooLong, &[])),
        "not finished after 4 s"
    );
    let message = failed(outcome(
        Ending::Died("signal 11".into()),
        &["last words", ""],
    ));
    assert!(
        message.contains("signal 11") && message.contains("last words"),
        "{message}"
    );
    let tail = ["UML ran out of memory on the host side! This can happen due to ..."];
    let message = failed(outcome(Ending::Died("signal 9".into()), &tail));
    assert!(message.contains("vm.max_map_count"), "{message}");
}

#[test]
fn the_fraction_grows_with_the_scenes_and_never_shrinks() {
    let mut assembly = Assembly::new("classic", 0, 1, vec![1.0, 3.0]);
    let mut last = 0.0;
    for line in [LINES, ENDING]
        .iter()
        .flat_map(|text| text.lines())
        .filter(|l| !l.is_empty())
    {
        assembly.take(serde_json::from_str(line).unwrap());
        assert!(assembly.fraction() >= last, "{line}");
        last = assembly.fraction();
        if line.contains("oom-kill") {
            // 1 s of 4, and 0.599 s of the next scene's 3.
            assert!((last - 1.599 / 4.0).abs() < 1e-9, "{last}");
            assert_eq!(assembly.scene(), Some("pressure"));
        }
    }
    assert_eq!(last, 1.0);
}
