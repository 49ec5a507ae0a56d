//! `hotset sim reproduce`
use crate::shell::{document, outln};
use anyhow::Result;
use clap::{Args, ValueEnum};
use lab::host::terminal_width;
use report::wrap;
use serde_json::{json, Value};
use sim::reproduce::{self, Beside, Cell, Table};
use std::process::ExitCode;

#[derive(Args)]
pub struct ReproduceArgs {
    /// The paper
    paper: Paper,
    /// Traces of which the mean is shown
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repetitions: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Paper {
    /// Tables 4.1 and 4.2 of the LRU-K paper, its values beside the simulator's
    LruK,
    /// A check, no table of the paper: ARC and CAR on generated traces of two pools, beside this simulator's
    /// own counts on a recorded one. The paper's traces were recorded
    Arc,
    /// A check, as arc: LIRS on two pools, one of its paper's traces; the others were recorded
    Lirs,
    /// A check, as arc: S3-FIFO and SIEVE on two pools
    #[value(name = "s3-fifo", alias = "s3fifo")]
    S3Fifo,
}

pub fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    let tables = match args.paper {
        Paper::LruK => reproduce::lru_k(args.repetitions)?,
        Paper::Arc => reproduce::arc(args.repetitions)?,
        Paper::Lirs => reproduce::lirs(args.repetitions)?,
        Paper::S3Fifo => reproduce::s3_fifo(args.repetitions)?,
    };
    match args.json {
        true => outln!("{}", document("sim.reproduce", 1, &json(&tables, args))?)?,
        false => print(&tables, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn json(tables: &[Table], args: &ReproduceArgs) -> Value {
    let cell = |cell: &Cell, beside: Beside| {
        let name = name(beside);
        json!({"size": cell.size, "column": cell.column, name: cell.beside, "simulated": cell.ours})
    };
    let table = |table: &Table| {
        let cells = table.cells.iter().map(|c| cell(c, table.beside));
        let cells: Vec<Value> = cells.collect();
        json!({"title": table.title, "note": table.note, "source": table.source, "cells": cells})
    };
    let tables: Vec<Value> = tables.iter().map(table).collect();
    json!({"repetitions": args.repetitions, "tables": tables})
}

fn name(beside: Beside) -> &'static str {
    match beside {
        Beside::Paper => "paper",
        Beside::Reference => "reference",
    }
}

/// A value rounded as it is printed, so that differences add up.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn print(tables: &[Table], args: &ReproduceArgs) -> Result<()> {
    for table in tables {
        let beside = name(table.beside);
        let (note, number) = (table.note, args.repetitions);
        let note = format!("({note}; mean of {number} repetitions)");
        for text in [table.title, &note, &format!("{beside}: {}", table.source)] {
            for line in wrap(text, terminal_width()) {
                outln!("{line}")?;
            }
        }
        outln!()?;
        let (simulated, difference) = ("simulated", "difference");
        outln!(
            "{:>6}  {:10}  {beside:>9}  {simulated:>9}  {difference:>10}",
            "size",
            ""
        )?;
        // A paper prints three decimals.
        let decimals = match table.beside {
            Beside::Paper => 3,
            Beside::Reference => 4,
        };
        for cell in &table.cells {
            let (beside, difference) = match cell.beside {
                Some(beside) => {
                    let (beside, ours) = (rounded(beside), rounded(cell.ours));
                    let difference = format!("{:+.4}", ours - beside);
                    (format!("{beside:.decimals$}"), difference)
                }
                None => ("-".to_string(), "-".to_string()),
            };
            let (size, column, ours) = (cell.size, cell.column, rounded(cell.ours));
            outln!("{size:>6}  {column:10}  {beside:>9}  {ours:>9.4}  {difference:>10}")?;
        }
        outln!()?;
    }
    Ok(())
}
