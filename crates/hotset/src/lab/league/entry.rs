//! The challengers and the cells that the options of `hotset lab league` choose.
use super::args::LeagueArgs;
use crate::lab::found::broken;
use crate::shell::usage;
use anyhow::Result;
use lab::experiment::league::{self, Cell, Challenger, Swap, Wanted, SCENES};

/// The challengers of hotset's file and of the user's, as far as they are wanted. A challenger of the user
/// takes the place of hotset's of the same name.
///
/// # Errors
/// A file is wrong, or there is no challenger of a name.
pub fn challengers(args: &LeagueArgs) -> Result<Vec<Challenger>> {
    let own = league::own().map_err(|error| usage!("{error:#}"))?;
    let mut found = league::read(&own).map_err(broken)?;
    for file in &args.challengers {
        for one in league::read(file).map_err(broken)? {
            found.retain(|other| other.name() != one.name());
            found.push(one);
        }
    }
    let known: Vec<String> = found.iter().map(|one| one.name().to_string()).collect();
    for name in args.only.iter().chain(&args.without) {
        if !known.contains(name) {
            let meant = names::suggestion(name, known.iter().map(String::as_str));
            let known = known.join(", ");
            return Err(usage!(
                "no challenger is called {name:?}; there are {known}{meant}"
            ));
        }
    }
    found.retain(|one| {
        let name = one.name().to_string();
        (args.only.is_empty() || args.only.contains(&name)) && !args.without.contains(&name)
    });
    match found.is_empty() {
        true => Err(usage!("--without leaves no challenger")),
        false => Ok(found),
    }
}

/// The cells that are wanted.
///
/// # Errors
/// A scene is broken, or no challenger plays in any.
pub fn cells(args: &LeagueArgs, challengers: &[Challenger]) -> Result<Vec<Cell>> {
    let small = args.preset.is_some();
    let or = |given: &[String], all: &[&str], few: &str| -> Vec<String> {
        match (given.is_empty(), small) {
            (false, _) => given.to_vec(),
            (true, true) => vec![few.into()],
            (true, false) => all.iter().map(|name| name.to_string()).collect(),
        }
    };
    let swaps = or(&args.swap, &Swap::ALL.map(Swap::name), "zram");
    let wanted = Wanted {
        scenes: or(&args.scene, &SCENES, "desktop"),
        swaps: { Swap::ALL.into_iter() }
            .filter(|swap| swaps.iter().any(|name| name == swap.name()))
            .collect(),
        seconds: args.seconds.or(small.then_some(10)),
        repetitions: args.repetitions.or(small.then_some(1)),
        seed: args.guests.seed,
    };
    league::cells(challengers, &wanted).map_err(|error| usage!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::experiment::league::PRESSURE;
    use report::league::{INNOCENTS, TITLES};

    /// The page takes the figures of each scene by their titles.
    #[test]
    fn every_scene_has_the_figures_of_the_yardstick() {
        let all = league::read(&league::own().unwrap()).unwrap();
        let wanted = Wanted {
            scenes: SCENES.map(String::from).to_vec(),
            swaps: Swap::ALL.to_vec(),
            seconds: None,
            repetitions: None,
            seed: None,
        };
        for cell in league::cells(&all, &wanted).unwrap() {
            let figures = cell.experiment.plan.figures.iter();
            let titles: Vec<&str> = figures
                .filter(|figure| figure.scene == PRESSURE)
                .map(|figure| figure.title.as_str())
                .collect();
            for title in TITLES {
                assert!(titles.contains(&title), "{}: {titles:?}", cell.name);
            }
            let innocents = titles.iter().filter(|title| title.starts_with(INNOCENTS));
            assert!(innocents.count() >= 2, "{}: {titles:?}", cell.name);
        }
    }
}
