//! Checks the scenes.
use super::rule::{invalid, Checked};
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::{at, there_are};
use protocol::spec::Until;

pub fn scenes(experiment: &Experiment) -> Checked {
    if experiment.scenes.is_empty() {
        return invalid(at!["scenes"], "expected at least one scene");
    }
    for (i, scene) in experiment.scenes.iter().enumerate() {
        if scene.name.is_empty() {
            return invalid(at!["scenes", i, "name"], "expected a name");
        }
        if experiment.scenes[..i]
            .iter()
            .any(|other| other.name == scene.name)
        {
            let message = format!("another scene is called {:?}", scene.name);
            return invalid(at!["scenes", i, "name"], message);
        }
        if !(scene.seconds > 0.0 && scene.seconds <= 86_400.0) {
            return invalid(
                at!["scenes", i, "seconds"],
                "expected seconds, above 0, a day at most",
            );
        }
        let here = at!["scenes", i, "kills"];
        if !(1..=100_000).contains(&scene.kills) {
            return invalid(here, "expected 1 to 100000");
        }
        if scene.until == Some(Until::Exhausted) && experiment.exhausted_below.is_zero() {
            let message = "memory is never exhausted while `exhausted_below` is 0: set it at the top of the file";
            return invalid(at!["scenes", i, "until"], message);
        }
        if scene.kills > 1 && scene.until != Some(Until::Killed) {
            return invalid(here, "kills are counted with until = \"killed\"");
        }
        for (j, name) in scene.run.iter().enumerate() {
            if !experiment.workers.contains_key(name) {
                let names: Vec<&String> = experiment.workers.keys().collect();
                let message = format!("no worker is called {name:?}; {}", there_are(name, &names));
                return invalid(at!["scenes", i, "run", j], message);
            }
        }
    }
    Ok(())
}
