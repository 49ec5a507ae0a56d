//! The command line that repeats a league, for its pages.
use super::LeagueArgs;
use crate::lab::command::{line, list, variables};

/// The command line that repeats this league, without its output folder: the `set` variables of the environment that
/// chose what ran, and each option that did. A league that is resumed has the same.
pub fn command(args: &LeagueArgs, set: &[(&'static str, String)], jobs: u32) -> String {
    let mut words = variables(set);
    words.push("hotset lab league".into());
    let options = [
        ("only", list(&args.only)),
        ("without", list(&args.without)),
        ("scene", list(&args.scene)),
        ("swap", list(&args.swap)),
        ("preset", args.preset.clone()),
        ("seconds", args.seconds.map(|n| n.to_string())),
        ("repetitions", args.repetitions.map(|n| n.to_string())),
        ("seed", args.guests.seed.map(|n| n.to_string())),
        ("jobs", Some(jobs.to_string())),
    ];
    let files = args.challengers.iter();
    let files = files.map(|file| ("challengers", Some(file.display().to_string())));
    line(words, options.into_iter().chain(files), &args.guests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        league: LeagueArgs,
    }

    fn parsed(line: &str) -> LeagueArgs {
        Line::try_parse_from(line.split_whitespace())
            .unwrap()
            .league
    }

    #[test]
    fn the_command_repeats_every_option_that_chooses_what_runs() {
        let text = "hotset lab league --only a,b --without c --scene desktop --swap zram,disk --preset small \
                    --seconds 20 --repetitions 2 --seed 7 --jobs 2 --challengers x.toml --challengers y.toml \
                    --tree /src/linux --keep-going";
        let args = parsed(text.strip_prefix("hotset lab ").unwrap());
        assert_eq!(command(&args, &[], 2), text);
    }

    #[test]
    fn a_league_that_goes_on_has_the_command_of_its_begin() {
        let begun = parsed("league --seconds 20 -o results/a");
        let goes_on = parsed("league --resume --seconds 20 --output results/a --json");
        assert_eq!(command(&begun, &[], 1), command(&goes_on, &[], 1));
    }
}
