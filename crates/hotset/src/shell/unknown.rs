//! Options that a command does not have: where they are, or what was meant.
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::Command;

/// Commands to name at most.
const MOST: usize = 4;

/// Says which commands have the option, where the command at hand has not. None for other errors, and for options
/// that no command has.
pub fn elsewhere(error: &clap::Error, all: &Command) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let option = invalid(error)?;
    let mut found = Vec::new();
    commands_with(all, option.strip_prefix("--")?, "", &mut found);
    let others = match found.len() {
        0 => return None,
        number if number > MOST => " and others",
        _ => "",
    };
    found.truncate(MOST);
    let found = found.join(", ");
    Some(format!(
        "{option} is no option here, but one of {found}{others}"
    ))
}

/// The error without a tip that is far from what was typed.
pub fn without_far_tips(mut error: clap::Error) -> clap::Error {
    let far = match (invalid(&error), error.get(ContextKind::SuggestedArg)) {
        (Some(typed), Some(ContextValue::String(tip))) => {
            let bare = |option: &str| option.trim_start_matches('-').to_string();
            names::nearest(&bare(typed), [bare(tip).as_str()]).is_none()
        }
        _ => false,
    };
    if far {
        error.remove(ContextKind::SuggestedArg);
        // It has the tip as an argument.
        error.remove(ContextKind::Usage);
    }
    error
}

fn invalid(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => Some(option),
        _ => None,
    }
}

/// The commands below `command` that have the option, each by its path.
fn commands_with(command: &Command, option: &str, path: &str, found: &mut Vec<String>) {
    for below in command.get_subcommands() {
        let path = format!("{path} {}", below.get_name());
        let mut long = below.get_arguments().filter_map(clap::Arg::get_long);
        if long.any(|long| long == option) {
            found.push(path.trim_start().to_string());
        }
        commands_with(below, option, &path, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    fn error(line: &str) -> (clap::Error, Command) {
        let option = |name: &'static str| Arg::new(name).long(name);
        let run = Command::new("run").arg(option("names"));
        let curve = Command::new("curve").arg(option("sample"));
        let all = Command::new("x").subcommand(run).subcommand(curve);
        let words = line.split(' ');
        (all.clone().try_get_matches_from(words).unwrap_err(), all)
    }

    #[test]
    fn an_option_of_another_command_is_named_with_it() {
        let (found, all) = error("x run --sample 5");
        let text = elsewhere(&found, &all).unwrap();
        assert!(
            text.contains("--sample") && text.contains("curve"),
            "{text}"
        );
        let (found, all) = error("x run --nothing 5");
        assert_eq!(elsewhere(&found, &all), None);
    }

    #[test]
    fn a_tip_is_near() {
        let text = |line| without_far_tips(error(line).0).render().to_string();
        assert!(text("x run --name 5").contains("--names"));
        assert!(!text("x run --sampel 5").contains("--names"));
    }
}
