//! The yardstick of the league: a small task that is to run ten times a second, on User-Mode Linux.
use crate::bench::Bench;
use crate::kernels::kernel;

/// In the second scene each beat's memory is in swap when its turn comes: the cgroup holds a quarter of it.
const EXPERIMENT: &str = r#"
title = "A task that is to run ten times a second"
repetitions = 1
[machine]
memory_mb = 128
zram_mb = 64
[files]
code = "2MiB"
[workers.free]
does.beat = { file = "code" }
[workers.tight]
does.beat = { memory = "16MiB" }
memory_max = "4MiB"
[[scenes]]
name = "calm"
run = ["free"]
seconds = 5
[[scenes]]
name = "tight"
run = ["tight"]
seconds = 5
[[arms]]
name = "classic"
kernel = "vanilla"
lru = "classic"
[[figures]]
title = "Seconds stood still"
scene = "calm"
metric = "free.still_s"
statistic = "sum"
unit = "s"
[[promises]]
title = "the delay of a calm machine is under a second, 99 times of 100"
arms = ["classic"]
scene = "calm"
metric = "free.late_ms"
statistic = "p99"
at_most = 1000
"#;

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn each_beat_that_is_due_is_told_whether_or_not_memory_is_short() {
    let bench = Bench::with(kernel(), EXPERIMENT);
    bench.runs();
    let trials = bench.trials();
    let scene = |name: &str| {
        let mut scenes = trials[0].scenes.iter();
        scenes.find(|scene| scene.name == name).unwrap()
    };
    for (name, worker) in [("calm", "free"), ("tight", "tight")] {
        let scene = scene(name);
        let late = &scene.observations[&format!("{worker}.late_ms")];
        let begun = scene.observations[&format!("{worker}.still_s")][0].0;
        let due = (scene.end_ms - begun) / 100.0;
        // The last beat of the scene may be due when the worker is told to end.
        let told = late.len() as f64;
        assert!(
            (due - told).abs() <= 3.0,
            "{name}: {due} were due, {told} were told"
        );
        assert!(late.iter().all(|(_, ms)| *ms >= 0.0));
    }
    let tight = scene("tight");
    assert!(
        tight.counters["vmstat.pswpin"] > 100.0,
        "the memory is not locked: {:?}",
        tight.counters["vmstat.pswpin"]
    );
}
