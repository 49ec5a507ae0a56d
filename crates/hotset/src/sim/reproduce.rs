//! `hotset sim reproduce`
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;
use sim::reproduce;
use std::process::ExitCode;

#[derive(Args)]
pub struct ReproduceArgs {
    /// Whose tables
    what: What,
    /// Runs that the mean is taken of
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// One JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Both synthetic experiments of the LRU-K paper: two pools, and zipfian
    LruK,
    /// ARC and CAR on two pools; its paper's traces were recorded and cannot be generated
    Arc,
    /// LIRS on two pools, one of its paper's traces; the others were recorded
    Lirs,
    /// S3-FIFO and SIEVE on two pools; its paper's traces were recorded
    #[value(name = "s3fifo", alias = "s3-fifo")]
    S3Fifo,
}

pub fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    let tables = match args.what {
        What::LruK => reproduce::lru_k(args.runs)?,
        What::Arc => reproduce::arc(args.runs)?,
        What::Lirs => reproduce::lirs(args.runs)?,
        What::S3Fifo => reproduce::s3_fifo(args.runs)?,
    };
    if args.json {
        let all: Vec<_> = tables
            .iter()
            .map(|table| {
                let cells: Vec<_> = table
                    .cells
                    .iter()
                    .map(|c| json!({"size": c.size, "column": c.column, "paper": c.paper, "ours": c.ours}))
                    .collect();
                json!({"title": table.title, "note": table.note, "cells": cells})
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    for table in tables {
        println!(
            "{}\n({}; mean of {} runs)\n",
            table.title, table.note, args.runs
        );
        println!(
            "{:>6}  {:10}  {:>8}  {:>8}  {:>10}",
            "B", "", "paper", "ours", "difference"
        );
        for cell in table.cells {
            let (paper, difference) = match cell.paper {
                Some(paper) => (format!("{paper:.3}"), format!("{:+.4}", cell.ours - paper)),
                None => ("-".to_string(), "-".to_string()),
            };
            println!(
                "{:>6}  {:10}  {paper:>8}  {:>8.4}  {difference:>10}",
                cell.size, cell.column, cell.ours
            );
        }
        println!();
    }
    Ok(ExitCode::SUCCESS)
}
