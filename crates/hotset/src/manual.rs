//! Man pages and completions, made from the definitions of the commands.
use crate::shell::out;
use anyhow::{Context, Result};
use clap::{Args, Command, ValueHint};
use clap_complete::Shell;
use clap_mangen::roff::{bold, roman, Roff};
use clap_mangen::Man;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    source <(hotset completions bash)   # for this shell\n  \
    hotset completions fish >hotset.fish")]
pub struct CompletionsArgs {
    shell: Shell,
}

#[derive(Args)]
pub struct ManualArgs {
    /// Gets man1/*.1 and completions/*
    #[arg(value_hint = ValueHint::DirPath)]
    folder: PathBuf,
}

pub fn completions(args: &CompletionsArgs, mut command: Command) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "hotset", &mut script);
    out!("{}", String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

pub fn write(args: &ManualArgs, mut command: Command) -> Result<ExitCode> {
    let scripts = folder(&args.folder, "completions")?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut command, "hotset", &scripts)
            .with_context(|| scripts.display().to_string())?;
    }
    let pages = folder(&args.folder, "man1")?;
    command.build();
    pages_of(&command, "hotset", &pages)?;
    Ok(ExitCode::SUCCESS)
}

fn folder(parent: &Path, name: &str) -> Result<PathBuf> {
    let folder = parent.join(name);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Writes the page of a command, and of those below it. Options for all commands are in the first page alone.
fn pages_of(command: &Command, name: &str, folder: &Path) -> Result<()> {
    let path = folder.join(format!("{name}.1"));
    let page = page(command, name)?;
    fs::write(&path, page).with_context(|| path.display().to_string())?;
    for below in shown(command) {
        pages_of(below, &format!("{name}-{}", below.get_name()), folder)?;
    }
    Ok(())
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let all = command.get_subcommands();
    all.filter(|it| !it.is_hide_set() && it.get_name() != "help")
}

fn page(command: &Command, name: &str) -> Result<Vec<u8>> {
    let usage = name.replace('-', " ");
    let after = command.get_after_help().map(ToString::to_string);
    let command = command
        .clone()
        .disable_help_subcommand(true)
        .bin_name(usage);
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .manual("hotset");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    let about = command.get_about().map(ToString::to_string);
    let mut roff = Roff::new();
    roff.control("SH", ["NAME"]);
    roff.text([roman(format!("{name} - {}", about.unwrap_or_default()))]);
    roff.to_writer(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    let mut roff = Roff::new();
    if shown(&command).next().is_some() {
        roff.control("SH", ["COMMANDS"]);
    }
    for below in shown(&command) {
        roff.control("TP", []);
        roff.text([bold(format!("{name}-{}(1)", below.get_name()))]);
        roff.text([roman(
            below
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default(),
        )]);
    }
    sections(&mut roff, after.as_deref().unwrap_or_default());
    roff.to_writer(&mut page)?;
    Ok(page)
}

/// The text after the options of a help. A line that does not begin with a blank and ends with a colon is a heading.
fn sections(roff: &mut Roff, text: &str) {
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        match line.strip_suffix(':') {
            Some(heading) if !line.starts_with(' ') => {
                roff.control("SH", [heading.to_uppercase().as_str()]);
            }
            _ if line.is_empty() => {
                roff.control("PP", []);
            }
            // Lines of examples and tables stay as they are.
            _ if line.starts_with(' ') => {
                roff.control("nf", []);
                roff.text([roman(line)]);
                while let Some(next) = lines.next_if(|next| next.starts_with(' ')) {
                    roff.text([roman(next)]);
                }
                roff.control("fi", []);
            }
            _ => {
                roff.text([roman(line)]);
            }
        }
    }
}
