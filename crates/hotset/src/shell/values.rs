//! Errors about values of options, in one style: `--seed: 0 is out of range (1 to 1000)`.
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;

/// The largest bound that is worth naming. Beyond are those of Rust's types.
const LARGEST: u128 = u32::MAX as u128;

/// The message for a value that its option does not take; none for other errors.
pub fn explained(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    // "--jobs <N>", "--series [<SERIES>]", "[VERSION]" or "<SIZE>...".
    let option = text(ContextKind::InvalidArg)?;
    let option = option.split(' ').next()?;
    let option = option
        .trim_end_matches('.')
        .trim_matches(['[', ']', '<', '>']);
    let value = text(ContextKind::InvalidValue)?;
    let cause = error.source()?.to_string();
    Some(match meaning(&cause) {
        Some(meaning) => format!("{option}: {value} is {meaning}"),
        None if says(&cause, value) => format!("{option}: {cause}"),
        None => format!("{option}: {value}: {cause}"),
    })
}

/// Whether the message has the value: at its beginning, or in quotes. Elsewhere the same letters are chance.
fn says(cause: &str, value: &str) -> bool {
    cause.starts_with(value) || cause.contains(&format!("{value:?}"))
}

/// What Rust's number types and clap's ranges mean to say; none for a message of our own.
fn meaning(cause: &str) -> Option<String> {
    if let Some((_, range)) = cause.split_once(" is not in ") {
        let (low, high) = range.split_once("..")?;
        let (high, less) = match high.strip_prefix('=') {
            Some(high) => (high, 0),
            None => (high, 1),
        };
        let high = high.parse::<u128>().ok();
        return Some(match high.map(|high| high - less) {
            Some(high) if high < LARGEST => format!("out of range ({low} to {high})"),
            _ => format!("out of range ({low} or more)"),
        });
    }
    let known = [
        ("invalid digit found in string", "not a whole number"),
        (
            "cannot parse integer from empty string",
            "not a whole number",
        ),
        ("invalid float literal", "not a number"),
        ("cannot parse float from empty string", "not a number"),
        ("number too large to fit in target type", "too large"),
        ("number too small to fit in target type", "too small"),
    ];
    let found = known.iter().find(|(jargon, _)| *jargon == cause);
    found.map(|(_, meaning)| (*meaning).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{value_parser, Arg, Command};

    fn message(line: &str) -> String {
        let own = |text: &str| match text {
            "a" => Ok(text.to_string()),
            "0" => Err("out of range (0.001 to 10)".into()),
            _ => Err(format!("expected a, not {text:?}")),
        };
        let command = Command::new("x")
            .arg(
                Arg::new("jobs")
                    .long("jobs")
                    .short('j')
                    .value_name("N")
                    .value_parser(value_parser!(u32).range(1..=256)),
            )
            .arg(
                Arg::new("seed")
                    .long("seed")
                    .value_parser(value_parser!(u64).range(1..)),
            )
            .arg(
                Arg::new("rate")
                    .long("rate")
                    .value_parser(value_parser!(f64)),
            )
            .arg(Arg::new("name").value_name("NAME").value_parser(own));
        let error = command.try_get_matches_from(line.split(' ')).unwrap_err();
        explained(&error).unwrap()
    }

    #[test]
    fn a_wrong_value_is_named_with_its_option_and_range() {
        assert_eq!(
            message("x --jobs 0"),
            "--jobs: 0 is out of range (1 to 256)"
        );
        assert_eq!(
            message("x -j 257"),
            "--jobs: 257 is out of range (1 to 256)"
        );
        assert_eq!(
            message("x --seed 0"),
            "--seed: 0 is out of range (1 or more)"
        );
        assert_eq!(
            message("x --jobs many"),
            "--jobs: many is not a whole number"
        );
        assert_eq!(message("x --rate fast"), "--rate: fast is not a number");
        assert_eq!(message("x 0"), "NAME: 0: out of range (0.001 to 10)");
        assert_eq!(message("x b"), "NAME: expected a, not \"b\"");
    }
}
