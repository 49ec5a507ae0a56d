//! The leak check.
use super::machine::{machine, TestMachine};
use policy::{Action, Meminfo, Warning};

#[test]
fn fields_that_add_up_to_more_than_there_is_are_no_leak() {
    let mut machine = machine();
    for round in 0..30 {
        machine.seen.meminfo = Meminfo {
            total: 1_000_000,
            free: 500_000,
            lru: 499_990 + round,
            slab: 100_000,
            ..Meminfo::default()
        };
        assert!(machine.after(60.0).is_empty());
    }
}

#[test]
fn a_sudden_leak_warns_once_and_a_slow_one_after_ten_growths() {
    let meminfo = |leaked: u64| Meminfo {
        total: 1_000_000,
        free: 900_000 - leaked,
        lru: 90_000,
        ..Meminfo::default()
    };
    let warnings = |machine: &mut TestMachine, leaked: u64| -> Vec<Action> {
        machine.seen.meminfo = meminfo(leaked);
        machine
            .after(60.0)
            .into_iter()
            .map(|(action, _)| action)
            .collect()
    };
    let mut sudden = machine();
    assert!(warnings(&mut sudden, 0).is_empty());
    assert_eq!(
        warnings(&mut sudden, 50_000),
        [Action::Warn(Warning::SuddenLeak)]
    );
    assert!(warnings(&mut sudden, 50_000).is_empty());
    let mut slow = machine();
    let warned: Vec<_> = (0..=10)
        .map(|round| warnings(&mut slow, round * 1000))
        .collect();
    assert!(warned[..10].iter().all(Vec::is_empty), "{warned:?}");
    assert_eq!(warned[10], [Action::Warn(Warning::SlowLeak)]);
}
