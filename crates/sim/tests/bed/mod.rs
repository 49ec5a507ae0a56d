//! Traces of several kinds, samples of them, and how often the exact miss ratio lies in the interval.
use sim::curve::shards::Shards;
use sim::curve::Curve;
use sim::registry::Choice;
use sim::sampling::Estimate;
use sim::sweep::sampled::Sampled;
use sim::{run, Input};
use trace::generate::{Part, Spec};
use trace::{Sample, Trace};

/// Kinds of traces over about `objects` objects. Their size differs from seed to seed, so that no
/// loop has the same length twice.
pub fn kinds(objects: u32, seed: u64) -> Vec<(&'static str, Spec)> {
    let n = objects + (seed % 97) as u32 * objects / 2000;
    let part = |weight, spec| Part { weight, spec };
    let zipf = |alpha| Spec::Zipf { objects: n, alpha };
    let markov = |phases, objects, overlap, mean| Spec::Markov {
        phases,
        objects,
        overlap,
        mean,
    };
    let loops = Spec::Mix {
        parts: vec![
            part(0.5, Spec::Loop { objects: n / 50 }),
            part(0.3, Spec::Loop { objects: n / 5 }),
            part(0.2, Spec::Loop { objects: n / 2 }),
        ],
        burst: 500.0,
    };
    let selfsimilar = Spec::SelfSimilar {
        objects: n,
        alpha: 0.8,
        beta: 0.2,
    };
    let pools = Spec::TwoPool {
        first: n / 100,
        second: n,
    };
    vec![
        ("zipf 0.6", zipf(0.6)),
        ("zipf 0.8", zipf(0.8)),
        ("zipf 1.0", zipf(1.0)),
        ("zipf 1.2", zipf(1.2)),
        ("zipf 1.5", zipf(1.5)),
        ("self-similar", selfsimilar),
        ("uniform", Spec::Uniform { objects: n }),
        ("loop", Spec::Loop { objects: n }),
        ("scan", Spec::Scan { objects: n * 5 }),
        ("two pools", pools),
        ("markov, 10", markov(10, n / 10, 0.2, f64::from(n) / 4.0)),
        ("markov, 40", markov(40, n / 20, 0.5, f64::from(n) / 20.0)),
        ("loop, scan, zipf", Spec::loop_scan_zipf(n)),
        ("three loops", loops),
    ]
}

/// A size of the cache.
#[derive(Clone, Copy)]
pub enum At {
    /// This many objects of the sample fit.
    Sampled(f64),
    /// A share of the objects of the trace.
    Share(f64),
}

impl At {
    /// Objects of a trace with `objects`, and none where a cache would hold all of them.
    pub fn objects(self, objects: u32, rate: f64) -> Option<u64> {
        let size = match self {
            At::Sampled(size) => size / rate,
            At::Share(share) => share * f64::from(objects),
        };
        Some(size.round() as u64).filter(|&size| size < u64::from(objects))
    }
}

/// Intervals and exact miss ratios of one cell of the table.
#[derive(Clone, Default)]
pub struct Cell {
    pub asked: usize,
    pub given: usize,
    pub covered: usize,
    halves: Vec<f64>,
    errors: Vec<f64>,
}

impl Cell {
    pub fn take(&mut self, exact: f64, estimate: Option<Estimate>) {
        self.asked += 1;
        let Some(estimate) = estimate else { return };
        self.given += 1;
        let inside = estimate.low <= exact + 1e-9 && exact <= estimate.high + 1e-9;
        self.covered += usize::from(inside);
        self.halves.push((estimate.high - estimate.low) / 2.0);
        self.errors.push((estimate.miss_ratio - exact).abs());
    }

    pub fn join(&mut self, other: &Cell) {
        self.asked += other.asked;
        self.given += other.given;
        self.covered += other.covered;
        self.halves.extend(&other.halves);
        self.errors.extend(&other.errors);
    }

    /// The share of intervals that hold the exact miss ratio.
    pub fn coverage(&self) -> f64 {
        self.covered as f64 / self.given.max(1) as f64
    }

    /// The median of half the width, divided by the 95th percentile of the errors: 1 would be ideal.
    pub fn width(&self) -> f64 {
        let at = |values: &[f64], share: f64| {
            let mut values = values.to_vec();
            values.sort_by(f64::total_cmp);
            values.get((values.len() as f64 * share) as usize).copied()
        };
        let error = at(&self.errors, 0.95).unwrap_or(0.0).max(1e-9);
        at(&self.halves, 0.5).unwrap_or(0.0) / error
    }
}

/// LRU: a cell for each size, over `traces` traces of a kind.
pub fn lru(kind: usize, shape: (u32, u64), rate: f64, sizes: &[At], traces: u64) -> Vec<Cell> {
    let mut cells = vec![Cell::default(); sizes.len()];
    for seed in 0..traces {
        let (_, spec) = kinds(shape.0, seed).swap_remove(kind);
        let trace = spec.trace("t", shape.1, seed + 1).unwrap();
        let input = Input::of(&trace).unwrap();
        let exact = Curve::lru(&input, &mut |_| {});
        // Traces and kinds have samples of their own: else all would share the same luck.
        let sample = Shards::new(&input, rate, random::mix(seed << 8 | kind as u64));
        for (at, cell) in sizes.iter().zip(&mut cells) {
            if let Some(size) = at.objects(trace.objects, rate) {
                cell.take(exact.miss_ratio(size), sample.miss_ratio(size).ok());
            }
        }
    }
    cells
}

/// A policy with `--memory`: as [`lru`], one object in `one_in`.
pub fn policy(
    name: &str,
    kind: usize,
    shape: (u32, u64),
    one_in: u64,
    sizes: &[At],
    traces: u64,
) -> Vec<Cell> {
    let choice = Choice::parse(name).unwrap();
    let mut cells = vec![Cell::default(); sizes.len()];
    for seed in 0..traces {
        let (_, spec) = kinds(shape.0, seed).swap_remove(kind);
        let trace = spec.trace("t", shape.1, seed + 1).unwrap();
        let input = Input::of(&trace).unwrap();
        let salt = random::mix(seed << 8 | kind as u64);
        let kept = |id: &u64| random::mix(id ^ salt).is_multiple_of(one_in);
        let keys: Vec<u64> = trace
            .ids
            .iter()
            .map(|&id| u64::from(id))
            .filter(kept)
            .collect();
        let mut sample = Trace::from_keys("sample", &keys);
        sample.sample = Some(Sample {
            one_in,
            requests: trace.len() as u64,
        });
        let sampled = Sampled::of(&sample).unwrap().unwrap();
        for (at, cell) in sizes.iter().zip(&mut cells) {
            let Some(size) = at.objects(trace.objects, 1.0 / one_in as f64) else {
                continue;
            };
            let mut whole = choice.build(&input, size).unwrap();
            let exact = run(whole.as_mut(), &input, &mut |_| {}).misses as f64;
            let estimate = sampled.estimate(&choice, size, &mut |_| {}).unwrap();
            cell.take(exact / trace.len() as f64, estimate.ok());
        }
    }
    cells
}
