//! Earlier names of options and commands. They go on working, with a word.
use super::print;
use std::ffi::OsString;

/// Commands, an earlier name, the name. The guide's table of options has the same commands.
const OPTIONS: &[(&[&str], &str, &str)] = &[
    (JOBS, "--threads", "--jobs"),
    (COUNT, "--limit", "--count"),
    (COUNT, "--requests", "--count"),
    (REPETITIONS, "--runs", "--repetitions"),
    (PLOT, "--plots", "--plot"),
    (OUTPUT, "--out", "--output"),
];

const REPETITIONS: &[&str] = &[
    "lab run",
    "lab bisect",
    "lab league",
    "sim reproduce",
    "trial",
];

const OUTPUT: &[&str] = &[
    "lab run",
    "lab bisect",
    "lab league",
    "trial",
    "kernel package",
    "metrics",
    "support",
    "sim campaign",
];

const JOBS: &[&str] = &[
    "lab run",
    "lab bisect",
    "lab league",
    "kernel build",
    "kernel check",
    "kernel package",
    "sim run",
    "sim sweep",
    "sim compare",
    "sim curve",
    "sim bytes",
    "sim campaign",
];

const COUNT: &[&str] = &[
    "record",
    "trace record",
    "trace convert",
    "trace info",
    "trace generate",
    "sim run",
    "sim sweep",
    "sim compare",
    "sim curve",
    "sim bytes",
];

const PLOT: &[&str] = &[
    "sim run",
    "sim sweep",
    "sim compare",
    "sim curve",
    "sim merge",
    "trace info",
];

/// The command above, the earlier name, the name.
const COMMANDS: &[(&str, &str, &str)] = &[("sim", "kernel", "validate")];

/// The command line with today's names. Each earlier name is reported on standard error.
pub fn renamed(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (words, notes) = rename(arguments.into_iter().collect());
    for note in notes {
        print::note(note);
    }
    words
}

fn rename(mut words: Vec<OsString>) -> (Vec<OsString>, Vec<String>) {
    let mut notes = Vec::new();
    let mut command = String::new();
    let mut depth = 0;
    for word in words.iter_mut().skip(1) {
        if word == "--" {
            break;
        }
        let Some(text) = word.to_str().map(str::to_string) else {
            continue;
        };
        if !text.starts_with('-') {
            // Values of options and file names are taken for commands here; no name in the tables begins so.
            if depth < 2 {
                let old = COMMANDS
                    .iter()
                    .find(|(above, old, _)| *above == command && *old == text);
                let name = old.map_or(text.as_str(), |(.., new)| new);
                if old.is_some() {
                    notes.push(format!("{command} {text} is now {command} {name}"));
                    *word = name.into();
                }
                command = format!("{command} {name}").trim_start().to_string();
                depth += 1;
            }
            continue;
        }
        let (option, value) = match text.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (text.as_str(), None),
        };
        let is_of = |above: &str| {
            let rest = command.strip_prefix(above);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        if let Some((.., new)) = OPTIONS
            .iter()
            .find(|(of, old, _)| *old == option && of.iter().any(|above| is_of(above)))
        {
            notes.push(format!("{option} is now {new}"));
            *word = match value {
                Some(value) => format!("{new}={value}").into(),
                None => new.into(),
            };
        }
    }
    (words, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(line: &str) -> (String, usize) {
        let (words, notes) = rename(line.split(' ').map(Into::into).collect());
        let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap()).collect();
        (words.join(" "), notes.len())
    }

    #[test]
    fn earlier_names_become_names() {
        let (line, notes) = after("hotset sim kernel results --threads 2");
        assert_eq!(
            (line.as_str(), notes),
            ("hotset sim validate results --threads 2", 1)
        );
        let (line, notes) = after("hotset sim sweep a --threads=2 --limit 5");
        assert_eq!(
            (line.as_str(), notes),
            ("hotset sim sweep a --jobs=2 --count 5", 2)
        );
        let (line, notes) = after("hotset trace generate zipf --requests 10 out.txt");
        assert_eq!(
            (line.as_str(), notes),
            ("hotset trace generate zipf --count 10 out.txt", 1)
        );
    }

    #[test]
    fn the_recorded_command_keeps_its_words() {
        let line = "hotset trace record a.txt -- head --limit 5";
        assert_eq!(after(line), (line.to_string(), 0));
    }

    #[test]
    fn names_of_today_stay() {
        let line = "hotset kernel build 7.3 --jobs 2";
        assert_eq!(after(line), (line.to_string(), 0));
    }
}
