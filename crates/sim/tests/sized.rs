//! Policies for objects of different sizes: each is its slow twin, request by request, and with objects of one
//! byte each is the policy for objects of one size.
#[allow(dead_code)]
mod slow;

use proptest::prelude::*;
use sim::registry::Choice;
use sim::sized::{build, run, sweep, SizedInput, POLICIES};
use sim::{bench_traces, sweep::jobs, Error, Input};
use slow::{lhd, s4_fifo};

/// Requests of popular and unpopular objects, most with sizes of their own, and some with a new size at times.
fn requests() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    (
        any::<u32>(),
        5u32..300,
        50usize..1500,
        1i32..4,
        prop::sample::select(vec![1u32, 3, 10, 100]),
    )
        .prop_map(|(seed, objects, len, power, largest)| {
            let mut random = random::Pcg64::new(u64::from(seed));
            let mut ids: Vec<u32> = (0..len)
                .map(|_| (random.unit().powi(power) * f64::from(objects)) as u32)
                .collect();
            bench_traces::renumber(&mut ids, objects);
            let own: Vec<u32> = (0..objects)
                .map(|_| 1 + random.up_to(largest - 1))
                .collect();
            let size = |&id: &u32| match random.up_to(20) {
                0 => 1 + random.up_to(largest - 1),
                _ => own[id as usize],
            };
            let sizes = ids.iter().map(size).collect();
            (ids, sizes)
        })
}

fn input<'a>(ids: &'a [u32], sizes: &'a [u32]) -> SizedInput<'a> {
    let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
    SizedInput::new(Input::new(ids, objects).expect("a trace"), sizes).expect("sizes")
}

/// Whether each request hits.
fn hits(policy: &str, ids: &[u32], sizes: &[u32], room: u64) -> Vec<bool> {
    let choice = Choice::parse(policy).expect("a policy");
    let mut policy = build(&choice, &input(ids, sizes), room).expect("room");
    let requests = ids.iter().zip(sizes);
    requests
        .map(|(&id, &bytes)| policy.request(id, bytes))
        .collect()
}

/// FIFO, or LRU if a hit `renews`, by a list of objects and their bytes.
fn list(ids: &[u32], sizes: &[u32], room: u64, renews: bool) -> Vec<bool> {
    let mut list: Vec<(u32, u32)> = vec![];
    let mut served = vec![];
    for (&id, &bytes) in ids.iter().zip(sizes) {
        let place = list.iter().position(|&(other, _)| other == id);
        served.push(place.is_some());
        if let Some(place) = place {
            if renews {
                let object = list.remove(place);
                list.push(object);
            }
        } else if u64::from(bytes) <= room {
            list.push((id, bytes));
            while list.iter().map(|&(_, bytes)| u64::from(bytes)).sum::<u64>() > room {
                list.remove(0);
            }
        }
    }
    served
}

fn wide(sizes: &[u32]) -> Vec<u64> {
    sizes.iter().map(|&size| u64::from(size)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn fifo_and_lru((ids, sizes) in requests(), room in 1u64..3000) {
        prop_assert_eq!(hits("fifo", &ids, &sizes, room), list(&ids, &sizes, room, false));
        prop_assert_eq!(hits("lru", &ids, &sizes, room), list(&ids, &sizes, room, true));
    }

    #[test]
    fn s4_fifo(
        (ids, sizes) in requests(),
        room in 1u64..3000,
        small in prop::sample::select(vec![0.0, 0.05, 0.1, 0.3, 0.9, 1.0]),
        ghost in prop::sample::select(vec![0.0, 0.1, 0.9, 3.0]),
        (threshold, ghost_threshold) in (1u32..4, 0u32..4),
        skip in prop::sample::select(vec![0.0, 0.25, 1.0]),
    ) {
        let choice = format!(
            "s4-fifo:small={small},ghost={ghost},threshold={threshold},ghost-threshold={ghost_threshold},skip={skip}"
        );
        let settings = s4_fifo::Settings { small, ghost, threshold, ghost_threshold, skip };
        let twin = s4_fifo::s4_fifo(&ids, &wide(&sizes), room, &settings);
        prop_assert_eq!(hits(&choice, &ids, &sizes, room), twin, "{}", choice);
    }

    #[test]
    fn lhd(
        (ids, sizes) in requests(),
        room in 1u64..3000,
        period in prop::sample::select(vec![5usize, 17, 60, 1000]),
        ages in prop::sample::select(vec![2usize, 30, 200]),
        (sample, early, recent) in (1usize..20, 1usize..10, 0usize..9),
    ) {
        let choice = format!(
            "lhd:sample={sample},early={early},recent={recent},period={period},ages={ages}"
        );
        let settings = lhd::Settings { sample, early, recent, period, ages };
        let twin = lhd::lhd(&ids, &wide(&sizes), room, &settings);
        prop_assert_eq!(hits(&choice, &ids, &sizes, room), twin, "{}", choice);
    }

    /// The counts are those of the requests that hit, and a cache with room for all misses each object once.
    #[test]
    fn counts_add_up((ids, sizes) in requests(), room in 1u64..3000) {
        let input = input(&ids, &sizes);
        for name in POLICIES {
            let choice = Choice::parse(name).expect("a policy");
            let mut policy = build(&choice, &input, room).expect("room");
            let counts = run(policy.as_mut(), &input, &mut |_| {});
            let hits = hits(name, &ids, &sizes, room);
            let missed = || hits.iter().zip(&sizes).filter(|(&hit, _)| !hit);
            prop_assert_eq!(counts.misses, missed().count() as u64);
            prop_assert_eq!(counts.bytes_missed, missed().map(|(_, &bytes)| u64::from(bytes)).sum::<u64>());
            prop_assert_eq!(counts.bytes, wide(&sizes).iter().sum::<u64>());
            let room = 100 * wide(&sizes).iter().sum::<u64>();
            let mut policy = build(&choice, &input, room).expect("room");
            let objects = u64::from(input.input().objects());
            prop_assert_eq!(run(policy.as_mut(), &input, &mut |_| {}).misses, objects, "{}", name);
        }
    }

    /// With one byte each, as the policies for objects of one size.
    #[test]
    fn objects_of_one_byte_are_objects_of_one_size((ids, _) in requests(), size in 1u64..300) {
        let sizes = vec![1; ids.len()];
        let input = input(&ids, &sizes);
        let size = size.min(u64::from(input.input().objects()));
        for name in ["fifo", "lru", "s4-fifo", "s4-fifo:ghost-threshold=1,skip=0.25", "lhd:period=50"] {
            let choice = Choice::parse(name).expect("a policy");
            let mut policy = choice.build(input.input(), size).expect("a size");
            let mut unit = Vec::new();
            policy.stretch_hits(input.input(), 0, ids.len(), &mut unit);
            prop_assert_eq!(hits(name, &ids, &sizes, size), unit, "{}", name);
        }
    }
}

#[test]
fn rows_are_in_the_order_of_the_jobs_and_the_footprint_is_by_first_requests() {
    let (ids, sizes) = ([0, 1, 0, 2, 1], [10, 20, 11, 0, 90]);
    let input = input(&ids, &sizes);
    assert_eq!(input.footprint(), 31);
    let choices = POLICIES.map(|name| Choice::parse(name).expect("a policy"));
    let rows = sweep(&input, &jobs(&choices, &[25, 31]), 3, &|_| {}).expect("rows");
    let names: Vec<(&str, u64)> = rows
        .iter()
        .map(|row| (row.policy.as_str(), row.size_bytes))
        .collect();
    let expected: Vec<(&str, u64)> = POLICIES.iter().flat_map(|&p| [(p, 25), (p, 31)]).collect();
    assert_eq!(names, expected);
    // LRU in 25 bytes keeps neither of the two together; 90 bytes never fit.
    assert_eq!(
        (rows[2].misses, rows[2].bytes_missed),
        (5, 10 + 20 + 11 + 1 + 90)
    );
    // In 31 bytes both stay, and object 2 with its one byte.
    assert_eq!((rows[3].misses, rows[3].bytes_missed), (3, 31));
    assert!((rows[3].byte_miss_ratio - 31.0 / 132.0).abs() < 1e-12);
}

#[test]
fn policies_of_one_size_and_traces_without_sizes_are_refused() {
    let (ids, sizes) = ([0, 1], [1, 1]);
    let trace = Input::new(&ids, 2).expect("a trace");
    let arc = build(
        &Choice::parse("arc").expect("a policy"),
        &input(&ids, &sizes),
        5,
    );
    assert!(matches!(arc.err(), Some(Error::OneSize { .. })));
    let none = build(
        &Choice::parse("lru").expect("a policy"),
        &input(&ids, &sizes),
        0,
    );
    assert!(matches!(none.err(), Some(Error::Size)));
    for sizes in [&[][..], &[1, 2, 3]] {
        let error = SizedInput::new(trace.clone(), sizes).expect_err("an error");
        assert!(matches!(error, Error::Sizes { .. }), "{error}");
    }
}
