use super::{should_run_aging, Age, Generations};
use crate::policies::linux::page;
use crate::policies::linux::pid::Rules;
use crate::policies::linux::reclaim::{ANON, FILE};

fn lruvec(rules: Rules) -> Generations {
    Generations::new(8, 4, rules)
}

fn put(lruvec: &mut Generations, id: u32, bits: u8) -> u64 {
    lruvec.pages[id as usize].bits = page::PRESENT | bits;
    let seq = lruvec.seq_for(lruvec.pages[id as usize], lruvec.rules);
    lruvec.add(id);
    seq
}

#[test]
fn lru_gen_add_folio_6_12() {
    let mut lruvec = lruvec(Rules::V6_12);
    assert_eq!((lruvec.min_seq, lruvec.max_seq), ([0, 0], 3));
    assert_eq!(put(&mut lruvec, 0, page::ACTIVE | page::FILE), 3);
    assert_eq!(put(&mut lruvec, 1, 0), 2, "anon, not active");
    assert_eq!(put(&mut lruvec, 2, page::FILE), 1, "four generations");
    lruvec.min_seq = [1, 1];
    assert_eq!(put(&mut lruvec, 3, page::FILE), 1, "three generations");
}

#[test]
fn lru_gen_folio_seq_7() {
    let mut lruvec = lruvec(Rules::V7);
    let active = page::ACTIVE | page::FILE;
    assert_eq!(put(&mut lruvec, 0, active), 2);
    assert_eq!(put(&mut lruvec, 1, active | page::WORKINGSET), 3);
    assert_eq!(put(&mut lruvec, 2, 0), 2);
    assert_eq!(put(&mut lruvec, 3, page::FILE), 0);
    assert_eq!(put(&mut lruvec, 4, page::FILE | page::REFERENCED), 1);
    lruvec.min_seq = [2, 2];
    assert_eq!(put(&mut lruvec, 5, page::FILE), 2, "never below the oldest");
}

#[test]
fn accesses_through_descriptors_raise_the_tier_never_the_generation() {
    let tiers = |rules| {
        let mut lruvec = lruvec(rules);
        let seq = put(&mut lruvec, 0, page::FILE);
        let tiers: Vec<usize> = (0..6)
            .map(|_| {
                lruvec.inc_refs(0);
                lruvec.pages[0].refs_and_tier(lruvec.rules).1
            })
            .collect();
        assert_eq!(u64::from(lruvec.pages[0].gen), seq);
        tiers
    };
    assert_eq!(tiers(Rules::V6_12), [0, 1, 2, 2, 3, 3]);
    assert_eq!(tiers(Rules::V7), [0, 1, 2, 2, 3, 3]);
}

#[test]
fn should_run_aging_by_the_spread_of_pages() {
    let age = |min_seq, young, old| Age {
        min_seq,
        max_seq: 5,
        young,
        old,
        total: 100,
    };
    assert!(should_run_aging(&age(4, 0, 100)), "two generations");
    assert!(!should_run_aging(&age(2, 100, 0)), "four generations");
    assert!(!should_run_aging(&age(3, 50, 25)), "well spread");
    assert!(should_run_aging(&age(3, 51, 25)), "too many young");
    assert!(should_run_aging(&age(3, 50, 24)), "too few old");
}

#[test]
fn inc_max_seq_promotes_the_young_and_merges_the_oldest() {
    let mut lruvec = lruvec(Rules::V6_12);
    put(&mut lruvec, 0, page::FILE);
    put(&mut lruvec, 1, page::FILE);
    // Both pages go into the oldest generation, which is 1 once 0 is empty.
    assert!(lruvec.try_to_inc_min_seq(ANON));
    assert_eq!(lruvec.min_seq, [1, 1]);
    lruvec.set_young(0);
    lruvec.inc_max_seq();
    assert_eq!(lruvec.max_seq, 4);
    assert_eq!((lruvec.pages[0].gen, lruvec.pages[1].gen), (3, 1));
    // Four generations of both types: the oldest is merged into the next.
    lruvec.inc_max_seq();
    assert_eq!((lruvec.max_seq, lruvec.min_seq), (5, [2, 2]));
    assert_eq!((lruvec.pages[0].gen, lruvec.pages[1].gen), (3, 2));
}

#[test]
fn folio_update_gen_7_marks_first_and_promotes_second() {
    let mut lruvec = lruvec(Rules::V7);
    put(&mut lruvec, 0, page::FILE);
    put(&mut lruvec, 1, page::FILE | page::EXEC);
    lruvec.min_seq = [2, 2];
    for _ in 0..2 {
        lruvec.set_young(0);
        lruvec.set_young(1);
        lruvec.walk();
        if lruvec.pages[0].bits & page::WORKINGSET == 0 {
            assert!(lruvec.pages[0].bits & page::REFERENCED != 0);
            assert_eq!(
                (lruvec.pages[0].gen, lruvec.pages[1].gen),
                (0, 3),
                "executable at once"
            );
        }
    }
    assert_eq!(lruvec.pages[0].gen, 3);
}

#[test]
fn sort_folio_protects_tiers_above_the_index() {
    let mut lruvec = lruvec(Rules::V6_12);
    put(&mut lruvec, 0, page::FILE);
    lruvec.try_to_inc_min_seq(ANON);
    for _ in 0..3 {
        lruvec.inc_refs(0);
    }
    assert_eq!(lruvec.pages[0].refs_and_tier(lruvec.rules), (2, 2));
    let mut isolated = Vec::new();
    let scanned = lruvec.scan(FILE, 1, 64, &mut isolated, Rules::V6_12);
    assert_eq!((scanned, isolated.len()), ((1, 1), 0));
    assert_eq!(lruvec.tiers[FILE].protected, [0, 0, 1, 0]);
    assert_eq!(lruvec.pages[0].gen, 2, "one generation younger");
    assert_eq!(
        lruvec.pages[0].refs_and_tier(lruvec.rules),
        (0, 0),
        "and its accesses forgotten"
    );
}

#[test]
fn try_to_inc_min_seq_keeps_anon_behind_file_in_6_12_only() {
    for (rules, expected) in [(Rules::V6_12, [1, 1]), (Rules::V7, [1, 0])] {
        let mut lruvec = lruvec(rules);
        put(&mut lruvec, 0, page::FILE);
        lruvec.try_to_inc_min_seq(ANON);
        assert_eq!(lruvec.min_seq, expected, "{rules:?}");
    }
}

#[test]
fn isolate_folio_takes_tiers_up_to_the_index_64_at_once() {
    let mut lruvec = Generations::new(100, 4, Rules::V6_12);
    for id in 0..100 {
        put(&mut lruvec, id, page::FILE);
    }
    lruvec.try_to_inc_min_seq(ANON);
    for _ in 0..3 {
        lruvec.inc_refs(1);
    }
    let mut isolated = Vec::new();
    let scanned = lruvec.scan(FILE, 2, 4096, &mut isolated, Rules::V6_12);
    assert_eq!(scanned, (64, 0));
    assert_eq!(isolated, (0..64).collect::<Vec<_>>());
    assert_eq!(lruvec.pages[1].bits & page::REFERENCED, 0);
    assert_eq!(lruvec.total(FILE), 36);
    isolated.clear();
    assert_eq!(
        lruvec.scan(FILE, 2, 10, &mut isolated, Rules::V6_12),
        (10, 0)
    );
    assert_eq!((isolated[0], lruvec.total(FILE)), (64, 26));
}
