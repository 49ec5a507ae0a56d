//! Generators: numpy's numbers, and each rule's own properties.
use sha2::{Digest, Sha256};
use trace::generate::{Part, Spec};

fn drawn(spec: &Spec, requests: u64, seed: u64) -> Vec<u32> {
    let mut all = Vec::new();
    spec.requests(requests, seed, |some| all.extend_from_slice(some))
        .unwrap();
    assert_eq!(all.len() as u64, requests);
    assert!(all.iter().all(|&o| u64::from(o) < spec.objects()));
    all
}

/// The SHA-256 of the objects, numbered from 1, four bytes each.
fn sha256(objects: &[u32]) -> String {
    let bytes: Vec<u8> = objects.iter().flat_map(|o| (o + 1).to_le_bytes()).collect();
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

// The expected values of the next two tests are numpy 2.4.6's own output.

#[test]
fn zipf_equals_numpys() {
    let zipf = |objects, alpha| Spec::Zipf { objects, alpha };
    let a = drawn(&zipf(1_000_000, 1.0), 300_000, 42);
    assert_eq!(
        sha256(&a),
        "e8e31448499e7cd0181af4ecefde25c1047230a774d4875d82c61524dc042652"
    );
    let b = drawn(&zipf(5000, 0.8), 100_000, 7);
    assert_eq!(
        sha256(&b),
        "e1aa1af8c354c31b171138afab50a237ebed9d96b11a0ccb7cdeeee985052478"
    );
}

#[test]
fn loop_scan_zipf_equals_numpys() {
    let mix = drawn(&Spec::loop_scan_zipf(2_000_000), 300_000, 4242);
    assert_eq!(
        sha256(&mix),
        "6181f0b3bc71c581fd4d492c98ef75982dad4cc49cd581c5889fb14b1540e9f0"
    );
}

fn counts(objects: &[u32]) -> Vec<u32> {
    let mut counts = vec![0; objects.iter().max().map_or(0, |m| *m as usize + 1)];
    objects.iter().for_each(|&o| counts[o as usize] += 1);
    counts
}

#[test]
fn scan_and_loop() {
    let all = drawn(&Spec::Scan { objects: 40_000 }, 40_000, 1);
    assert!(all.iter().copied().eq(0..40_000));
    let all = drawn(&Spec::Loop { objects: 3 }, 7, 1);
    assert_eq!(all, [0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn uniform_is_even() {
    let counts = counts(&drawn(&Spec::Uniform { objects: 100 }, 100_000, 3));
    // Of 100 binomial counts with a mean of 1000, none is 6 standard deviations off.
    assert!(
        counts.len() == 100 && counts.iter().all(|c| (810..1190).contains(c)),
        "{counts:?}"
    );
}

#[test]
fn zipf_falls_with_the_rank() {
    let spec = Spec::Zipf {
        objects: 1000,
        alpha: 1.0,
    };
    let mut counts = counts(&drawn(&spec, 1_000_000, 5));
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let total: f64 = (1..=1000).map(|k| 1.0 / f64::from(k)).sum();
    for rank in [1, 2, 10, 100] {
        let expected = 1e6 / total / f64::from(rank);
        let found = f64::from(counts[rank as usize - 1]);
        assert!(
            (found / expected - 1.0).abs() < 0.1,
            "{rank}: {found}, {expected}"
        );
    }
    let trace = spec.trace("zipf", 1000, 5).unwrap();
    let same = trace::Trace::from_keys(
        "zipf",
        &drawn(&spec, 1000, 5)
            .iter()
            .map(|&o| u64::from(o))
            .collect::<Vec<_>>(),
    );
    assert_eq!((trace.ids, trace.objects), (same.ids, same.objects));
}

#[test]
fn four_fifths_go_to_one_fifth_again_and_again() {
    let spec = Spec::SelfSimilar {
        objects: 1000,
        alpha: 0.8,
        beta: 0.2,
    };
    let all = drawn(&spec, 200_000, 2);
    let share = |first: u32| all.iter().filter(|&&o| o < first).count() as f64 / 200_000.0;
    for (objects, expected) in [(1000, 1.0), (200, 0.8), (40, 0.64), (8, 0.512)] {
        assert!(
            (share(objects) - expected).abs() < 0.006,
            "{objects}: {}",
            share(objects)
        );
    }
}

#[test]
fn two_pools_take_turns() {
    let all = drawn(
        &Spec::TwoPool {
            first: 100,
            second: 10_000,
        },
        100_000,
        2,
    );
    assert!(all.iter().step_by(2).all(|&o| o < 100));
    assert!(all
        .iter()
        .skip(1)
        .step_by(2)
        .all(|&o| (100..10_100).contains(&o)));
    assert_eq!(counts(&all)[..100].iter().filter(|&&c| c > 0).count(), 100);
}

#[test]
fn phases_keep_to_their_working_sets() {
    let spec = Spec::Markov {
        phases: 5,
        objects: 100,
        overlap: 0.0,
        mean: 1000.0,
    };
    assert_eq!(spec.objects(), 500);
    let all = drawn(&spec, 500_000, 2);
    let runs: Vec<&[u32]> = all.chunk_by(|a, b| a / 100 == b / 100).collect();
    let mean = 500_000.0 / runs.len() as f64;
    assert!((800.0..1250.0).contains(&mean), "{mean}");
    let long = runs.iter().filter(|run| run.len() > 2000);
    for run in long {
        assert!(counts(run)[run[0] as usize / 100 * 100..]
            .iter()
            .all(|&c| c > 0));
    }
    let overlapping = Spec::Markov {
        phases: 3,
        objects: 100,
        overlap: 0.25,
        mean: 50.0,
    };
    assert_eq!(overlapping.objects(), 250);
    assert_eq!(counts(&drawn(&overlapping, 100_000, 1)).len(), 250);
}

#[test]
fn a_mix_keeps_its_parts_apart() {
    let part = |weight, spec| Part { weight, spec };
    let spec = Spec::Mix {
        parts: vec![
            part(3.0, Spec::Uniform { objects: 10 }),
            part(1.0, Spec::Loop { objects: 1000 }),
        ],
        burst: 20.0,
    };
    let all = drawn(&spec, 200_000, 9);
    let looped: Vec<u32> = all.iter().copied().filter(|&o| o >= 10).collect();
    assert!(looped
        .iter()
        .zip(0u32..)
        .all(|(&o, at)| o == 10 + at % 1000));
    let share = looped.len() as f64 / 200_000.0;
    assert!((0.22..0.28).contains(&share), "{share}");
}

#[test]
fn seeds_and_mistakes() {
    let zipf = Spec::Zipf {
        objects: 100,
        alpha: 0.9,
    };
    assert_eq!(drawn(&zipf, 500, 1), drawn(&zipf, 500, 1));
    assert_ne!(drawn(&zipf, 500, 1), drawn(&zipf, 500, 2));
    assert_eq!(drawn(&zipf, 50_000, 1)[..500], drawn(&zipf, 500, 1));
    let bad = [
        Spec::Uniform { objects: 0 },
        Spec::Zipf {
            objects: 5,
            alpha: f64::NAN,
        },
        Spec::TwoPool {
            first: 0,
            second: 5,
        },
        Spec::SelfSimilar {
            objects: 5,
            alpha: 1.0,
            beta: 0.2,
        },
        Spec::Markov {
            phases: 2,
            objects: 5,
            overlap: 1.0,
            mean: 5.0,
        },
        Spec::Markov {
            phases: 1 << 31,
            objects: 1 << 31,
            overlap: 0.0,
            mean: 5.0,
        },
        Spec::Mix {
            parts: vec![],
            burst: 5.0,
        },
        Spec::loop_scan_zipf(0),
    ];
    for spec in bad {
        assert!(spec.requests(1, 1, |_| ()).is_err(), "{spec:?}");
    }
}
