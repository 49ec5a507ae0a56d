//! `hotset sim policies`
use anyhow::Result;
use clap::Args;
use serde_json::json;
use sim::registry::POLICIES;
use std::process::ExitCode;

#[derive(Args)]
pub struct PoliciesArgs {
    /// Only this policy, with its parameters at length
    policy: Option<String>,
    /// One JSON array
    #[arg(long)]
    json: bool,
}

pub fn run(args: &PoliciesArgs) -> Result<ExitCode> {
    let wanted: Vec<_> = match &args.policy {
        Some(name) => vec![sim::registry::Choice::parse(name)?.description()],
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
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    for policy in wanted {
        if args.policy.is_some() {
            println!("{}\n{}", policy.name, policy.paper);
            for parameter in policy.parameters {
                println!(
                    "  {}={}  {}",
                    parameter.name, parameter.default, parameter.help
                );
            }
            continue;
        }
        let parameters: Vec<String> = policy
            .parameters
            .iter()
            .map(|p| format!("{}={}", p.name, p.default))
            .collect();
        let parameters = match parameters.is_empty() {
            true => String::new(),
            false => format!(" [{}]", parameters.join(",")),
        };
        println!("{:16}{}{}", policy.name, policy.paper, parameters);
    }
    Ok(ExitCode::SUCCESS)
}
