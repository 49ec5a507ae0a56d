//! Memory of a policy in allocated bytes, without the trace: at most 9 an object for LRU and 24 for any
//! other.
#[path = "../../trace/tests/counted/mod.rs"]
mod counted;

use counted::peak;
use sim::registry::{Choice, POLICIES};
use sim::{bench_traces, run, Input};

/// Bytes that do not grow with objects: lists by count, small tables, a batch of reclaimed pages.
const FIXED: usize = 64 << 10;

/// A skewed trace with as many requests an object as the zipf trace of the benchmark.
fn skewed(requests: usize, objects: u32, power: i32) -> (Vec<u32>, usize) {
    let mut random = random::Pcg64::new(11);
    let mut ids: Vec<u32> = (0..requests)
        .map(|_| (random.unit().powi(power) * f64::from(objects)) as u32)
        .collect();
    let seen = bench_traces::renumber(&mut ids, objects);
    (ids, seen as usize)
}

fn bytes_an_object(policy: &str, ids: &[u32], objects: usize, size: u64) -> f64 {
    let input = Input::new(ids, objects).expect("a trace");
    let choice = Choice::parse(policy).expect("a policy");
    let (counts, held) = peak(|| {
        let mut policy = choice.build(&input, size).expect("a size");
        run(policy.as_mut(), &input, &mut |_| {})
    });
    // The bytes that a policy reports are those that it holds, except for vectors that grew.
    assert!(
        counts.bytes <= held + FIXED,
        "{policy}: {} of {held}",
        counts.bytes
    );
    held.saturating_sub(FIXED) as f64 / objects as f64
}

#[test]
fn no_policy_takes_more_than_24_bytes_an_object_and_lru_9() {
    let mut over = Vec::new();
    for (ids, objects) in [skewed(1_200_000, 60_000, 4), skewed(400_000, 60_000, 1)] {
        for share in [100, 10, 2, 1] {
            for policy in POLICIES {
                let size = (objects / share) as u64;
                let took = bytes_an_object(policy.name, &ids, objects, size);
                let most = if policy.name == "lru" { 9.0 } else { 24.0 };
                if took > most {
                    over.push(format!("{} at 1/{share}: {took:.1}", policy.name));
                }
            }
        }
    }
    assert!(over.is_empty(), "{over:?}");
}

#[test]
fn memory_of_lru_does_not_grow_with_the_trace() {
    let (ids, objects) = skewed(3_000_000, 5_000, 2);
    let took = bytes_an_object("lru", &ids, objects, objects as u64 / 10);
    assert!(took <= 9.0, "{took:.1}");
}
