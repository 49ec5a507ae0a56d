//! The options of `hotset lab league`.
use crate::lab::run_args::GuestArgs;
use clap::Args;
use lab::experiment::league::SCENES;
use std::path::PathBuf;

/// The options of `hotset lab league`.
#[derive(Args)]
pub struct LeagueArgs {
    /// Only these challengers
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Without these challengers
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Also the challengers of this file
    #[arg(long, value_name = "FILE")]
    pub challengers: Vec<PathBuf>,
    /// Only these scenes
    #[arg(long, value_name = "SCENE", value_delimiter = ',', value_parser = SCENES)]
    pub scene: Vec<String>,
    /// Only these kinds of swap
    #[arg(long, value_name = "SWAP", value_delimiter = ',', value_parser = ["zram", "disk", "none"])]
    pub swap: Vec<String>,
    /// A part of the league: small is the scene desktop with zram, 10 s of pressure, one repetition
    #[arg(long, value_name = "NAME", value_parser = ["small"])]
    pub preset: Option<String>,
    /// Length of the pressure in each trial, in seconds [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub seconds: Option<u32>,
    /// Boots of each challenger in each scene [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// Folder to write to [default: results/league-TIME]
    #[arg(short, long, value_name = "FOLDER", value_parser = crate::shell::folder())]
    pub output: Option<PathBuf>,
    /// Check everything and name the challengers of each scene; build and boot nothing
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
    #[command(flatten)]
    pub guests: GuestArgs,
}
