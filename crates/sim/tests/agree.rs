//! Each policy against its slow, obvious twin, on random traces of random kinds.
mod slow;

use proptest::prelude::*;
use sim::curve::Curve;
use sim::registry::Choice;
use sim::{run, sample, Input};
use slow::{adaptive, clocks, frequency, simple, stacks};

/// Uniform, skewed, loops and changes of phase, so that every list gets its share.
fn traces() -> impl Strategy<Value = Vec<u32>> {
    let part = (1u32..40, 0u32..20, 0..3, 1usize..150, any::<u32>()).prop_map(
        |(objects, base, kind, len, seed)| {
            let mut random = sample::Pcg64::new(seed);
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
        sample::renumber(&mut ids, 64);
        ids
    })
}

fn misses(policy: &str, ids: &[u32], size: usize) -> u64 {
    let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
    let input = Input::new(ids, objects).expect("a trace");
    let choice = Choice::parse(policy).expect("a policy");
    let mut policy = choice.build(&input, size as u64).expect("a size");
    run(policy.as_mut(), &input, &mut |_| {}).misses
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
                    // Twins are not told of the footprint: a larger cache is a matter of its own.
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
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// One pass says what a run at each size says.
    #[test]
    fn the_curve_is_lru_at_every_size(ids in traces()) {
        let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
        let input = Input::new(&ids, objects).expect("a trace");
        let curve = Curve::lru(&input, &mut |_| {});
        for size in 1..=objects + 2 {
            prop_assert_eq!(curve.misses(size as u64), simple::lru(&ids, size));
        }
    }

    /// Linux's models with accesses of all kinds: they come to an end, no page is lost, and none of
    /// them beats OPT.
    #[test]
    fn linux_keeps_count_of_its_pages(
        ids in traces(),
        size in sizes(),
        seed in any::<u32>(),
        swap in any::<bool>(),
        swappiness in prop::sample::select(vec![0u32, 1, 60, 100, 199, 200]),
        model in prop::sample::select(vec![
            "linux-two-list:batch=4", "mglru:batch=4", "mglru:kernel=7.3,batch=4",
            "mglru:generations=3,batch=1", "mglru:kernel=7.3,generations=7,batch=1",
        ]),
    ) {
        let objects = ids.iter().max().map_or(0, |&id| id as usize + 1);
        let mut random = sample::Pcg64::new(seed);
        // Anonymous or of a file is the object's, the rest the access's.
        let anon: Vec<bool> = (0..objects).map(|_| random.up_to(1) == 0).collect();
        let flags: Vec<trace::Flags> = ids
            .iter()
            .map(|&id| match (anon[id as usize], random.up_to(5)) {
                (true, _) => trace::Flags::ANON | trace::Flags::MAPPED,
                (false, 0) => trace::Flags::MAPPED | trace::Flags::EXEC,
                (false, 1 | 2) => trace::Flags::MAPPED,
                (false, _) => trace::Flags::NONE,
            })
            .collect();
        let input = Input::new(&ids, objects).and_then(|input| input.with_flags(&flags)).expect("a trace");
        let choice = format!("{model},swap={swap},swappiness={swappiness}");
        let choice = Choice::parse(&choice).expect("a policy");
        let mut policy = choice.build(&input, size as u64).expect("a size");
        let counts = run(policy.as_mut(), &input, &mut |_| {});
        let count = |name: &str| counts.counters.iter().find(|c| c.0 == name).map_or(0, |c| c.1);
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

    /// No policy does better than OPT or worse than missing always, and none misses twice what fits.
    #[test]
    fn every_policy_lies_between_opt_and_nothing(ids in traces(), size in sizes()) {
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
