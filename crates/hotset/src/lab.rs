//! `hotset lab`.
use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Subcommand)]
pub enum Command {}

pub fn run(command: Command) -> Result<ExitCode> {
    match command {}
}
