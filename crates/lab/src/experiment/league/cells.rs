//! The cells of the league: each scene with each kind of swap, and the challengers that play there.
use super::challenger::Challenger;
use super::swap::Swap;
use crate::experiment::check;
use crate::experiment::definition::Experiment;
use crate::experiment::find::find;
use crate::experiment::load::Changes;
use crate::experiment::machine::Root;
use crate::experiment::places::daemon_program;
use crate::experiment::text::source::Broken;
use anyhow::{bail, Result};

/// The scenes, each an experiment `league-NAME`.
pub const SCENES: [&str; 3] = ["desktop", "storm", "compile"];

/// The part of every scene in which challengers are measured.
pub const PRESSURE: &str = "pressure";

/// The part of the league that is to be run.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Names of [`SCENES`].
    pub scenes: Vec<String>,
    pub swaps: Vec<Swap>,
    /// Length of the pressure, in seconds, instead of the scene's own.
    pub seconds: Option<u32>,
    pub repetitions: Option<u32>,
    pub seed: Option<u64>,
}

/// One scene with one kind of swap.
#[derive(Clone, Debug)]
pub struct Cell {
    /// "desktop-zram": the name of its folder.
    pub name: String,
    pub experiment: Experiment,
}

impl Cell {
    /// The planned length of the pressure, in seconds.
    pub fn seconds(&self) -> f64 {
        let scenes = self.experiment.scenes.iter();
        let pressure = scenes.filter(|scene| scene.name == PRESSURE);
        pressure.map(|scene| scene.seconds).sum()
    }
}

/// The cells that are wanted, each with the challengers that do anything there.
///
/// # Errors
/// A scene is not found or is broken, or no challenger plays in any.
pub fn cells(challengers: &[Challenger], wanted: &Wanted) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for scene in &wanted.scenes {
        for swap in &wanted.swaps {
            let mut experiment = scene_with(scene, *swap, wanted)?;
            let players: Vec<&Challenger> = { challengers.iter() }
                .filter(|one| one.plays(*swap))
                .collect();
            if players.is_empty() {
                continue;
            }
            experiment.arms = players.iter().map(|one| one.arm.clone()).collect();
            root_of(&players, &mut experiment);
            let name = format!("{scene}-{swap}");
            experiment.name = format!("league-{name}");
            enter(&mut experiment)?;
            cells.push(Cell { name, experiment });
        }
    }
    match cells.is_empty() {
        true => bail!("no challenger does anything with this kind of swap; see --swap"),
        false => Ok(cells),
    }
}

fn scene_with(scene: &str, swap: Swap, wanted: &Wanted) -> Result<Experiment> {
    let path = find(&format!("league-{scene}"))?;
    let changes = Changes {
        preset: (swap != Swap::Zram).then(|| swap.to_string()),
        set: Vec::new(),
    };
    let mut experiment = Experiment::load(&path, &changes)?;
    if let Some(seconds) = wanted.seconds {
        let scenes = experiment.scenes.iter_mut();
        for pressure in scenes.filter(|scene| scene.name == PRESSURE) {
            pressure.seconds = f64::from(seconds);
        }
    }
    experiment.repetitions = wanted.repetitions.unwrap_or(experiment.repetitions);
    experiment.seed = wanted.seed.unwrap_or(experiment.seed);
    Ok(experiment)
}

/// Gives the guests a root with the packages of all players, so that all have the same machine.
fn root_of(players: &[&Challenger], experiment: &mut Experiment) {
    let mut packages: Vec<String> = Vec::new();
    for player in players {
        let (command, places) = &player.places;
        let field = daemon_program(player.name());
        experiment.places.put(field, command.clone());
        for (package, place) in player.packages.iter().zip(places) {
            if !packages.contains(package) {
                let field = format!("root.packages[{}]", packages.len());
                experiment.places.put(field, place.clone());
                packages.push(package.clone());
            }
        }
    }
    experiment.root = (!packages.is_empty()).then(|| Root::of(packages));
}

/// Makes the arms those of the experiment: ratios are against `nothing`, and a promise about an arm that
/// does not play is none.
fn enter(experiment: &mut Experiment) -> Result<()> {
    let nothing = "nothing".to_string();
    let is_there = experiment.arms.iter().any(|arm| arm.name == nothing);
    for arm in &mut experiment.arms {
        arm.baseline = (is_there && arm.name != nothing).then(|| nothing.clone());
    }
    let arms = &experiment.arms;
    experiment.plan.promises.retain(|promise| {
        let mut names = promise.arms.iter();
        names.all(|name| arms.iter().any(|arm| arm.name == *name))
    });
    match check::all(experiment) {
        Ok(()) => Ok(()),
        Err(error) => match experiment.places.get(&error.field()) {
            Some(place) => Err(Broken {
                message: error.message,
                ..place.clone()
            }
            .into()),
            None => bail!("{}: {}", experiment.name, error.message),
        },
    }
}
