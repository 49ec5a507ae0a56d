//! Real databases in a guest: made, then looked up with and without their index locked, and beside a copy
//! of files.
use crate::bench::Bench;
use crate::kernels::kernel;
use protocol::record::{Outcome, Trial};

fn one(trial: &Trial, scene: &str, name: &str) -> f64 {
    let scenes = &trial.scenes;
    let scene = scenes.iter().find(|one| one.name == scene).unwrap();
    let values = scene.observations.get(name);
    let values = values.unwrap_or_else(|| panic!("no {name}: {:?}", trial.events));
    values[0].1
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn two_engines_are_looked_up_in_little_memory() {
    let bench = Bench::with(kernel(), include_str!("../data/database.toml"));
    bench.runs();
    let trials = bench.trials();
    let [trial] = &trials[..] else {
        panic!("{trials:?}")
    };
    assert_eq!(trial.outcome, Outcome::Ok);
    let wrong = ["worker-error", "scene-limit", "oom-kill"];
    let wrong = trial
        .events
        .iter()
        .find(|event| wrong.contains(&event.name.as_str()));
    assert!(wrong.is_none(), "{wrong:?}");
    for engine in ["sqlite", "redb"] {
        let locked = format!("{engine}-locked");
        let free = |name: &str| one(trial, engine, &format!("{engine}.{name}"));
        let held = |name: &str| one(trial, &locked, &format!("{locked}.{name}"));
        assert_eq!((free("look_ups"), held("look_ups")), (3000.0, 3000.0));
        // 6 MiB of memory for 18 MiB of data: neither the data nor the index fits.
        assert!(free("records_resident") < 0.5, "{engine}");
        assert!(free("index_resident") < 1.0, "{engine}");
        assert_eq!(held("index_resident"), 1.0, "{engine}");
        assert!(held("locked_mb") > 0.5, "{engine}");
        // Each refault reads a page.
        assert!(free("refaults") > 100.0, "{engine}");
        assert!(free("read_mb") * 256.0 >= free("refaults"), "{engine}");
    }
    // A worker that maps its files waits for pages in faults.
    assert!(one(trial, "sqlite-locked", "sqlite-locked.majflt") > 100.0);
    let copied: Vec<f64> = { trial.scenes.iter() }
        .flat_map(|scene| scene.observations.get("copy.copied_mb"))
        .flatten()
        .map(|(_, mb)| *mb)
        .collect();
    assert!(matches!(copied[..], [mb] if mb > 0.1), "{copied:?}");
}
