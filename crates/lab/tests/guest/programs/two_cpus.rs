//! User-Mode Linux with two CPUs.
use crate::series::run;

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3 with two CPUs"]
fn programs_outlive_reclaim_on_another_cpu() {
    let ran = run("two-cpus.toml");
    for arm in ["classic", "mglru"] {
        let trial = ran.ok(arm);
        // The scene before ends when memory is exhausted.
        let limit = trial.events.iter().find(|it| it.name == "scene-limit");
        assert!(limit.is_none(), "{arm}: {limit:?}");
        let scene = trial.scenes.last().unwrap();
        let swapped = scene.counters["vmstat.pswpin"];
        assert!(swapped > 1000.0, "{arm}: no pressure: {swapped} swapped in");
        let ends = trial.events.iter().filter(|it| it.name == "worker-end");
        let crashes: Vec<&str> = { ends.map(|it| it.detail.as_str()) }
            .filter(|detail| detail.starts_with("check "))
            .collect();
        assert!(crashes.is_empty(), "{arm}: {crashes:?}");
        let wrong = &scene.observations["check.wrong"];
        assert!(wrong.iter().all(|value| value.1 == 0.0), "{arm}: {wrong:?}");
    }
}
