//! The experiment that is composed from a record.
mod machine;

use explain::compose::{compose, Composed};
use explain::remedies::{self, remedy::Change};
use machine::{Machine, GIB, MIB};

/// A program of 250 MiB a second that is killed, on 8 GiB.
fn leak(swap: u64) -> Machine {
    let mut machine = Machine::new(8 * GIB, swap);
    machine.process(100, "browser", GIB);
    machine.calm(60);
    for step in 0..27 + swap / (256 * MIB) {
        machine.process(200, "leaky", (1 + step) * 250 * MIB);
        machine.seconds(1, 0.0);
    }
    for _ in 0..10 {
        machine.seconds(1, 0.9);
    }
    machine.process(200, "leaky", 0);
    machine.counter("oom_kill", 1);
    machine.calm(30);
    machine
}

fn composed(machine: &Machine) -> Result<Composed, String> {
    let story = machine.story();
    compose(&story, &remedies::find(&story, None), 4096)
}

/// The number behind a name, in its line.
fn number(toml: &str, name: &str) -> u64 {
    let line = toml.lines().find(|line| line.contains(name));
    let rest = line
        .and_then(|line| line.split_once(name))
        .map(|(_, rest)| rest);
    let rest = rest.unwrap_or_else(|| panic!("{name}: {toml}"));
    let digits = rest.trim_start_matches([' ', '=']);
    let end = digits.find(|letter: char| !letter.is_ascii_digit());
    digits[..end.unwrap_or(digits.len())].parse().unwrap()
}

#[test]
fn sizes_and_rates_are_in_proportion_to_memory() {
    let found = composed(&leak(GIB)).unwrap();
    let toml = &found.toml;
    assert_eq!(number(toml, "memory_mb"), 512);
    assert_eq!(number(toml, "swap_mb"), 64);
    // A sixteenth of 7,750 MiB in the 37 seconds until the peak ended, within two counts.
    let rate = number(toml, "rate") as f64 / (7750.0 / 37.0 * MIB as f64 / 16.0);
    assert!((0.95..1.05).contains(&rate), "{rate}");
    let others = &toml[toml.find("[workers.others]").unwrap()..];
    assert_eq!(number(others, "size"), 64 * MIB);
    assert!(toml.contains("until = \"killed\""), "{toml}");
    for change in [Change::Hotsetd, Change::Memory, Change::Limit, Change::Zram] {
        assert!(
            found.arms.iter().any(|(one, _)| *one == change),
            "{change:?}"
        );
    }
    // 4 GiB more on 8.
    let memory = &toml[toml.find("name = \"memory\"").unwrap()..];
    assert_eq!(number(memory, "memory_mb"), 768);
}

#[test]
fn a_cgroup_keeps_its_limit() {
    let found = composed(&Machine::at_its_limit()).unwrap();
    assert_eq!(number(&found.toml, "memory_max"), 32 * MIB);
    // The limit is there already.
    assert!(!found.arms.iter().any(|(_, name)| *name == "limit"));
}

#[test]
fn what_cannot_be_composed_says_why() {
    let why = composed(&Machine::in_pieces()).err().unwrap();
    assert!(why.contains("fragmentation"), "{why}");
}
