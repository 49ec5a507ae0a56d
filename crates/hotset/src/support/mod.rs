//! `hotset support`: what a bug report needs, shown before it is written.
use crate::shell::{self, out, outln};
use crate::status::answer;
use anyhow::{anyhow, Context, Result};
use clap::{Args, ValueHint};
use kernfs::Root;
use names::shown;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use support::{Names, Section};

#[derive(Args)]
#[command(
    after_help = "On a terminal it shows the text, and asks whether to write it. Elsewhere it prints the text. \
    Nothing is sent\nanywhere. Names of the machine and of its users are replaced by HOST and USER1. Names of processes \
    and\ncgroups stay: read the text before you hand it on. With root it has more of the logs.\n\n\
    Examples:\n  \
    sudo hotset support\n  \
    sudo hotset support --yes --output report.txt"
)]
pub struct SupportArgs {
    /// The file to write [default: hotset-support-TIME.txt in this folder]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Write without showing and asking
    #[arg(short, long)]
    yes: bool,
    /// Replace a file that exists
    #[arg(long)]
    force: bool,
    /// The folder that stands for /, such as the host's in a container
    #[arg(long, value_name = "DIR", default_value = "/", value_hint = ValueHint::DirPath)]
    root: PathBuf,
}

/// Collects the text, and prints or writes it.
///
/// # Errors
/// The root has no /proc, or the file cannot be written.
pub fn run(args: &SupportArgs) -> Result<ExitCode> {
    let root = Root::new(&args.root);
    let proc = root.path("/proc");
    if !proc.is_dir() {
        return Err(anyhow!(
            "{}: there is no machine below this root",
            shown(&proc)
        ));
    }
    let text = collect(&root, args.root == Path::new("/"));
    let file = args.output.clone().unwrap_or_else(usual_name);
    if args.yes {
        return write(args, &file, &text);
    }
    out!("{text}")?;
    if !(io::stdout().is_terminal() && io::stdin().is_terminal()) {
        return match args.output {
            Some(_) => write(args, &file, &text),
            None => Ok(ExitCode::SUCCESS),
        };
    }
    shell::flush()?;
    let lines = text.lines().count();
    // On standard error, as a question is no output.
    write!(
        io::stderr(),
        "Write these {lines} lines to {}? [y/N] ",
        shown(&file)
    )
    .context("standard error")?;
    let mut line = String::new();
    io::stdin().read_line(&mut line).context("standard input")?;
    match line.trim() {
        "y" | "Y" | "yes" => write(args, &file, &text),
        _ => {
            outln!("Nothing is written.")?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn collect(root: &Root, runs_here: bool) -> String {
    let mut sections = vec![Section::new("hotset --version", version::LONG)];
    sections.extend(support::daemon::sections(root));
    let socket = root.path("/run/hotset/status.sock");
    let status = match answer::ask(&socket) {
        Ok(document) => answer::one_line(&document),
        Err(error) => format!("(no answer: {})", names::io_error(&error)),
    };
    sections.push(Section::new("hotset status --json", status));
    if runs_here {
        sections.extend(support::daemon::commands());
    }
    sections.extend(support::machine::sections(root));
    support::text(&sections, &Names::of(root))
}

/// A name that no earlier report has.
fn usual_name() -> PathBuf {
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M%S");
    format!("hotset-support-{now}.txt").into()
}

fn write(args: &SupportArgs, file: &Path, text: &str) -> Result<ExitCode> {
    let rules = outfile::Rules {
        force: args.force,
        ..Default::default()
    };
    outfile::write(file, rules, text)?;
    let lines = text.lines().count();
    outln!("{lines} lines in {}; nothing is sent anywhere", shown(file))?;
    Ok(ExitCode::SUCCESS)
}
