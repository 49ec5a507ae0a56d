//! The time that a run takes.
use crate::experiment::Experiment;

/// Seconds of a trial besides its scenes: boot, settling between scenes and power-off.
const AROUND_S: f64 = 2.0;

/// The usual and the longest time of a run with `jobs` guests at once, in seconds, when kernels and
/// data disk exist. A scene that ends on an event usually lasts a quarter of its limit.
pub fn estimate(experiment: &Experiment, jobs: u32) -> (f64, f64) {
    let scenes = experiment.scenes.iter();
    let usual = scenes.map(|scene| match scene.until {
        Some(_) => scene.seconds / 4.0,
        None => scene.seconds,
    });
    let trials = experiment.arms.len() as f64 * f64::from(experiment.repetitions);
    let rounds = (trials / f64::from(jobs.max(1))).ceil();
    let seconds = |scenes: f64| rounds * (scenes + AROUND_S);
    (seconds(usual.sum()), seconds(experiment.scene_seconds()))
}
