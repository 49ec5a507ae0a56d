//! Rounds of the daemon on recorded machines: kernels 4.18 to 7.3, one node and many.
use hotsetd::config::settings::Config;
use hotsetd::runtime::daemon::Daemon;
use hotsetd::telemetry::log::Log;
use std::path::{Path, PathBuf};

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let there = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &there),
            // The mode is not copied: a file that is read-only on a machine must be writable here.
            false => std::fs::write(&there, std::fs::read(&path).unwrap()).unwrap(),
        }
    }
}

fn machines() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernfs");
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut machines: Vec<_> = entries.filter(|path| path.join("proc").is_dir()).collect();
    machines.sort();
    machines
}

#[test]
fn the_daemon_runs_on_every_recorded_machine_and_leaves_it_as_it_was() {
    let machines = machines();
    assert!(machines.len() > 5, "{machines:?}");
    for machine in machines {
        let root = tempfile::tempdir().unwrap();
        copy(&machine, root.path());
        let knob = root.path().join("proc/sys/vm/watermark_scale_factor");
        let before = std::fs::read_to_string(&knob).unwrap();
        let mut daemon = Daemon::new(root.path(), Config::default(), Log::to_memory(2)).unwrap();
        for _ in 0..20 {
            let next_s = daemon.step();
            assert!((0.05..=60.0).contains(&next_s), "{}", machine.display());
        }
        let zoneinfo = std::fs::read_to_string(root.path().join("proc/zoneinfo")).unwrap();
        let mut nodes: Vec<&str> = zoneinfo
            .lines()
            .filter_map(|line| line.strip_prefix("Node ")?.split(',').next())
            .collect();
        nodes.dedup();
        let found: Vec<_> = daemon
            .state()
            .summary
            .nodes
            .iter()
            .map(|node| node.id)
            .collect();
        assert!(
            !found.is_empty() && found.len() <= nodes.len(),
            "{}",
            machine.display()
        );
        let status: serde_json::Value = serde_json::from_slice(&daemon.status()).unwrap();
        assert_eq!(
            status["counts"]["unreadable_files"],
            0,
            "{}",
            machine.display()
        );
        let metrics = String::from_utf8(daemon.metrics()).unwrap();
        assert!(
            metrics.contains("\nhotset_free_bytes") && !metrics.contains("NaN"),
            "{metrics}"
        );
        let mut lines = daemon.log().lines().to_vec();
        // What is said at the start: "no swap" is true of some.
        lines.retain(|line| !line.contains("protection is on") && !line.contains("no swap"));
        assert!(lines.is_empty(), "{}: {lines:#?}", machine.display());
        assert!(daemon.stop());
        assert_eq!(
            std::fs::read_to_string(&knob).unwrap().trim(),
            before.trim()
        );
    }
}

/// The version that a machine's folder is named by.
fn version(machine: &Path) -> (u32, u32) {
    let name = machine.file_name().unwrap().to_str().unwrap();
    let mut numbers = name.split(['.', '-']).map(|word| word.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// The table of docs/guide/support.md, as far as files show it.
#[test]
fn a_recorded_machine_has_what_the_guide_says_of_its_kernel() {
    for machine in machines() {
        let version = version(&machine);
        for (file, since) in [
            ("proc/pressure/memory", (4, 20)),
            ("proc/sys/vm/watermark_boost_factor", (5, 0)),
            ("proc/sys/vm/compaction_proactiveness", (5, 9)),
            ("proc/sys/vm/watermark_scale_factor", (4, 6)),
        ] {
            let place = machine.join(file);
            assert_eq!(place.exists(), version >= since, "{}", place.display());
        }
    }
}

#[test]
fn protection_runs_on_every_recorded_machine_and_leaves_it_as_it_was() {
    for machine in machines() {
        let root = tempfile::tempdir().unwrap();
        copy(&machine, root.path());
        let vm = root.path().join("proc/sys/vm");
        let knobs = || -> Vec<_> {
            let mut found: Vec<_> = std::fs::read_dir(&vm)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
                .collect();
            found.sort();
            found
        };
        let before = knobs();
        let mut config = Config::default();
        config.protect.policy.enabled = true;
        let mut daemon = Daemon::new(root.path(), config, Log::to_memory(1)).unwrap();
        for _ in 0..20 {
            daemon.step();
            assert!(daemon.step_protection().is_some(), "{}", machine.display());
        }
        let status: serde_json::Value = serde_json::from_slice(&daemon.status()).unwrap();
        let enforcer = match vm.join("workingset_protection").exists() {
            true => "kernel",
            false => "hotsetd",
        };
        assert_eq!(
            status["protect"]["enforcer"],
            enforcer,
            "{}",
            machine.display()
        );
        let lines = daemon.log().lines();
        assert!(lines.is_empty(), "{}: {lines:#?}", machine.display());
        assert!(daemon.stop());
        assert_eq!(knobs(), before, "{}", machine.display());
    }
}
