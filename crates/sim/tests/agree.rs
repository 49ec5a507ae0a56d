//! Each policy has the misses of its slow and simple second implementation, on random traces.
mod slow;

use proptest::prelude::*;
use sim::curve::Curve;
use sim::registry::Choice;
use sim::{bench_traces, run, Input};
use slow::{
    adaptive, cacheus, clocks, frequency, lhd, linux, multi_gen, s4_fifo, simple, stacks, two_list,
};

/// Traces of up to five phases, each uniform, skewed or a loop: every list of a policy is used.
fn traces() -> impl Strategy<Value = Vec<u32>> {
    let part = (1u32..40, 0u32..20, 0..3, 1usize..150, any::<u32>()).prop_map(
        |(objects, base, kind, len, seed)| {
            let mut random = random::Pcg64::new(u64::from(seed));
            (0..len as u32)
                .map(|at| {
                    base + match kind {
                        0 => random.up_to(objects - 1),
                        1 => at % objects,
                        _ => (random.unit().powi(3) * f64::from(objects)) as u32,
                    }
                })
                .collect::<Vec<u32>>()
        },
    );
    prop::collection::vec(part, 1..6).prop_map(|parts| {
        let mut ids = parts.concat();
        bench_traces::renumber(&mut ids, 64);
        ids
    })
}

/// Traces of some hundreds of pages: many of Linux's batches of 32 and 64.
fn long_traces() -> impl Strategy<Value = Vec<u32>> {
    (any::<u32>(), 100u32..400, 500usize..2500, 1i32..5).prop_map(|(seed, objects, len, power)| {
        let mut random = random::Pcg64::new(u64::from(seed));
        let mut base = 0;
        let mut ids: Vec<u32> = (0..len)
            .map(|_| {
                // The popular objects change now and then.
                base += u32::from(random.up_to(400) == 0) * objects / 3;
                (base + (random.unit().powi(power) * f64::from(objects)) as u32) % (2 * objects)
            })
            .collect();
        bench_traces::renumber(&mut ids, 2 * objects);
        ids
    })
}

/// Flags of accesses. An object is anonymous or of a file; `reads` of ten accesses to a file are read().
fn flags(ids: &[u32], objects: usize, seed: u32, reads: u32) -> Vec<trace::Flags> {
    let mut random = random::Pcg64::new(u64::from(seed));
    let anon: Vec<bool> = (0..objects).map(|_| random.up_to(1) == 0).collect();
    ids.iter()
        .map(
            |&id| match (anon[id as usize], random.up_to(9) < reads, random.up_to(3)) {
                (true, _, _) => trace::Flags::ANON | trace::Flags::MAPPED,
                (false, true, _) => trace::Flags::NONE,
                (false, false, 0) => trace::Flags::MAPPED | trace::Flags::EXEC,
                (false, false, _) => trace::Flags::MAPPED,
            },
        )
        .collect()
}

fn misses(policy: &str, ids: &[u32], size: usize) -> u64 {
    let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
    let input = Input::new(ids, objects).expect("a trace");
    let choice = Choice::parse(policy).expect("a policy");
    let mut policy = choice.build(&input, size as u64).expect("a size");
    run(policy.as_mut(), &input, &mut |_| {}).misses
}

/// Whether each request hits.
fn hits(policy: &str, ids: &[u32], size: usize) -> Vec<bool> {
    let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
    let input = Input::new(ids, objects).expect("a trace");
    let choice = Choice::parse(policy).expect("a policy");
    let mut policy = choice.build(&input, size as u64).expect("a size");
    let mut hits = Vec::new();
    policy.stretch_hits(&input, 0, ids.len(), &mut hits);
    hits
}

fn sizes() -> impl Strategy<Value = usize> {
    1usize..30
}

macro_rules! agree {
    ($($test:ident: $policy:expr, $twin:expr;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(400))]
            $(
                #[test]
                fn $test(ids in traces(), size in sizes()) {
                    let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
                    // The slow implementations do not know the footprint, so larger caches are left out.
                    let size = size.min(objects);
                    let twin: fn(&[u32], usize) -> u64 = $twin;
                    prop_assert_eq!(misses($policy, &ids, size), twin(&ids, size));
                }
            )*
        }
    };
}

agree! {
    fifo: "fifo", simple::fifo;
    lru: "lru", simple::lru;
    mru: "mru", simple::mru;
    random: "random", simple::random;
    opt: "opt", |ids, size| simple::opt(ids, size, false);
    opt_bypass: "opt:bypass=true", |ids, size| simple::opt(ids, size, true);
    clock: "clock", clocks::clock;
    clock_pro: "clock-pro", clocks::clock_pro;
    sieve: "sieve", clocks::sieve;
    s3_fifo: "s3-fifo", |ids, size| clocks::s3_fifo(ids, size, 2, "figure");
    s3_fifo_1: "s3-fifo:threshold=1", |ids, size| clocks::s3_fifo(ids, size, 1, "figure");
    s3_fifo_v0: "s3-fifo:form=v0", |ids, size| clocks::s3_fifo(ids, size, 2, "v0");
    s3_fifo_variant: "s3-fifo:form=s3fifo,threshold=1", |ids, size| clocks::s3_fifo(ids, size, 1, "s3fifo");
    lfu: "lfu", frequency::lfu;
    lru_2: "lru-k", |ids, size| frequency::lru_k(ids, size, 2, 0, true);
    lru_1: "lru-k:k=1", simple::lru;
    lru_3: "lru-k:k=3", |ids, size| frequency::lru_k(ids, size, 3, 0, true);
    lru_2_forgetful: "lru-k:retain=false", |ids, size| frequency::lru_k(ids, size, 2, 0, false);
    lru_2_correlated: "lru-k:crp=3", |ids, size| frequency::lru_k(ids, size, 2, 3, true);
    lru_3_correlated: "lru-k:k=3,crp=7", |ids, size| frequency::lru_k(ids, size, 3, 7, true);
    w_tinylfu: "w-tinylfu", frequency::w_tinylfu;
    lecar: "lecar", frequency::lecar;
    two_q: "2q", |ids, size| adaptive::two_q(ids, size, false);
    two_q_before: "2q:recall=before", |ids, size| adaptive::two_q(ids, size, true);
    arc: "arc", adaptive::arc;
    car: "car", adaptive::car;
    lirs: "lirs", |ids, size| stacks::lirs(ids, size, 2);
    lirs_1: "lirs:history=1", |ids, size| stacks::lirs(ids, size, 1);
    lirs_unbounded: "lirs:history=0", |ids, size| stacks::lirs(ids, size, 0);
    s4_fifo_at_its_defaults_is_s3_fifo: "s4-fifo", |ids, size| clocks::s3_fifo(ids, size, 2, "s3fifo");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Request by request, with every parameter.
    #[test]
    fn s4_fifo(
        ids in prop_oneof![traces(), long_traces()],
        size in prop_oneof![sizes(), 30usize..300],
        small in prop::sample::select(vec![0.0, 0.05, 0.1, 0.3, 0.9, 1.0]),
        ghost in prop::sample::select(vec![0.0, 0.1, 0.9, 3.0]),
        (threshold, ghost_threshold) in (1u32..4, 0u32..4),
        skip in prop::sample::select(vec![0.0, 0.25, 1.0]),
    ) {
        let size = size.min(ids.iter().max().map_or(0, |&id| id as usize + 1));
        let choice = format!(
            "s4-fifo:small={small},ghost={ghost},threshold={threshold},ghost-threshold={ghost_threshold},skip={skip}"
        );
        let settings = s4_fifo::Settings { small, ghost, threshold, ghost_threshold, skip };
        prop_assert_eq!(hits(&choice, &ids, size), s4_fifo::s4_fifo(&ids, &vec![1; ids.len()], size as u64, &settings), "{}", choice);
    }

    /// Request by request.
    #[test]
    fn cacheus(
        ids in prop_oneof![traces(), long_traces()],
        size in prop_oneof![sizes(), 30usize..300],
    ) {
        let size = size.min(ids.iter().max().map_or(0, |&id| id as usize + 1));
        prop_assert_eq!(hits("cacheus", &ids, size), cacheus::cacheus(&ids, size));
    }

    /// Request by request. Periods are short, so that the model learns and its ages are set anew.
    #[test]
    fn lhd(
        ids in prop_oneof![traces(), long_traces()],
        size in prop_oneof![sizes(), 30usize..300],
        period in prop::sample::select(vec![5usize, 17, 60, 1000]),
        ages in prop::sample::select(vec![2usize, 30, 200]),
        (sample, early, recent) in (1usize..20, 1usize..10, 0usize..9),
    ) {
        let size = size.min(ids.iter().max().map_or(0, |&id| id as usize + 1));
        let choice = format!(
            "lhd:sample={sample},early={early},recent={recent},period={period},ages={ages}"
        );
        let settings = lhd::Settings { sample, early, recent, period, ages };
        prop_assert_eq!(hits(&choice, &ids, size), lhd::lhd(&ids, &vec![1; ids.len()], size as u64, &settings), "{}", choice);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The curve of one pass has the misses of a run at each size.
    #[test]
    fn the_curve_is_lru_at_every_size(ids in traces()) {
        let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
        let input = Input::new(&ids, objects).expect("a trace");
        let curve = Curve::lru(&input, &mut |_| {});
        for size in 1..=objects + 2 {
            prop_assert_eq!(curve.misses(size as u64), simple::lru(&ids, size));
        }
    }

    /// Linux's models with accesses of all kinds have the counters of their slow implementations. No page
    /// is lost, and no model beats OPT.
    #[test]
    fn linux_is_its_slow_twin(
        ids in prop_oneof![traces(), long_traces()],
        size in prop_oneof![sizes(), 30usize..300],
        seed in any::<u32>(),
        reads in 0u32..10,
        swap in any::<bool>(),
        swappiness in prop::sample::select(vec![0u64, 1, 60, 100, 199, 200]),
        batch in prop::sample::select(vec![1u64, 4, 32]),
        generations in prop::sample::select(vec![3u64, 4, 7, 16]),
        model in prop::sample::select(vec!["linux-two-list", "mglru", "mglru:kernel=7.3"]),
    ) {
        let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
        let flags = flags(&ids, objects, seed, reads);
        let input = Input::new(&ids, objects).and_then(|input| input.with_flags(&flags)).expect("a trace");
        let classic = model == "linux-two-list";
        let mut choice = format!("{model}{}swap={swap},swappiness={swappiness},batch={batch}",
            if model.contains(':') { ',' } else { ':' });
        if !classic {
            choice += &format!(",generations={generations}");
        }
        let mut policy = Choice::parse(&choice).expect("a policy").build(&input, size as u64).expect("a size");
        let counts = run(policy.as_mut(), &input, &mut |_| {});
        let world = linux::World {
            size: size.min(objects), swap, swappiness, batch, generations, new: model.contains("7.3"),
        };
        let twin = if classic {
            two_list::two_list(&ids, &flags, &world)
        } else {
            multi_gen::multi_gen(&ids, &flags, &world)
        };
        let ours: Vec<_> = counts.counters.iter().chain(&[("misses", counts.misses)]).copied().collect();
        let theirs: Vec<_> = ours.iter().map(|&(name, _)| (name, twin.get(name))).collect();
        prop_assert_eq!(&ours, &theirs, "{}", choice);

        let count = |name: &str| twin.get(name);
        let stolen = count("pgsteal_anon") + count("pgsteal_file");
        let left = counts.misses - stolen;
        prop_assert!(left as usize <= size.min(objects), "{} pages resident", left);
        let refaults = count("workingset_refault_anon") + count("workingset_refault_file");
        prop_assert_eq!(refaults, counts.misses - objects as u64, "every later miss is a refault");
        prop_assert!(counts.misses >= misses("opt", &ids, size));
        if swap && swappiness > 0 {
            prop_assert_eq!(count("oom"), 0);
        }
    }

    /// No policy has fewer misses than OPT. With room for all objects, each object misses once.
    #[test]
    fn every_policy_lies_between_opt_and_one_miss_an_object(ids in traces(), size in sizes()) {
        let objects = ids.iter().max().map_or(0, |&id| id as usize + 1) as u64;
        let best = misses("opt:bypass=true", &ids, size);
        for policy in sim::registry::POLICIES {
            let ours = misses(policy.name, &ids, size);
            prop_assert!(best <= ours && ours <= ids.len() as u64, "{}: {}", policy.name, ours);
            let all = misses(policy.name, &ids, objects as usize + 5);
            if policy.name != "w-tinylfu" {
                prop_assert_eq!(all, objects, "{} with room for all", policy.name);
            }
        }
    }
}
