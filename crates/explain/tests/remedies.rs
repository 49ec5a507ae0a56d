//! What would have helped, on machines that are written down, and the experiment that is composed to check it.
mod machine;

use explain::compose::{compose, Composed};
use explain::remedies::course::Ahead;
use explain::remedies::remedy::{Answer, Change, Remedy};
use explain::verdict::Kind;
use explain::{remedies, Story};
use flight::Deed;
use machine::{Machine, GIB, MIB};

fn remedy(story: &Story, change: Change) -> Remedy {
    let found = remedies::find(story, None);
    let one = found.into_iter().find(|remedy| remedy.change == change);
    one.unwrap_or_else(|| panic!("no {change:?}"))
}

fn answer(story: &Story, change: Change) -> Answer {
    remedy(story, change).answer
}

/// A program of 250 MiB a second that is killed after ten seconds of a standstill.
fn leak(swap: u64) -> Machine {
    let mut machine = Machine::new(8 * GIB, swap);
    machine.process(100, "browser", GIB);
    machine.calm(60);
    for step in 0..27 + swap / (256 * MIB) {
        machine.process(200, "leaky", (1 + step) * 250 * MIB);
        machine.seconds(1, 0.0);
    }
    for _ in 0..10 {
        machine.counter("workingset_refault_file", 20_000);
        machine.seconds(1, 0.9);
    }
    machine.counter("oom_kill", 1);
    machine.seconds(1, 0.5);
    machine.process(200, "leaky", 0);
    machine.calm(10);
    machine
}

#[test]
fn a_leak_is_ended_early_by_a_daemon_or_a_limit_and_comes_later_with_memory() {
    let story = leak(0).story();
    assert_eq!(story.verdict.kind, Kind::Program);
    let early = remedy(&story, Change::Earlyoom);
    assert_eq!(early.answer, Answer::Helps, "{early:?}");
    assert!(early.estimate.unwrap().high_s < 3.0, "{early:?}");
    let limit = remedy(&story, Change::Limit);
    assert_eq!(limit.answer, Answer::Helps);
    assert!(
        (limit.bytes as f64 / (3.3 * GIB as f64) - 1.0).abs() < 0.1,
        "{limit:?}"
    );
    // Of 2 GiB, 1 to 1.5 are gained, at 250 MiB a second: it grew by more than twice as much.
    let zram = remedy(&story, Change::Zram);
    assert_eq!(zram.answer, Answer::DoesNotHelp, "{zram:?}");
    assert!(
        zram.why.ends_with("the same comes 4.1 s to 6.1 s later"),
        "{zram:?}"
    );
    // 4 GiB are more than half of what it had: it may stop before it has them.
    let memory = remedy(&story, Change::Memory);
    assert_eq!(memory.answer, Answer::CannotTell, "{memory:?}");
    assert!(
        memory.why.ends_with("within 4.0 GiB more nobody saw"),
        "{memory:?}"
    );
    assert_eq!(answer(&story, Change::Nothing), Answer::DoesNotHelp);
    let found = remedies::find(&story, None);
    assert_eq!(found[0].answer, Answer::Helps);
    assert_eq!(found.last().unwrap().answer, Answer::DoesNotHelp);
}

/// A guest with stress-ng was ended 11 times by min_ttl_ms, 25 times by a limit, and stood still for as long as before.
#[test]
fn what_starts_again_is_not_sure_to_be_helped_by_a_kill() {
    let mut machine = leak(0);
    for pid in [201, 202] {
        machine.process(pid, "leaky", 6 * GIB);
        machine.counter("workingset_refault_file", 100_000);
        machine.seconds(5, 0.9);
        machine.counter("oom_kill", 1);
        machine.seconds(1, 0.5);
        machine.process(pid, "leaky", 0);
    }
    machine.calm(10);
    let story = machine.story();
    assert_eq!(story.episode.kills, 3);
    for change in [Change::Earlyoom, Change::MinTtl, Change::Limit] {
        let found = remedy(&story, change);
        assert_eq!(found.answer, Answer::CannotTell, "{found:?}");
        assert!(found.why.ends_with("started again"), "{found:?}");
    }
}

#[test]
fn a_limit_ends_a_program_only_where_no_swap_is_left() {
    let limit = |swap| remedy(&leak(swap).story(), Change::Limit);
    assert!(!limit(0).why.contains("swaps on its own"));
    let swaps = limit(4 * GIB);
    assert!(swaps.why.contains("swaps on its own"), "{swaps:?}");
    let estimate = swaps.estimate.unwrap();
    assert!(estimate.high_s > estimate.low_s + 5.0, "{swaps:?}");
}

#[test]
fn earlyoom_waits_for_swap_to_be_full() {
    // Swap is never used: free swap stays at 100%.
    let mut machine = leak(0);
    for record in &mut machine.records {
        record.sample.meminfo.insert("SwapTotal".into(), 4 << 20);
        record.sample.meminfo.insert("SwapFree".into(), 4 << 20);
    }
    let early = remedy(&machine.story(), Change::Earlyoom);
    assert_eq!(early.answer, Answer::DoesNotHelp, "{early:?}");
    assert!(early.why.contains("was never left"), "{early:?}");
}

#[test]
fn hotsetd_ends_it_where_swap_is_full_and_free_pages_are_gone() {
    let mut machine = leak(0);
    let calm = machine.story();
    // The machine here keeps 25 MiB free: above its watermark.
    let found = remedy(&calm, Change::Hotsetd);
    assert!(found.why.contains("kills nobody"), "{found:?}");
    for record in &mut machine.records[86..] {
        record.sample.meminfo.insert("MemFree".into(), 5_000);
    }
    let gone = machine.story();
    let found = remedy(&gone, Change::Hotsetd);
    assert_eq!(found.answer, Answer::Helps, "{found:?}");
    // A record of hotsetd's own kill is what came with it.
    machine.records[97].did.push(Deed {
        did: "killed leaky (200)".into(),
        ..Deed::default()
    });
    let own = machine.story();
    let with = remedy(&own, Change::Hotsetd);
    assert_eq!(with.answer, Answer::DoesNotHelp, "{with:?}");
    let without = remedy(&own, Change::Nothing);
    let estimate = without.estimate.unwrap();
    assert!(estimate.high_s > estimate.low_s, "{without:?}");
}

#[test]
fn what_is_reclaimed_ahead_lowers_the_lower_bound_alone() {
    let mut machine = leak(4 * GIB);
    let last = machine.records.len();
    for (at, record) in machine.records.iter_mut().enumerate() {
        let direct = (at as u64).saturating_sub(last as u64 - 30) * 1000;
        record.sample.vmstat.insert("pgsteal_direct".into(), direct);
        record.sample.vmstat.remove("workingset_refault_file");
    }
    let story = machine.story();
    let estimate = |bytes| {
        let ahead = Ahead {
            samples: 10,
            bytes,
            foretold_s: None,
        };
        let found = remedies::find(&story, Some(&ahead));
        let one = found
            .into_iter()
            .find(|remedy| remedy.change == Change::Hotsetd);
        one.unwrap().estimate.unwrap()
    };
    let (none, some) = (estimate(0), estimate(20_000 << 10));
    assert!(some.low_s < none.low_s, "{none:?} {some:?}");
    assert_eq!(some.high_s, none.high_s);
}

#[test]
fn a_floor_helps_where_file_pages_fell_below_it() {
    let mut machine = leak(0);
    let found = remedy(&machine.story(), Change::Floor);
    assert_eq!(found.answer, Answer::Helps, "{found:?}");
    for record in &mut machine.records {
        record.sample.nodes[0].inactive_file = GIB / 4096;
    }
    let found = remedy(&machine.story(), Change::Floor);
    assert_eq!(found.answer, Answer::DoesNotHelp, "{found:?}");
    // After the kill most of the waiting is for what was evicted: the floor has kept it.
    let mut machine = leak(0);
    for _ in 0..30 {
        machine.counter("workingset_refault_file", 20_000);
        machine.seconds(1, 0.9);
    }
    let ends = machine.records.len() - 30 - 10 - 11;
    for (at, record) in machine.records.iter_mut().enumerate() {
        let file = if at < ends { GIB } else { 4 * MIB };
        record.sample.nodes[0].inactive_file = file / 4096;
    }
    let found = remedy(&machine.story(), Change::Floor);
    assert_eq!(found.answer, Answer::Helps, "{found:?}");
    let bounds = found.estimate.unwrap();
    assert!(0.0 < bounds.high_s && bounds.high_s < 9.0, "{found:?}");
    // No file page was read again.
    let mut machine = leak(0);
    for record in &mut machine.records {
        record.sample.vmstat.remove("workingset_refault_file");
    }
    assert_eq!(answer(&machine.story(), Change::Floor), Answer::DoesNotHelp);
}

/// A page cache that lacks so many bytes.
fn thrash(missing: u64) -> Machine {
    let mut machine = Machine::new(8 * GIB, 0);
    machine.process(100, "model", 7 * GIB);
    machine.calm(60);
    for _ in 0..20 {
        machine.counter("workingset_refault_file", 20_000);
        machine.seconds(1, 0.8);
    }
    for record in &mut machine.records[60..] {
        let nodes = missing / (64 * 4096);
        record
            .sample
            .vmstat
            .insert("workingset_nodes".into(), nodes);
    }
    machine
}

#[test]
fn memory_helps_where_what_was_missing_fits_in() {
    let memory = |missing| remedy(&thrash(missing).story(), Change::Memory);
    assert_eq!(memory(3 * GIB).answer, Answer::Helps);
    assert_eq!(memory(3 * GIB).estimate.unwrap().high_s, 0.0);
    assert_eq!(memory(5 * GIB).answer, Answer::CannotTell);
    // Nothing is remembered, though pages are read again: the kernel has no such counter.
    let unknown = memory(0);
    assert_eq!(
        (unknown.answer, unknown.estimate),
        (Answer::CannotTell, None)
    );
}

#[test]
fn a_cgroup_at_its_limit_wants_a_higher_limit_and_no_memory() {
    let machine = Machine::at_its_limit();
    let story = machine.story();
    assert_eq!(story.verdict.kind, Kind::CgroupLimit);
    assert_eq!(answer(&story, Change::Memory), Answer::DoesNotHelp);
    // The cgroup's own pages may wait for zram instead of a disk.
    assert_eq!(answer(&story, Change::Zram), Answer::CannotTell);
    assert_eq!(answer(&story, Change::RaisedLimit), Answer::Helps);
}

#[test]
fn pieces_want_no_memory_and_a_pool_wants_to_be_smaller() {
    let machine = Machine::in_pieces();
    let pieces = machine.story();
    assert_eq!(pieces.verdict.kind, Kind::Fragmentation);
    assert_eq!(answer(&pieces, Change::Memory), Answer::DoesNotHelp);
    let mut machine = Machine::new(8 * GIB, GIB);
    machine.process(100, "browser", GIB);
    machine.hugetlb = 5 * GIB;
    machine.calm(60);
    machine.process(100, "browser", 3 * GIB);
    machine.seconds(10, 0.6);
    let pool = machine.story();
    assert_eq!(pool.verdict.kind, Kind::HugePages);
    assert_eq!(answer(&pool, Change::Pool), Answer::Helps);
}

#[test]
fn a_growth_that_was_seen_for_a_short_time_may_stop() {
    let mut machine = Machine::new(8 * GIB, 0);
    machine.process(100, "browser", 6 * GIB);
    machine.calm(60);
    for step in 0..4 {
        machine.process(200, "editor", (1 + step) * 400 * MIB);
        machine.seconds(1, 0.2);
    }
    machine.seconds(3, 0.9);
    machine.counter("oom_kill", 1);
    machine.seconds(1, 0.5);
    let found = remedy(&machine.story(), Change::Memory);
    assert_eq!(found.answer, Answer::CannotTell, "{found:?}");
    assert!(found.why.contains("nobody saw"), "{found:?}");
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
