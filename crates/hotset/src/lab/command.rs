//! The command line that repeats a run, for its report.
use super::run_args::{GuestArgs, RunArgs};
use names::quoted;

/// The command line that repeats this run, without its output folder: the `variables` of the environment
/// that chose what ran, and each option that did. Jobs and seed are written out even where none was
/// given: another machine has other jobs by default, and a later experiment file may have another seed.
pub fn command(
    args: &RunArgs,
    variables: &[(&'static str, String)],
    seed: u64,
    jobs: u32,
) -> String {
    let mut parts = self::variables(variables);
    parts.push("hotset lab run".into());
    parts.push(quoted(&args.experiment));
    let options = [
        ("preset", args.preset.clone()),
        ("bed", args.bed.clone()),
        ("kernel", args.kernel.map(|line| line.to_string())),
        ("arm", list(&args.arms)),
        ("repetitions", args.repetitions.map(|n| n.to_string())),
        ("seed", Some(seed.to_string())),
        ("jobs", Some(jobs.to_string())),
    ];
    let set = args.set.iter().map(|set| ("set", Some(set.clone())));
    line(parts, options.into_iter().chain(set), &args.guests)
}

/// The values of an option that takes a list; none where it is not given.
pub fn list(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| values.join(","))
}

/// The words of a command, its options that have a value, and those of `guests` that chose what ran and have not been
/// named.
pub fn line<'a>(
    mut words: Vec<String>,
    options: impl Iterator<Item = (&'a str, Option<String>)>,
    guests: &GuestArgs,
) -> String {
    let tree = guests.tree.as_ref();
    let tree = tree.map(|tree| tree.display().to_string());
    for (name, value) in options.chain([("tree", tree)]) {
        if let Some(value) = value {
            words.push(format!("--{name} {}", quoted(&value)));
        }
    }
    if guests.keep_going {
        words.push("--keep-going".into());
    }
    words.join(" ")
}

/// Variables of the environment, as a shell takes them before a command.
pub fn variables(set: &[(&'static str, String)]) -> Vec<String> {
    let words = set.iter();
    words
        .map(|(name, value)| format!("{name}={}", quoted(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        run: RunArgs,
    }

    fn parsed(line: &str) -> RunArgs {
        let words = line.split_whitespace();
        Line::try_parse_from(words).unwrap().run
    }

    #[test]
    fn the_command_repeats_every_option_that_chooses_what_runs() {
        let line =
            "run near-oom --preset hundred --bed qemu --kernel 6.12 --arm a,b --repetitions 3 \
                    --set machine.cpus=2 --set title=x --tree /src/linux --keep-going";
        let variables = [("HOTSET_KERNEL_SERIES", "/my kernels/linux".to_string())];
        let text = command(&parsed(line), &variables, 7, 2);
        let begin = "HOTSET_KERNEL_SERIES='/my kernels/linux' hotset lab run near-oom ";
        let rest = text.strip_prefix(begin).unwrap_or_else(|| panic!("{text}"));
        let again = parsed(&format!("run near-oom {rest}"));
        assert_eq!(again.guests.seed, Some(7), "the experiment's own seed");
        assert_eq!(again.guests.jobs, Some(2), "the jobs of this machine");
        assert_eq!(again.arms, ["a", "b"]);
        assert_eq!(again.set, ["machine.cpus=2", "title=x"]);
        assert_eq!(again.guests.tree, Some("/src/linux".into()));
        // A command that is made of the command is the same.
        assert_eq!(command(&again, &variables, 7, 2), text);
    }

    #[test]
    fn files_and_reports_are_no_part_of_the_command() {
        let line = "run x --output results/a --force --json";
        let text = command(&parsed(line), &[], 1, 1);
        assert_eq!(text, "hotset lab run x --seed 1 --jobs 1");
    }
}
