//! The whole way: a run's directory in, reports out.
mod common;

use common::{fixtures, put, run, snapshot, trials, updating};
use std::fs;

#[test]
fn fixtures_are_the_generators() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), &run(), &trials());
    if updating() {
        put(&fixtures(), &run(), &trials());
    }
    let mut names = vec!["run.json".to_string()];
    names.extend(
        trials()
            .iter()
            .map(|t| format!("trials/{}-{}.json", t.arm, t.repetition)),
    );
    for name in names {
        let made = fs::read_to_string(dir.path().join(&name)).unwrap();
        let kept = fs::read_to_string(fixtures().join(&name)).unwrap();
        assert_eq!(made, kept, "{name}; UPDATE=1 accepts");
    }
    assert_eq!(
        fs::read_dir(fixtures().join("trials")).unwrap().count(),
        trials().len()
    );
}

#[test]
fn markdown_and_terminal_read_as_before() {
    let study = report::study(&report::load(&fixtures()).unwrap());
    snapshot("report.md", &report::format::markdown::markdown(&study));
    snapshot("terminal-80.txt", &report::terminal(&study, 80, false));
    snapshot("terminal-120.txt", &report::terminal(&study, 120, false));
}
