//! `hotset lab run --bed qemu` with real guests: a whole run with memory nodes, Ctrl-C, a killed
//! hotset, a full disk.
use crate::bench::{end, guests_run, left, shown, until, Bench};
use crate::kernels::kernel_x86;
use protocol::record::{Outcome, Run};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

fn bench() -> Bench {
    Bench::new("qemu", kernel_x86())
}

const ENDLESS: &str =
    "scenes=[{name='calm',run=['probe'],seconds=600},{name='pressure',seconds=1}]";

#[test]
#[ignore = "guest: boots Linux 6.12 in QEMU; build it with `hotset kernel build 6.12 --arch x86_64`"]
fn a_run_with_two_nodes_and_page_table_walks() {
    let bench = bench();
    let output = bench
        .run(
            &[],
            &[
                "--preset",
                "small",
                "--set",
                "files.huge=16MiB",
                "--set",
                "machine.numa=['96MiB','32MiB']",
            ],
        )
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let run = std::fs::read_to_string(bench.path("out/run.json")).unwrap();
    let run: Run = serde_json::from_str(&run).unwrap();
    assert!(run.bed.name.starts_with("QEMU ("), "{:?}", run.bed);
    assert!(run.command.contains("--bed qemu"), "{}", run.command);
    let trials = bench.trials();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        assert_eq!(trial.outcome, Outcome::Ok);
        let lru = &trial.settings["/sys/kernel/mm/lru_gen/enabled"];
        let expected = match trial.arm.as_str() {
            "classic" => "0x0000",
            // With the walk over page tables.
            _ => "0x0007",
        };
        assert_eq!(lru, expected, "{:?}", trial.settings);
        let log = bench.path(&format!("out/console/{}-0.log", trial.arm));
        let log = std::fs::read_to_string(log).unwrap();
        for size in ["node   0: [mem", "node   1: [mem"] {
            assert!(log.contains(size), "{size}: {log}");
        }
    }
    assert_eq!(left(&bench), Vec::<String>::new());
}

#[test]
#[ignore = "guest: boots Linux 6.12 in QEMU; build it with `hotset kernel build 6.12 --arch x86_64`"]
fn ctrl_c_ends_the_guests() {
    let bench = bench();
    let child = bench.run(&[], &["--set", ENDLESS]).spawn().unwrap();
    until("a guest", || guests_run(&bench));
    let pid = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(kill.success());
    let output = end(child);
    assert_eq!(output.status.code(), Some(130), "{}", shown(&output));
    assert_eq!(left(&bench), Vec::<String>::new());
    let stray = std::fs::read_dir(bench.dir.path()).unwrap().flatten();
    let stray = stray.filter(|e| e.file_name().to_string_lossy().starts_with("hotset-"));
    assert_eq!(stray.count(), 0, "the guest's folder is removed");
}

#[test]
#[ignore = "guest: boots Linux 6.12 in QEMU; build it with `hotset kernel build 6.12 --arch x86_64`"]
fn a_killed_hotset_leaves_no_guest() {
    let bench = bench();
    let mut child = bench.run(&[], &["--set", ENDLESS]).spawn().unwrap();
    until("a guest", || guests_run(&bench));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    until("the guests to be gone", || left(&bench).is_empty());
}

#[test]
#[ignore = "guest: boots Linux 6.12 in QEMU; build it with `hotset kernel build 6.12 --arch x86_64`"]
fn a_full_disk_for_the_guests_folder_is_an_error_with_advice() {
    let bench = bench();
    let output = bench.on_small_disk("tmp", "256k", &[]);
    let text = shown(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
    assert!(text.contains("make room on that disk"), "{text}");
    assert_eq!(left(&bench), Vec::<String>::new());
}
