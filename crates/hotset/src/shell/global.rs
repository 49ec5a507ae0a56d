//! Options of every command.
use super::print;
use anstream::ColorChoice;
use clap::{ArgAction, Args, ValueEnum};

#[derive(Args)]
#[command(next_help_heading = "All commands")]
pub struct Global {
    /// No progress and no notes on standard error; errors remain
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more on standard error: the files, formats and caches that are used
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Colour the output. auto: on a terminal, unless NO_COLOR, CLICOLOR=0 or TERM=dumb forbid it;
    /// CLICOLOR_FORCE=1 colours files and pipes, too
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true,
        hide_possible_values = false, action = ArgAction::Set)]
    color: Color,
}

#[derive(Clone, Copy, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Global {
    /// Makes the options hold for all that is printed from now on.
    pub fn apply(&self) {
        progress::set_quiet(self.quiet);
        if self.verbose {
            print::be_verbose();
        }
        choice(self.color).write_global();
    }
}

fn choice(color: Color) -> ColorChoice {
    match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
}

/// Reads `--color` before clap does, and makes it hold: clap's own help and errors obey it, too.
pub fn early_color(arguments: &[std::ffi::OsString]) -> clap::ColorChoice {
    let color = early(arguments);
    match color {
        clap::ColorChoice::Auto => ColorChoice::Auto,
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
    .write_global();
    color
}

fn early(arguments: &[std::ffi::OsString]) -> clap::ColorChoice {
    let mut words = arguments.iter().take_while(|word| *word != "--");
    let mut last = None;
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--color") => last = words.next().and_then(|word| word.to_str()),
            Some(word) => last = word.strip_prefix("--color=").or(last),
            None => {}
        }
    }
    match last.and_then(|name| Color::from_str(name, false).ok()) {
        Some(Color::Always) => clap::ColorChoice::Always,
        Some(Color::Never) => clap::ColorChoice::Never,
        _ => clap::ColorChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_is_found_before_the_command_line_is_parsed() {
        let found = |line: &str| {
            let words: Vec<_> = line.split(' ').map(Into::into).collect();
            early(&words)
        };
        assert_eq!(
            found("hotset lab --color never list"),
            clap::ColorChoice::Never
        );
        assert_eq!(found("hotset --color=always"), clap::ColorChoice::Always);
        assert_eq!(
            found("hotset trace record a -- ls --color=always"),
            clap::ColorChoice::Auto
        );
    }
}
