//! The lease on the host's vm.max_map_count, on files of the tests' own.
use lab::host::max_map_count::{needed, Lease};
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

struct Host {
    _dir: TempDir,
    sysctl: PathBuf,
    ledger: PathBuf,
}

fn host(value: u64) -> Host {
    let dir = tempfile::tempdir().unwrap();
    let host = Host {
        sysctl: dir.path().join("max_map_count"),
        ledger: dir.path().join("run/ledger"),
        _dir: dir,
    };
    host.set(value);
    host
}

impl Host {
    fn set(&self, value: u64) {
        std::fs::write(&self.sysctl, format!("{value}\n")).unwrap();
    }

    fn value(&self) -> u64 {
        std::fs::read_to_string(&self.sysctl)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }

    fn take(&self, memory_mb: u64) -> Option<Lease> {
        Lease::take_at(&self.sysctl, &self.ledger, memory_mb).unwrap()
    }

    /// A ledger as a killed holder leaves it.
    fn orphan(&self, original: u64, raised: u64) {
        let mut child = Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        let text = format!(
            r#"{{"original":{original},"raised":{raised},"holders":[{{"pid":{pid},"start":1}}]}}"#
        );
        std::fs::create_dir_all(self.ledger.parent().unwrap()).unwrap();
        std::fs::write(&self.ledger, text).unwrap();
        self.set(raised);
    }
}

#[test]
fn guests_of_256_mb_need_nothing() {
    let host = host(65530);
    assert!(host.take(256).is_none());
    assert_eq!(host.value(), 65530);
    assert!(!host.ledger.exists());
}

#[test]
fn larger_guests_raise_the_value_and_the_last_restores_it() {
    let host = host(65530);
    let first = host.take(512).unwrap();
    assert!(host.value() >= needed(512));
    let second = host.take(1024).unwrap();
    assert!(host.value() >= needed(1024));
    drop(second);
    assert!(host.value() >= needed(512), "the first still runs");
    drop(first);
    assert_eq!(host.value(), 65530);
    assert!(!host.ledger.exists());
}

#[test]
fn a_value_that_another_program_wrote_stays() {
    let host = host(65530);
    let lease = host.take(512).unwrap();
    host.set(2_000_000);
    drop(lease);
    assert_eq!(host.value(), 2_000_000);
    assert!(!host.ledger.exists());
}

#[test]
fn a_high_value_stays() {
    let host = host(1 << 20);
    assert!(host.take(512).is_none());
    assert_eq!(host.value(), 1 << 20);
}

#[test]
fn the_value_that_a_killed_holder_raised_is_restored() {
    let host = host(65530);
    host.orphan(65530, 262_132);
    assert!(host.take(200).is_none());
    assert_eq!(
        host.value(),
        65530,
        "restored, although this guest needs no raise"
    );
    assert!(!host.ledger.exists());
    host.orphan(65530, 262_132);
    let lease = host.take(512).unwrap();
    assert!(host.value() >= needed(512));
    drop(lease);
    assert_eq!(host.value(), 65530, "and not the raised value");
}

#[test]
fn an_error_without_the_right_to_write_names_the_remedies() {
    let host = host(65530);
    // A folder cannot be written to, not even by root.
    let ledger = host.sysctl.join("not-a-folder/ledger");
    let error = Lease::take_at(&host.sysctl, &ledger, 512).unwrap_err();
    let message = format!("{error:#}");
    assert!(
        message.contains("guests of 512 MB need vm.max_map_count of 131066"),
        "{message}"
    );
    assert!(
        message.contains("sysctl -w vm.max_map_count=131066"),
        "{message}"
    );
    assert!(message.contains("machine.memory_mb=256"), "{message}");
    assert_eq!(host.value(), 65530);
}
