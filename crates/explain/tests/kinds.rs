//! Each kind of shortage, in records as hotsetd writes them.
mod machine;

use explain::growth::Who;
use explain::verdict::Kind;
use explain::words::headline;
use explain::{episode, points, Story};
use flight::Group;
use kernfs::samples::{Pressure, PressureLine};
use machine::{Machine, GIB, MIB};

fn name(story: &Story) -> &str {
    match &story.verdict.culprit.as_ref().expect("a culprit").who {
        Who::Program { name, .. } | Who::Crowd { name, .. } => name,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_takes_all_memory() {
    let mut machine = Machine::new(8 * GIB, 0);
    machine.process(100, "browser", 2 * GIB);
    machine.calm(60);
    machine.process(200, "leaky", 100 * MIB);
    for step in 0..20 {
        machine.process(200, "leaky", (1 + step) * 250 * MIB);
        machine.seconds(1, 0.0);
    }
    machine.seconds(10, 0.9);
    machine.counter("oom_kill", 1);
    machine.seconds(1, 0.5);
    machine.process(200, "leaky", 0);
    machine.calm(10);
    let story = machine.story();
    assert_eq!((story.verdict.kind, name(&story)), (Kind::Program, "leaky"));
    assert_eq!(story.episode.kills, 1);
    assert!(
        (story.episode.lost_s - 9.5).abs() < 0.6,
        "{:?}",
        story.episode
    );
    let foresight = story.foresight.expect("it falls in a line");
    assert!((5.0..25.0).contains(&foresight.before_s), "{foresight:?}");
    let headline = headline(&story);
    assert!(headline.starts_with("leaky (200) took "), "{headline}");
    assert!(headline.ends_with("and a process was killed"), "{headline}");
}

/// So many seconds, with a share of the time in which every task waits for the disk. Every other record says so.
fn reading(machine: &mut Machine, seconds: u64, full: f64) {
    for _ in 0..seconds / 2 {
        let before = machine.records.iter().rev();
        let mut io = before.filter_map(|record| record.sample.psi.get("io"));
        let total = io.next().map_or(0, |io| io.full.unwrap().total);
        machine.calm(2);
        let line = Some(PressureLine {
            total: total + (full * 2e6) as u64,
            ..PressureLine::default()
        });
        let pressure = Pressure {
            some: line,
            full: line,
        };
        let record = machine.records.last_mut().unwrap();
        record.sample.psi.insert("io".into(), pressure);
    }
}

/// On MGLRU, pages that programs read with read(2) come back without pressure of memory.
#[test]
fn reading_again_what_was_evicted_is_waiting_for_memory() {
    let reread = |again: u64| {
        let mut machine = Machine::new(8 * GIB, 0);
        machine.process(100, "database", 6 * GIB);
        reading(&mut machine, 60, 0.0);
        for _ in 0..10 {
            machine.counter("pgpgin", 200 << 10);
            machine.counter("workingset_refault_file", again);
            reading(&mut machine, 2, 0.9);
        }
        reading(&mut machine, 10, 0.0);
        machine
    };
    // 200 MiB are 51,200 pages.
    let story = reread(51_200).story();
    assert_eq!(story.verdict.kind, Kind::CacheThrash);
    assert!(
        (story.episode.lost_s - 18.0).abs() < 1.0,
        "{:?}",
        story.episode
    );
    // Nothing of it had been in memory: a disk is slow, and memory has no part in it.
    let points = points::of(&reread(0).records, 4096);
    assert_eq!(episode::find(&points), []);
    // What comes from swap is not read by the page cache.
    let mut machine = reread(5_120);
    for record in &mut machine.records {
        let read = record.sample.vmstat.get("pgpgin").copied().unwrap_or(0);
        record
            .sample
            .vmstat
            .insert("pswpin".into(), read / 4 * 9 / 10);
    }
    assert!(machine.story().episode.lost_s > 17.0);
}

#[test]
fn many_small_processes() {
    let mut machine = Machine::new(8 * GIB, 2 * GIB);
    machine.calm(60);
    for step in 0..30 {
        machine.crowd = Some(Group {
            name: "cc1plus".into(),
            uid: 1000,
            count: 10 + 10 * step,
            kib: (10 + 10 * step) * 24 * 1024,
        });
        machine.seconds(1, 0.0);
    }
    machine.seconds(8, 0.8);
    let story = machine.story();
    assert_eq!((story.verdict.kind, name(&story)), (Kind::Crowd, "cc1plus"));
    assert!(headline(&story).starts_with("300 processes called cc1plus took "));
}

#[test]
fn a_cgroup_at_its_limit() {
    let machine = Machine::at_its_limit();
    let story = machine.story();
    assert_eq!(
        (story.verdict.kind, name(&story)),
        (Kind::CgroupLimit, "java")
    );
    let headline = headline(&story);
    assert!(
        headline.starts_with("system.slice/app.service used all of its limit"),
        "{headline}"
    );
    assert!(story.foresight.is_none(), "{:?}", story.foresight);
}

#[test]
fn memory_in_the_pool_of_huge_pages() {
    let mut machine = Machine::new(8 * GIB, 0);
    machine.process(100, "browser", GIB);
    machine.calm(60);
    machine.hugetlb = 5 * GIB;
    machine.process(100, "browser", 2 * GIB);
    machine.seconds(10, 0.6);
    assert_eq!(machine.story().verdict.kind, Kind::HugePages);
}

#[test]
fn free_memory_in_pieces() {
    let machine = Machine::in_pieces();
    assert_eq!(machine.story().verdict.kind, Kind::Fragmentation);
}

#[test]
fn a_page_cache_without_room() {
    let mut machine = Machine::new(8 * GIB, 0);
    machine.process(100, "model", 7 * GIB);
    machine.process(200, "server", 200 * MIB);
    machine.calm(60);
    for _ in 0..20 {
        machine.counter("workingset_refault_file", 20_000);
        machine.seconds(1, 0.8);
    }
    let story = machine.story();
    assert_eq!(
        (story.verdict.kind, name(&story)),
        (Kind::CacheThrash, "model")
    );
}

#[test]
fn programs_that_wait_for_swap() {
    let mut machine = Machine::new(8 * GIB, 8 * GIB);
    machine.process(100, "model", 9 * GIB);
    machine.calm(60);
    for _ in 0..20 {
        machine.counter("workingset_refault_anon", 20_000);
        machine.counter("pswpin", 20_000);
        machine.seconds(1, 0.8);
    }
    let story = machine.story();
    assert_eq!(
        (story.verdict.kind, name(&story)),
        (Kind::SwapThrash, "model")
    );
}

#[test]
fn files_in_memory_and_objects_of_the_kernel() {
    for (slab, kind) in [(false, Kind::SharedFiles), (true, Kind::Kernel)] {
        let mut machine = Machine::new(8 * GIB, 0);
        machine.process(100, "browser", GIB);
        machine.calm(60);
        for step in 1..24 {
            match slab {
                true => machine.slab = step * 280 * MIB,
                false => machine.shmem = step * 280 * MIB,
            }
            machine.seconds(1, 0.0);
        }
        machine.seconds(5, 0.9);
        assert_eq!(machine.story().verdict.kind, kind);
    }
}

#[test]
fn a_calm_machine_has_no_story() {
    let mut machine = Machine::new(8 * GIB, 0);
    machine.process(100, "browser", 2 * GIB);
    machine.calm(600);
    let points = points::of(&machine.records, 4096);
    assert!(episode::find(&points).is_empty());
}

#[test]
fn records_without_programs_say_that_they_do_not_know() {
    let mut machine = Machine::new(8 * GIB, 0);
    machine.process(100, "leaky", GIB);
    machine.calm(60);
    machine.process(100, "leaky", 7 * GIB);
    machine.seconds(5, 0.9);
    for record in &mut machine.records {
        record.processes.clear();
    }
    let story = machine.story();
    assert_eq!(story.verdict.kind, Kind::Unknown);
    assert!(headline(&story).starts_with("who took the memory cannot be told"));
}
