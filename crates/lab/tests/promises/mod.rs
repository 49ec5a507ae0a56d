//! The promises of hotset's policy: the closed loop under hotset beside the loop under fixed settings.
use lab::model::{run, Controller, Row, Settings, Trace};
use std::collections::BTreeSet;

/// The fixed values of vm.watermark_scale_factor.
pub const STATICS: [u32; 5] = [10, 100, 200, 300, 700];

/// Runs the closed loop without a log.
pub fn quiet(trace: &Trace, controller: Controller) -> Row {
    run(trace, controller, &Settings::default(), &mut |_, _, _| {})
}

/// The free share at which fixed settings stall for `stall_s`. Between two settings the curve is a
/// straight line.
fn allowed(curve: &[(f64, f64)], stall_s: f64) -> f64 {
    let mut curve = curve.to_vec();
    curve.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut last = curve[0];
    if stall_s <= last.0 {
        return last.1;
    }
    for point in curve {
        // Of two settings with as many stalls the one with less free memory counts.
        if point.0 == last.0 {
            continue;
        }
        if stall_s <= point.0 {
            let share = (stall_s - last.0) / (point.0 - last.0);
            return last.1 + share * (point.1 - last.1);
        }
        last = point;
    }
    last.1
}

/// One trace under the fixed settings and under hotset.
pub struct Judged {
    statics: Vec<Row>,
    hotset: Row,
}

impl Judged {
    fn of(trace: &Trace) -> Judged {
        let statics = STATICS.iter();
        Judged {
            statics: statics
                .map(|wsf| quiet(trace, Controller::Static(*wsf)))
                .collect(),
            hotset: quiet(trace, Controller::Hotset(2)),
        }
    }

    /// The promises on one trace. Hotset costs nothing where the default suffices, and compacts only
    /// where memory is fragmented.
    pub fn assert_harmless(&self) {
        let (default, hotset) = (&self.statics[0], &self.hotset);
        let steal = |row: &Row| (row.ksteal + row.dsteal) as f64;
        if default.stall_s == 0.0 {
            let (base, mine) = (steal(default), steal(hotset));
            assert!(
                mine <= 1.01 * base,
                "{}: reclaims {mine}, plain {base}",
                hotset.trace
            );
            assert_eq!(hotset.stall_s, 0.0, "{}", hotset.trace);
        }
        match hotset.kind.as_str() {
            "frag" => assert!(hotset.compacts > 0, "{}: not compacted", hotset.trace),
            _ => assert_eq!(hotset.compacts, 0, "{}: compacted in vain", hotset.trace),
        }
    }

    /// The class of traces that this trace is judged with.
    fn class(&self) -> Option<&'static str> {
        let row = &self.hotset;
        match (row.kind.as_str(), row.trace.starts_with("big")) {
            ("burst", true) => Some("768 GB bursts"),
            ("burst", false) => Some("24 GB bursts"),
            ("noisy", _) => Some("24 GB noisy"),
            _ => None,
        }
    }
}

/// Runs each trace under all controllers, on all CPUs.
pub fn judged(traces: &[Trace]) -> Vec<Judged> {
    let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    std::thread::scope(|scope| {
        let chunks = traces.chunks(traces.len().div_ceil(cpus));
        let threads: Vec<_> = chunks
            .map(|chunk| scope.spawn(|| chunk.iter().map(Judged::of).collect::<Vec<_>>()))
            .collect();
        let rows = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        rows.collect()
    })
}

/// Fixed settings that stall as little as hotset keep more memory free than hotset does.
pub fn assert_better_than_fixed(class: &str, judged: &[&Judged]) {
    let sum = |row: &dyn Fn(&Judged) -> (f64, f64)| {
        let all = judged.iter().map(|judged| row(judged));
        let (stall, free) = all.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        (stall, free / judged.len() as f64)
    };
    let curve: Vec<_> = (0..STATICS.len())
        .map(|at| sum(&|j: &Judged| (j.statics[at].stall_s, j.statics[at].free_mean_pct)))
        .collect();
    let (stall_s, free) = sum(&|j: &Judged| (j.hotset.stall_s, j.hotset.free_mean_pct));
    let allowed = allowed(&curve, stall_s);
    assert!(
        free < allowed,
        "{class}: {stall_s} s at {free}% free, the curve is at {allowed}%: {curve:?}"
    );
}

/// Hotset forecasts 28 of 29 of the foreseeable exhaustions, with few false alarms. Returns the number of exhaustions,
/// and of the foreseeable ones.
fn assert_forecasts(judged: &[Judged]) -> (usize, usize) {
    let scores = judged.iter().map(|one| one.hotset.score.as_ref().unwrap());
    let (mut exhaustions, mut episodes, mut predicted, mut false_pct) = (0, 0, 0, 0.0);
    for score in scores {
        exhaustions += score.exhaustions;
        episodes += score.reclaim_episodes;
        predicted += score.predicted;
        false_pct += score.false_positive_pct / judged.len() as f64;
    }
    assert!(predicted * 29 >= episodes * 28, "{predicted} of {episodes}");
    assert!(episodes >= 20, "{episodes}");
    assert!(false_pct <= 4.0, "{false_pct}");
    (exhaustions, episodes)
}

/// Asserts all promises on `traces` together. The traces belong to exactly these `classes`. Returns the number of
/// exhaustions, and of the foreseeable ones.
pub fn assert_promises(traces: &[Trace], classes: &[&str]) -> (usize, usize) {
    let judged = judged(traces);
    judged.iter().for_each(Judged::assert_harmless);
    let found: BTreeSet<&str> = judged.iter().filter_map(Judged::class).collect();
    assert_eq!(found, classes.iter().copied().collect());
    for class in found {
        let of_class = judged.iter().filter(|one| one.class() == Some(class));
        assert_better_than_fixed(class, &of_class.collect::<Vec<_>>());
    }
    assert_forecasts(&judged)
}
