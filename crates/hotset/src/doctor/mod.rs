//! `hotset doctor`: what this machine allows, what would be better, and the command for it.
mod text;

use crate::shell::{self, document, out, outln};
use anyhow::{anyhow, Result};
use clap::{Args, ValueHint};
use doctor::{Finding, Machine, State};
use kernfs::Root;
use names::shown;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit status: a finding is wrong.
const WRONG: u8 = 1;

#[derive(Args)]
#[command(after_help = "Nothing is written, and no root is needed.\n\n\
    Examples:\n  \
    hotset doctor\n  \
    hotset doctor --json | jq '.findings[] | select(.state != \"good\")'")]
pub struct DoctorArgs {
    #[arg(long, help = shell::JSON)]
    json: bool,
    /// The folder that stands for /, such as the host's in a container
    #[arg(long, value_name = "DIR", default_value = "/", value_hint = ValueHint::DirPath)]
    root: PathBuf,
}

#[derive(Serialize)]
struct Document<'a> {
    machine: &'a Machine,
    findings: &'a [Finding],
}

/// Examines the machine and prints the findings.
///
/// # Errors
/// The root has no /proc, or the output cannot be written.
pub fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let root = Root::new(&args.root);
    if !root.path("/proc").is_dir() {
        let place = root.path("/proc");
        return Err(anyhow!(
            "{}: there is no machine below this root",
            shown(&place)
        ));
    }
    let machine = Machine::of(&root);
    let findings = doctor::examine(&root);
    match args.json {
        true => {
            let found = Document {
                machine: &machine,
                findings: &findings,
            };
            outln!("{}", document("doctor", 1, &found)?)?;
        }
        false => out!("{}", text::text(&machine, &findings))?,
    }
    match findings.iter().any(|one| one.state == State::Wrong) {
        true => Ok(ExitCode::from(WRONG)),
        false => Ok(ExitCode::SUCCESS),
    }
}
