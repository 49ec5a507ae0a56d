//! `hotset lab league`: every challenger in every scene, and the page that ranks them.
mod args;
mod command;
mod entry;
mod page;
mod show;

pub use args::LeagueArgs;

use self::command::command;
use super::duration::duration;
use super::output::{default_output, typed};
use crate::shell::{document, error, note, out, outln, usage};
use anyhow::{Context, Result};
use lab::experiment::league::{Cell, Challenger};
use lab::host;
use lab::results::Results;
use lab::run::{self as runner, estimate, Options};
use names::{quoted, shown};
use outfile::Rules;
use report::league::{rank, Played};
use report::Study;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Runs the league and shows its standings.
///
/// # Errors
/// The command line names nothing that there is, a program is missing, or a run itself fails.
pub fn run(args: &LeagueArgs) -> Result<ExitCode> {
    let challengers = entry::challengers(args)?;
    let cells = entry::cells(args, &challengers)?;
    let out = { args.output.clone() }.unwrap_or_else(|| default_output("league"));
    let jobs = args.guests.jobs.unwrap_or_else(host::jobs);
    tell(&cells, jobs, &out);
    let lacks = challengers.iter().find_map(Challenger::lacks);
    if args.dry_run {
        lacks.iter().for_each(note);
        return planned(&cells);
    }
    if let Some(why) = lacks {
        return Err(usage!("{why}"));
    }
    place(args, &out)?;
    let mut studies: Vec<(String, f64, Study)> = Vec::new();
    let mut well = true;
    for (at, cell) in cells.iter().enumerate() {
        note(format!("{}, {} of {}", cell.name, at + 1, cells.len()));
        let options = options(args, jobs, &out.join(&cell.name));
        let summary = runner::run(&cell.experiment, &options).map_err(typed)?;
        if let Some(signal) = summary.interrupted {
            let (made, dir) = (summary.trials.len(), shown(&out));
            error(format!(
                "interrupted; {made} of {} trials of {} are in {dir}",
                summary.planned, cell.name
            ));
            note(format!(
                "the same command with --resume --output {} makes the rest",
                quoted(&dir.to_string())
            ));
            return Ok(ExitCode::from(128 + signal));
        }
        let written = report::write(&summary.dir)?;
        well &= written.study.all_well();
        studies.push((cell.name.clone(), cell.seconds(), written.study));
        if !summary.all_ok() && !args.guests.keep_going {
            error(format!(
                "{}: a guest failed, so the league stops here; --keep-going runs the rest",
                cell.name
            ));
            break;
        }
    }
    finish(args, jobs, &challengers, &studies, &out, well)
}

/// Ranks what was run, and writes and prints it.
fn finish(
    args: &LeagueArgs,
    jobs: u32,
    challengers: &[Challenger],
    studies: &[(String, f64, Study)],
    out: &Path,
    well: bool,
) -> Result<ExitCode> {
    let played: Vec<Played> = { studies.iter() }
        .map(|(cell, seconds, study)| Played {
            cell,
            seconds: *seconds,
            study,
        })
        .collect();
    let standings = rank(&played);
    let command = command(args, &lab::run::environment(), jobs);
    let html = out.join("league.html");
    put(
        &html,
        &page::html(&standings, &played, challengers, &command),
    )?;
    let whole = json!({
        "dir": out, "html": html, "command": command, "well": well,
        "cells": studies.iter().map(|(cell, ..)| cell).collect::<Vec<_>>(),
        "standings": standings,
    });
    let text = document("lab.league", 1, &whole)?;
    put(&out.join("league.json"), &(text.clone() + "\n"))?;
    match args.guests.json {
        true => outln!("{text}")?,
        false => {
            out!("{}", show::table(&standings, host::terminal_width()))?;
            outln!("{}", shown(&html))?;
        }
    }
    Ok(ExitCode::from(u8::from(!well)))
}

/// Says how much is to be done.
fn tell(cells: &[Cell], jobs: u32, out: &Path) {
    let trials: usize = { cells.iter() }
        .map(|cell| cell.experiment.arms.len() * cell.experiment.repetitions as usize)
        .sum();
    let times = cells.iter().map(|cell| estimate(&cell.experiment, jobs));
    let (usual, most) = times.fold((0.0, 0.0), |sum, time| (sum.0 + time.0, sum.1 + time.1));
    note(format!(
        "{} scenes, {trials} trials, about {}, at most {}; results in {}",
        cells.len(),
        duration(usual),
        duration(most),
        shown(out)
    ));
}

/// Prints the challengers of each cell.
fn planned(cells: &[Cell]) -> Result<ExitCode> {
    for cell in cells {
        let arms = cell.experiment.arms.iter();
        let names: Vec<&str> = arms.map(|arm| arm.name.as_str()).collect();
        outln!("{}: {}", cell.name, names.join(", "))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes sure that the folder has no other files.
fn place(args: &LeagueArgs, out: &Path) -> Result<()> {
    if args.guests.force {
        if let Some(aside) = Results::move_aside(out)? {
            note(format!(
                "Moved the files of {} to {}",
                shown(out),
                shown(&aside)
            ));
        }
    } else if !args.guests.resume {
        Results::vacant(out).map_err(typed)?;
    }
    std::fs::create_dir_all(out).with_context(|| shown(out).to_string())
}

fn options(args: &LeagueArgs, jobs: u32, out: &Path) -> Options {
    Options {
        jobs,
        out: out.into(),
        tree: args.guests.tree.clone(),
        only: None,
        // A scene that was not begun has no run to continue.
        resume: args.guests.resume && out.join("run.json").is_file(),
        force: false,
        keep_going: args.guests.keep_going,
        quiet: args.guests.json,
        command: command(args, &lab::run::environment(), jobs),
    }
}

fn put(path: &Path, text: &str) -> Result<()> {
    // The folder is this league's own; a league that goes on replaces its earlier page.
    let rules = Rules {
        force: true,
        inputs: &[],
    };
    Ok(outfile::write(path, rules, text)?)
}
