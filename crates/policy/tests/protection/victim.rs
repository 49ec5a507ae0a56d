//! The choice of the process to kill.
use policy::storm::find_bonds;
use policy::victim::{choose, share_out, Candidate, Choice, Eligibility};

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

fn choice(list: &[Candidate]) -> Choice {
    choose(&mut list.to_vec(), TOTAL, PAGE)
}

fn chosen(list: &[Candidate]) -> Option<i32> {
    match choice(list) {
        Choice::One(one) => Some(one.pid),
        Choice::Storm(storm) => Some(storm.head.pid),
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
    list[1].eligibility = Eligibility::Never;
    assert_eq!(chosen(&list), Some(12));
    list[2].adj = -1000;
    assert_eq!(chosen(&list), Some(10));
    list[0].pid = 1;
    assert_eq!(chosen(&list), None);
}

/// A hog of shared memory is mostly in swap, where the kernel counts it as nobody's.
#[test]
fn shared_pages_in_swap_are_counted_among_those_who_have_shared_pages_and_had_more() {
    let hog = Candidate {
        shared: 20 << 8,
        missing: 80 << 8,
        ..one(10, "hog", 20)
    };
    let desktop = Candidate {
        shared: 5 << 8,
        missing: 5 << 8,
        ..one(12, "desktop", 40)
    };
    // It has given memory back, and has nothing to share.
    let database = Candidate {
        swapped: 10 << 8,
        missing: 500 << 8,
        ..one(11, "database", 30)
    };
    let sizes = |megabytes: u64| {
        let mut list = [hog, database, desktop];
        share_out(megabytes << 8, &mut list);
        list.map(|one| one.memory >> 8)
    };
    assert_eq!(sizes(10), [20, 30, 40], "all of it has an owner");
    assert_eq!(sizes(20), [28, 30, 42]);
    assert_eq!(sizes(60), [60, 30, 45], "nobody gets more than is missing");
    assert_eq!(sizes(9000), [100, 30, 45], "files of tmpfs have no owner");
}

/// make -j: each compiler is small, and together they exhaust memory.
#[test]
fn of_compilers_that_grow_the_largest_goes_before_a_service_that_does_not() {
    let mut list = vec![one(10, "service", 300)];
    list[0].uid = 0;
    for pid in 20..26 {
        let mut compiler = one(pid, "cc1", 100 + pid as u64);
        compiler.growth = 4 << 8;
        list.push(compiler);
    }
    assert_eq!(chosen(&list), Some(25));
    // A hog that grows is the culprit, whatever else grows.
    list[0].growth = 10 << 8;
    assert_eq!(chosen(&list), Some(10));
    // So is a process of several times their size.
    (list[0].growth, list[0].memory) = (0, 3000 << 8);
    assert_eq!(chosen(&list), Some(10));
    // Many processes that stand still, such as a browser's, are none.
    list[0].memory = 300 << 8;
    list[1..].iter_mut().for_each(|one| one.growth = 1 << 8);
    assert_eq!(chosen(&list), Some(10));
    // Nor does a process go in place of one that is to go first.
    list[1..].iter_mut().for_each(|one| one.growth = 4 << 8);
    list[0].adj = 300;
    assert_eq!(chosen(&list), Some(10));
}

#[test]
fn a_process_that_grows_goes_before_a_larger_one() {
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
fn a_preferred_process_goes_first_if_it_is_large_enough() {
    let mut list = vec![one(10, "a", 1000), one(11, "b", 60)];
    list[1].eligibility = Eligibility::Preferred;
    assert_eq!(chosen(&list), Some(11));
    list[1].memory = 20 << 8;
    assert_eq!(chosen(&list), Some(10));
}

#[test]
fn small_processes_are_not_worth_a_kill() {
    let list: Vec<_> = (10..60).map(|pid| one(pid, "small", 1)).collect();
    assert_eq!(choice(&list), Choice::Nobody);
}

#[test]
fn a_storm_is_chosen_as_a_whole_without_older_processes_of_its_name() {
    // Fifty processes have long been there. Two hundred of the same name grow.
    let mut list: Vec<_> = (10..60).map(|pid| one(pid, "sh", 3)).collect();
    // The storm's parent sleeps and is older.
    list.push(one(99, "sh", 0));
    for pid in 100..300 {
        list.push(Candidate {
            parent: 99,
            // The first ten grow no longer.
            growth: if pid < 110 { 0 } else { 2 << 8 },
            ..one(pid, "sh", 2)
        });
    }
    list.push(one(500, "editor", 300));
    let Choice::Storm(storm) = choice(&list) else {
        panic!("{:?}", choice(&list));
    };
    let members: Vec<_> = list.iter().filter(|one| storm.has(one)).collect();
    assert_eq!(members.len(), 201);
    assert!(members.iter().all(|one| one.pid >= 99 && one.pid < 300));
    // A process that is larger than the storm is the culprit.
    list.push(one(600, "hog", 2000));
    assert_eq!(chosen(&list), Some(600));
    list.pop();
    // So is one that grows by a quarter of the storm, whose members may only just have been started.
    list.push(Candidate {
        growth: 250 << 8,
        ..one(600, "hog", 350)
    });
    assert_eq!(chosen(&list), Some(600));
}

#[test]
fn small_processes_that_die_without_end_do_not_hold_up_the_kill() {
    let mut list = vec![one(10, "hog", 900)];
    for pid in 11..31 {
        list.push(one(pid, "dies", 23));
        list.last_mut().unwrap().dying = true;
    }
    assert_eq!(choice(&list), Choice::Wait(list[20]));
    assert_eq!(chosen(&list[..20]), Some(10));
}

#[test]
fn a_dying_process_that_holds_memory_is_waited_for() {
    let mut list = vec![one(10, "a", 900), one(11, "b", 500)];
    list[1].dying = true;
    assert_eq!(choice(&list), Choice::Wait(list[1]));
    // A dying process that holds nothing is not waited for.
    list[1].memory = 1;
    assert_eq!(chosen(&list), Some(10));
}

/// A storm came anew while the last one's members still end.
#[test]
fn dying_processes_hold_up_the_kill_of_a_storm_only_where_they_hold_half_as_much() {
    let storm = |dying: i32| {
        let mut list = vec![one(10, "editor", 20)];
        for pid in 100..140 {
            list.push(Candidate {
                growth: 2 << 8,
                dying: pid < 100 + dying,
                ..one(pid, "child", 2)
            });
        }
        list
    };
    assert!(matches!(choice(&storm(10)), Choice::Storm(_)));
    assert!(matches!(choice(&storm(20)), Choice::Wait(_)));
}

/// Each child has a session, a name and even a cgroup of its own.
#[test]
fn a_storm_in_disguise_is_chosen_as_a_whole_with_its_parent() {
    for cgroups in [false, true] {
        let mut list = vec![one(10, "editor", 300), one(11, "shell", 3)];
        list.push(one(99, "spawner", 1));
        for pid in 1000..1400 {
            list.push(Candidate {
                parent: 99,
                session: pid,
                cgroup: if cgroups { pid as u64 } else { 7 },
                growth: 2 << 8,
                ..one(pid, &format!("w{pid}"), 2)
            });
        }
        // Another user starts as many small programs, and none of them is in the storm.
        for pid in 2000..2020 {
            list.push(Candidate {
                uid: 1001,
                growth: 2 << 8,
                ..one(pid, "cc1", 2)
            });
        }
        let Choice::Storm(storm) = choice(&list) else {
            panic!("{:?}", choice(&list));
        };
        find_bonds(&mut list);
        let members: Vec<_> = list.iter().filter(|one| storm.has(one)).collect();
        assert_eq!(members.len(), 401);
        assert!(members.iter().all(|one| (99..1400).contains(&one.pid)));
    }
}

/// A parent starts another child for each that is killed, and never has eight at once.
#[test]
fn children_that_are_killed_one_by_one_are_a_storm_with_their_parent() {
    let crowd = |killed: i32| {
        let mut list = vec![one(10, "service", 30), one(99, "spawner", 1)];
        for pid in 1000..1005 + killed {
            let alive = pid < 1005;
            list.push(Candidate {
                parent: 99,
                // The first has been stopped for a while.
                growth: if pid == 1000 || !alive { 0 } else { 20 << 8 },
                fallen: !alive,
                dying: !alive,
                ..one(pid, "spawner", if alive { 20 } else { 0 })
            });
        }
        list
    };
    assert!(matches!(choice(&crowd(3)), Choice::One(_)));
    let mut list = crowd(4);
    let Choice::Storm(storm) = choice(&list) else {
        panic!("{:?}", choice(&list));
    };
    find_bonds(&mut list);
    let mut members: Vec<_> = list.iter().filter(|one| storm.has(one)).collect();
    members.sort_unstable_by_key(|one| one.pid);
    let pids: Vec<_> = members.iter().map(|one| one.pid).collect();
    assert_eq!(pids, [99, 1000, 1001, 1002, 1003, 1004]);
    // Nobody is left of them: they are no reason to kill another.
    list.retain(|one| one.dying || one.parent != 99);
    assert_eq!(chosen(&list), Some(10));
}

/// Its first processes hold less than a service does.
#[test]
fn a_storm_that_was_just_killed_need_not_be_large_to_be_killed_again() {
    let storm = |fallen, fell_in_storm| {
        let mut list = vec![one(10, "service", 30)];
        list[0].uid = 0;
        for pid in 100..110 {
            let session = pid;
            let growth = 1 << 8;
            list.push(Candidate {
                session,
                growth,
                ..one(pid, "hog", 1)
            });
        }
        list.push(Candidate {
            memory: 0,
            dying: true,
            fallen,
            fell_in_storm,
            ..one(90, "hog", 1)
        });
        list
    };
    assert_eq!(chosen(&storm(false, false)), Some(10));
    // A single hog was killed.
    assert_eq!(chosen(&storm(true, false)), Some(10));
    assert!(matches!(choice(&storm(true, true)), Choice::Storm(_)));
}

#[test]
fn thirty_thousand_processes_are_judged_without_comparing_each_with_each() {
    let list: Vec<_> = (1000..31_000)
        .map(|pid| Candidate {
            session: pid,
            growth: 1 << 8,
            ..one(pid, &format!("w{pid}"), 1)
        })
        .collect();
    // Comparing all pairs would be 9e8 comparisons for each of three bonds.
    let begun = std::time::Instant::now();
    assert!(matches!(choice(&list), Choice::Storm(_)));
    println!("{:?}", begun.elapsed());
}

#[test]
fn a_name_spares_a_process_only_while_its_user_has_a_larger_one() {
    let spared = |pid, name: &str, mb| Candidate {
        eligibility: Eligibility::Last,
        ..one(pid, name, mb)
    };
    let mut list = vec![spared(10, "gnome-shell", 300), one(11, "browser", 900)];
    assert_eq!(chosen(&list), Some(11));
    // A hog with that name is the largest, and goes first; then the browser, and not the real one.
    list.push(spared(12, "gnome-shell", 2000));
    assert_eq!(chosen(&list), Some(12));
    // Processes of other users do not count.
    list.push(Candidate {
        uid: 0,
        eligibility: Eligibility::Never,
        ..one(13, "database", 3000)
    });
    assert_eq!(chosen(&list), Some(12));
    // A storm under such a name is a storm.
    list.truncate(2);
    list.extend((100..600).map(|pid| Candidate {
        growth: 3 << 8,
        ..spared(pid, "sshd", 3)
    }));
    let Choice::Storm(storm) = choice(&list) else {
        panic!("{:?}", choice(&list));
    };
    assert_eq!(list.iter().filter(|one| storm.has(one)).count(), 500);
}

/// A session begins: fifty programs of one name start beside a hog, all in one cgroup.
#[test]
fn a_hog_does_not_make_a_storm_of_those_that_start_beside_it() {
    let mut list: Vec<_> = (100..150)
        .map(|pid| Candidate {
            growth: 2 << 8,
            ..one(pid, "worker", 2)
        })
        .collect();
    list.push(Candidate {
        growth: 60 << 8,
        ..one(200, "hog", 60)
    });
    assert_eq!(chosen(&list), Some(200));
}
