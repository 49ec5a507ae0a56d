//! Who is killed, and who never.
use policy::victim::{choose, Candidate, Choice, Mark, Storm};

const PAGE: u64 = 4096;

fn one(pid: i32, name: &str, mb: u64) -> Candidate {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Candidate {
        pid,
        parent: 1,
        session: 10,
        uid: 1000,
        start: pid as u64,
        name: bytes,
        memory: mb << 8,
        ..Candidate::default()
    }
}

const TOTAL: u64 = 1 << 20;

fn chosen(list: &[Candidate]) -> Option<i32> {
    match choose(list, TOTAL, PAGE) {
        Choice::One(at) | Choice::Storm(at) => Some(list[at].pid),
        Choice::Wait(_) | Choice::Nobody => None,
    }
}

#[test]
fn the_largest_is_chosen_unless_it_is_spared() {
    let mut list = vec![
        one(10, "small", 20),
        one(11, "large", 900),
        one(12, "middle", 500),
    ];
    assert_eq!(chosen(&list), Some(11));
    list[1].mark = Mark::Never;
    assert_eq!(chosen(&list), Some(12));
    list[2].adj = -1000;
    assert_eq!(chosen(&list), Some(10));
    list[0].pid = 1;
    assert_eq!(chosen(&list), None);
}

#[test]
fn who_grows_goes_before_who_is_merely_large() {
    let mut list = vec![one(10, "browser", 900), one(11, "hog", 700)];
    assert_eq!(chosen(&list), Some(10));
    list[1].growth = 300 << 8;
    assert_eq!(chosen(&list), Some(11));
}

#[test]
fn oom_score_adj_counts_as_it_does_for_the_kernel() {
    let mut list = vec![one(10, "a", 900), one(11, "b", 500)];
    // 200 thousandths of 4 GiB are 800 MiB.
    list[1].adj = 200;
    assert_eq!(chosen(&list), Some(11));
}

#[test]
fn the_preferred_go_first_if_that_helps() {
    let mut list = vec![one(10, "a", 1000), one(11, "b", 60)];
    list[1].mark = Mark::Preferred;
    assert_eq!(chosen(&list), Some(11));
    list[1].memory = 20 << 8;
    assert_eq!(chosen(&list), Some(10));
}

#[test]
fn nobody_dies_for_next_to_nothing() {
    let list: Vec<_> = (10..60).map(|pid| one(pid, "small", 1)).collect();
    assert_eq!(choose(&list, TOTAL, PAGE), Choice::Nobody);
}

#[test]
fn a_storm_goes_as_a_whole_and_innocents_of_the_same_name_stay() {
    // Fifty that have long been there, and two hundred like them that grow.
    let mut list: Vec<_> = (10..60).map(|pid| one(pid, "sh", 3)).collect();
    // Their parent sleeps, and was there before them.
    list.push(one(99, "sh", 0));
    for pid in 100..300 {
        list.push(Candidate {
            parent: 99,
            // The first of them grow no longer.
            growth: if pid < 110 { 0 } else { 2 << 8 },
            ..one(pid, "sh", 2)
        });
    }
    list.push(one(500, "editor", 300));
    let Choice::Storm(at) = choose(&list, TOTAL, PAGE) else {
        panic!("{:?}", choose(&list, TOTAL, PAGE));
    };
    let storm = Storm::of(&list[at], &list);
    let members: Vec<_> = list.iter().filter(|one| storm.has(one, TOTAL)).collect();
    assert_eq!(members.len(), 201);
    assert!(members.iter().all(|one| one.pid >= 99 && one.pid < 300));
    // A single one that is larger than all of them together is the culprit, ...
    list.push(one(600, "hog", 2000));
    assert_eq!(chosen(&list), Some(600));
    list.pop();
    // ... and so is one that grows by a quarter of them: they may only just have been started.
    list.push(Candidate {
        growth: 250 << 8,
        ..one(600, "hog", 350)
    });
    assert_eq!(chosen(&list), Some(600));
}

#[test]
fn somebody_who_dies_already_is_waited_for() {
    let mut list = vec![one(10, "a", 900), one(11, "b", 50)];
    list[1].dying = true;
    assert_eq!(choose(&list, TOTAL, PAGE), Choice::Wait(1));
    // One that holds nothing is not.
    list[1].memory = 1;
    assert_eq!(chosen(&list), Some(10));
}
