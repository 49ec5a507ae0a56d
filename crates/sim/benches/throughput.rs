//! Million requests a second of every policy, on one core, CPU time, without decoding and renumbering:
//! `cargo bench -p sim` (all), `cargo bench -p sim -- fifo lru` (some), `-- --runs 1` (less exact).
use sim::curve::Curve;
use sim::registry::{Choice, POLICIES};
use sim::{bench_traces, run, Input};

/// The name of the exact LRU curve at all sizes in the output.
const CURVE: &str = "lru-curve";

/// CPU seconds of this thread: another program on the core must not count.
fn cpu_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn main() {
    let mut runs = 5;
    let mut wanted = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {}
            "--runs" => {
                runs = arguments
                    .next()
                    .and_then(|text| text.parse().ok())
                    .filter(|&runs| runs > 0)
                    .expect("--runs N, at least 1")
            }
            name => wanted.push(name.to_string()),
        }
    }
    if wanted.is_empty() {
        wanted = POLICIES.iter().map(|p| p.name.to_string()).collect();
        wanted.push(CURVE.to_string());
    }
    let traces = [("zipf", bench_traces::zipf()), ("mix", bench_traces::mix())];
    println!("million requests a second of CPU time, median of {runs}; bytes an object; misses");
    println!(
        "{:24} {:5} {:>8} {:>8} {:>7} {:>10}",
        "policy", "trace", "size", "M/s", "bytes", "misses"
    );
    let curve = wanted.iter().any(|name| name == CURVE);
    for (trace, (ids, objects)) in traces.iter().filter(|_| curve) {
        let input = Input::new(ids, *objects).expect("a trace of our own");
        let speeds = (0..runs).map(|_| {
            let start = cpu_seconds();
            let curve = Curve::lru(&input, &mut |_| {});
            std::hint::black_box(curve.misses(1));
            ids.len() as f64 / (cpu_seconds() - start) / 1e6
        });
        println!(
            "{CURVE:24} {trace:5} {:>8} {:>8.1}",
            "all",
            median(speeds.collect())
        );
    }
    for name in wanted.iter().filter(|name| *name != CURVE) {
        let choice = Choice::parse(name).unwrap_or_else(|error| panic!("{error}"));
        for (trace, (ids, objects)) in &traces {
            let input = Input::new(ids, *objects).expect("a trace of our own");
            for share in [100, 10] {
                let size = (*objects / share) as u64;
                let mut counts = None;
                let speeds = (0..runs).map(|_| {
                    let start = cpu_seconds();
                    let mut policy = choice.build(&input, size).expect("a size");
                    counts = Some(run(policy.as_mut(), &input, &mut |_| {}));
                    ids.len() as f64 / (cpu_seconds() - start) / 1e6
                });
                let speed = median(speeds.collect());
                let counts = counts.expect("a run");
                println!(
                    "{name:24} {trace:5} {size:>8} {speed:>8.1} {:>7.1} {:>10}",
                    counts.bytes as f64 / *objects as f64,
                    counts.misses
                );
            }
        }
    }
}
