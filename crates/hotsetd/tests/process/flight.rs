//! The flight recorder outlives the daemon.
use crate::common::FakeMachine;
use crate::process::Process;
use crate::started::{started, QUICK};
use flight::{Flight, Record};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Kills in each run of the tests, and in `script/test --long`.
const KILLS: u64 = 12;
const MANY_KILLS: u64 = 100;

fn machine() -> FakeMachine {
    let mut machine = FakeMachine::new();
    // Near the watermarks, so that there are ten samples a second.
    machine.free = 6_000;
    machine.write();
    let text = format!("{QUICK}\n[flight]\nsize_mb = 1\n");
    machine.put("etc/hotset/hotsetd.conf", &text);
    machine
}

fn flight(machine: &FakeMachine) -> Flight {
    flight::read(&machine.path("var/lib/hotset/flight")).unwrap()
}

fn now_s() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs_f64()
}

fn records(machine: &FakeMachine, process: &mut Process, wanted: usize) -> Vec<Record> {
    let mut found = Vec::new();
    process.until("records", |_| {
        let path = machine.path("var/lib/hotset/flight");
        found = flight::read(&path).map_or_else(|_| Vec::new(), |flight| flight.records);
        found.len() >= wanted
    });
    found
}

#[test]
fn records_are_whole_after_each_kill_and_none_is_older_than_a_second() {
    kill(KILLS);
}

#[test]
#[ignore = "long: a hundred kills, two minutes"]
fn records_are_whole_after_each_of_a_hundred_kills() {
    kill(MANY_KILLS);
}

/// Kills the daemon at one moment after another, and reads what it recorded.
fn kill(times: u64) {
    let machine = machine();
    let mut numbers = 0;
    for kill in 0..times {
        let mut process = started(&machine, &[]);
        let found = records(&machine, &mut process, 1);
        assert!(!found.is_empty());
        // From right after the start to some samples later.
        std::thread::sleep(Duration::from_millis(kill * 97 % 700));
        process.signal(libc::SIGKILL);
        let killed_s = now_s();
        process.wait();
        let flight = flight(&machine);
        let last = flight.records.last().unwrap();
        assert!(killed_s - last.unix_s < 1.0, "{} {}", killed_s, last.unix_s);
        assert_eq!(flight.torn, 0);
        assert!(last.number >= numbers, "{} after {numbers}", last.number);
        numbers = last.number + 1;
        let sample = &last.sample;
        assert_eq!(sample.nodes[0].free, machine.free);
        assert_eq!(last.boot, "11111111");
    }
}

#[test]
fn the_file_is_reused_from_its_begin_and_keeps_each_second() {
    let machine = machine();
    let mut process = started(&machine, &[]);
    let layout = flight::Layout::of(1 << 20, 1);
    let wanted = layout.all + 20;
    let mut last = 0;
    process.until("more records than there is room for", |_| {
        let found = flight::read(&machine.path("var/lib/hotset/flight"));
        last = found.map_or(0, |flight| {
            flight.records.last().map_or(0, |last| last.number)
        });
        last >= wanted
    });
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    let flight = flight(&machine);
    let first = flight.records.first().unwrap();
    // The first second is still there, though its place among all records was used again.
    assert!(first.number < 20, "{}", first.number);
    let numbers = flight.records.iter().map(|record| record.number);
    let newest: Vec<u64> = numbers
        .filter(|number| *number > last - layout.all)
        .collect();
    assert!(
        newest.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{newest:?}"
    );
}

#[test]
fn a_file_of_another_kind_is_put_aside() {
    let machine = machine();
    machine.put("var/lib/hotset/flight", "something else\n");
    let mut process = started(&machine, &[]);
    records(&machine, &mut process, 2);
    assert_eq!(
        machine.read("var/lib/hotset/flight.old"),
        "something else\n"
    );
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
}

#[test]
fn nothing_is_recorded_where_no_file_is_named() {
    let machine = machine();
    let text = format!("{QUICK}\n[flight]\nfile = \"\"\n");
    machine.put("etc/hotset/hotsetd.conf", &text);
    let mut process = started(&machine, &[]);
    std::thread::sleep(Duration::from_millis(300));
    process.signal(libc::SIGTERM);
    assert!(process.wait().success());
    assert!(!machine.path("var/lib/hotset/flight").exists());
}

/// A folder that cannot hold the file: the daemon goes on, and says so.
#[test]
fn a_disk_that_takes_no_file_costs_records_and_nothing_else() {
    let machine = machine();
    let text = format!("{QUICK}\n[flight]\nfile = \"/var/lib/taken/flight\"\n");
    machine.put("etc/hotset/hotsetd.conf", &text);
    machine.put("var/lib/taken", "a file, and no folder\n");
    let mut process = started(&machine, &[]);
    process.until_logged("nothing is recorded");
    process.signal(libc::SIGTERM);
    assert!(process.wait().success(), "{}", process.log());
}
