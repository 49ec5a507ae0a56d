//! `hotset sim policies`
use crate::shell::{document, outln, usage};
use anyhow::Result;
use clap::Args;
use lab::host::terminal_width;
use report::wrap;
use serde_json::json;
use sim::registry::POLICIES;
use sim::Description;
use std::process::ExitCode;

#[derive(Args)]
pub struct PoliciesArgs {
    /// Show only this policy, with its parameters
    policy: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &PoliciesArgs) -> Result<ExitCode> {
    let wanted: Vec<_> = match &args.policy {
        Some(name) => {
            let choice = sim::registry::Choice::parse(name);
            vec![choice.map_err(|error| usage!("{error}"))?.description()]
        }
        None => POLICIES.to_vec(),
    };
    if args.json {
        let all: Vec<_> = wanted
            .iter()
            .map(|policy| {
                let parameters: Vec<_> = policy
                    .parameters
                    .iter()
                    .map(|p| json!({"name": p.name, "default": p.default, "help": p.help}))
                    .collect();
                json!({"name": policy.name, "paper": policy.paper, "parameters": parameters})
            })
            .collect();
        let all = json!({ "policies": all });
        outln!("{}", document("sim.policies", 1, &all)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for policy in wanted {
        match args.policy.is_some() {
            true => one(policy)?,
            false => line(policy)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A policy with what its parameters mean.
fn one(policy: &Description) -> Result<()> {
    outln!("{}", policy.name)?;
    indented(policy.paper, "", 0)?;
    for parameter in policy.parameters {
        let head = format!("  {}={}  ", parameter.name, parameter.default);
        indented(parameter.help, &head, head.len())?;
    }
    Ok(())
}

/// A policy in the list: its paper, then its parameters.
fn line(policy: &Description) -> Result<()> {
    indented(policy.paper, &format!("{:NAME$}", policy.name), NAME)?;
    let parameters = policy.parameters.iter();
    let parameters: Vec<String> = parameters
        .map(|p| format!("{}={}", p.name, p.default))
        .collect();
    match parameters.is_empty() {
        true => Ok(()),
        false => indented(&parameters.join(", "), &" ".repeat(NAME), NAME),
    }
}

/// Columns of a name in the list.
const NAME: usize = 16;

/// Prints a text behind its head, broken to the terminal's width.
fn indented(text: &str, head: &str, columns: usize) -> Result<()> {
    let room = terminal_width().saturating_sub(columns).max(20);
    let mut before = head.to_string();
    for line in wrap(text, room) {
        outln!("{before}{line}")?;
        before = " ".repeat(columns);
    }
    Ok(())
}
