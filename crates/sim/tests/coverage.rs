//! Of 100 intervals of estimates from a sample, 95 hold the exact miss ratio.
#[allow(dead_code)]
mod bed;

use bed::{kinds, At, Cell};
use sim::curve::shards::Shards;
use sim::curve::Curve;
use sim::Input;

const SIZES: [At; 5] = [
    At::Sampled(10.0),
    At::Sampled(20.0),
    At::Sampled(50.0),
    At::Share(0.2),
    At::Share(0.5),
];

/// Checks a row of the table: `cells` are those of each kind at one size and rate. A kind has few traces
/// here, so chance takes it further from 95% than all kinds together.
fn check(cells: &[Cell], what: &str) {
    let mut all = Cell::default();
    for (cell, (kind, _)) in cells.iter().zip(kinds(2000, 0)) {
        all.join(cell);
        let covered = cell.coverage();
        assert!(
            cell.given < 50 || covered >= 0.87,
            "{what}, {kind}: {covered}"
        );
    }
    // Where a loop just fits or just does not, an interval is wide and right.
    let mut widths: Vec<f64> = cells.iter().map(Cell::width).collect();
    widths.sort_by(f64::total_cmp);
    let width = widths[widths.len() / 2];
    assert!(width < 1.3, "{what}: {width} of the error");
    assert!(
        all.given > 300,
        "{what}: {} of {} given",
        all.given,
        all.asked
    );
    let covered = all.coverage();
    assert!(covered >= 0.95, "{what}: {covered}");
}

#[test]
fn intervals_of_lru_hold_the_exact_miss_ratio() {
    for rate in [0.25, 0.1] {
        let kinds = 0..kinds(2000, 0).len();
        let cells: Vec<Vec<Cell>> = kinds
            .map(|kind| bed::lru(kind, (2000, 20_000), rate, &SIZES, 100))
            .collect();
        for at in 0..SIZES.len() {
            let column: Vec<Cell> = cells.iter().map(|cells| cells[at].clone()).collect();
            check(&column, &format!("rate {rate}, size {at}"));
        }
    }
}

#[test]
fn intervals_of_policies_hold_the_exact_miss_ratio() {
    for name in ["opt", "fifo", "arc", "lirs", "s3-fifo"] {
        let mut all = Cell::default();
        for kind in 0..kinds(2000, 0).len() {
            for cell in bed::policy(name, kind, (2000, 20_000), 4, &SIZES[1..4], 12) {
                all.join(&cell);
            }
        }
        assert!(
            all.given > 300,
            "{name}: {} of {} given",
            all.given,
            all.asked
        );
        let covered = all.coverage();
        assert!(covered >= 0.95, "{name}: {covered}");
    }
}

#[test]
fn policies_that_do_not_scale_have_no_estimate() {
    for name in ["mru", "sieve", "mglru", "lhd"] {
        let cells = bed::policy(name, 0, (2000, 20_000), 4, &SIZES, 2);
        assert!(cells.iter().all(|cell| cell.given == 0), "{name}");
    }
}

#[test]
fn caches_of_few_sampled_objects_have_no_estimate() {
    let (_, spec) = kinds(2000, 0).swap_remove(2);
    let trace = spec.trace("t", 20_000, 1).unwrap();
    let input = Input::of(&trace).unwrap();
    let sample = Shards::new(&input, 0.01, 0);
    for size in [1, 25, 100, 999] {
        assert!(sample.miss_ratio(size).is_err(), "{size}");
    }
    // No object at all is sampled.
    let nothing = Shards::new(&input, 1e-6, 0);
    for size in [1, 1000, u64::from(u32::MAX), 1 << 40] {
        assert!(nothing.miss_ratio(size).is_err(), "{size}");
    }
}

#[test]
fn a_sample_of_all_objects_is_exact() {
    for (kind, spec) in kinds(2000, 3) {
        let trace = spec.trace("t", 20_000, 4).unwrap();
        let input = Input::of(&trace).unwrap();
        let exact = Curve::lru(&input, &mut |_| {});
        let sample = Shards::new(&input, 1.0, 0);
        for size in [10, 77, 1000] {
            let estimate = sample.miss_ratio(size).unwrap();
            let ratio = exact.miss_ratio(size);
            let ends = [estimate.low, estimate.miss_ratio, estimate.high];
            assert!(
                ends.iter().all(|end| (end - ratio).abs() < 1e-12),
                "{kind}: {ends:?}"
            );
        }
    }
}
