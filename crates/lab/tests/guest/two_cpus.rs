//! User-Mode Linux with two CPUs.
use crate::series::run;

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3 with two CPUs"]
fn programs_outlive_reclaim_on_another_cpu() {
    let ran = run("two-cpus.toml");
    for arm in ["classic", "mglru"] {
        // A worker that crashes, or finds what it has not written, fails its trial.
        let trial = ran.ok(arm);
        let end = |name: &str| trial.scenes.last().unwrap().counters[name];
        assert!(end("vmstat.pswpin") > 1000.0, "{arm}: nothing came back");
    }
}
