//! The speed of decoding and renumbering requests: `cargo bench -p trace`, or with traces of your own
//! `cargo bench -p trace -- FILE...`. CPU time of one thread, median of 5.
use rustix::time::{clock_gettime, ClockId};
use std::hint::black_box;
use std::path::Path;
use trace::generate::Spec;
use trace::{advise_huge, ReadOptions, Renumber};

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with("--"))
        .collect();
    for file in &files {
        let n = trace::open(Path::new(file), &ReadOptions::default()).map(|t| t.len());
        match n {
            Ok(n) => show(file, n, || {
                black_box(trace::open(Path::new(file), &ReadOptions::default()).is_ok());
            }),
            Err(error) => println!("{error}"),
        }
    }
    if !files.is_empty() {
        return;
    }
    const REQUESTS: u64 = 10_000_000;
    let zipf = Spec::Zipf {
        objects: 1_000_000,
        alpha: 1.0,
    };
    for (name, spec) in [("zipf", zipf), ("mix", Spec::loop_scan_zipf(2_000_000))] {
        let mut keys: Vec<u64> = Vec::with_capacity(REQUESTS as usize);
        let drawn = spec.requests(REQUESTS, 1, |some| {
            keys.extend(some.iter().map(|&k| u64::from(k)))
        });
        assert_eq!(drawn, Ok(()));
        let renumber = |keys: &[u64]| {
            let mut ids: Vec<u32> = Vec::with_capacity(keys.len());
            advise_huge(&mut ids);
            let mut renumber = Renumber::new(keys.len() as u64);
            assert_eq!(renumber.extend(keys, &mut ids), Ok(()));
            black_box(ids.len());
        };
        show(
            &format!("renumber {name}, small numbers"),
            keys.len(),
            || renumber(&keys),
        );
        // Numbers as large as block addresses and hashes.
        for key in &mut keys {
            *key = (*key + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        show(&format!("renumber {name}, any numbers"), keys.len(), || {
            renumber(&keys)
        });
    }
}

fn show(title: &str, requests: usize, mut run: impl FnMut()) {
    let mut rates = [(); 5].map(|()| {
        let begun = cpu();
        run();
        requests as f64 / (cpu() - begun) / 1e6
    });
    rates.sort_by(f64::total_cmp);
    println!(
        "{title}: {:.1} M/s ({:.1} to {:.1})",
        rates[2], rates[0], rates[4]
    );
}

fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
