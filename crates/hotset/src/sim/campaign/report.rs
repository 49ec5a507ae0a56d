//! `hotset sim campaign report`
use super::page;
use crate::shell::{document, outln, page, usage, Force};
use anyhow::Result;
use campaign::study::{self, Reduction, Study, YARDSTICKS};
use campaign::Folder;
use clap::Args;
use names::shown;
use outfile::OutFile;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct ReportArgs {
    /// The campaign's folder
    folder: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Also write a page: the tables and the command. It needs no network
    #[arg(long, value_name = "FILE.html", value_parser = page())]
    report: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

pub fn run(args: &ReportArgs) -> Result<ExitCode> {
    let results = Folder::open(&args.folder)?.results();
    if !results.exists() {
        return Err(usage!(
            "{}: there is no table yet; `hotset sim campaign run` or `merge` writes it",
            shown(&results)
        ));
    }
    let html = args.report.as_ref();
    let html = html.map(|path| OutFile::create(path, args.force.rules(&[&results])));
    let html = html.transpose()?;
    let study = study::study(&results)?;
    let printed = match args.json {
        true => outln!("{}", document("sim.campaign.report", 1, &study)?),
        false => print(&study),
    };
    if let Some(html) = html {
        html.whole(&page::page(&study, &shown(&args.folder).to_string()))?;
    }
    printed?;
    Ok(ExitCode::SUCCESS)
}

/// Columns of a number.
const WIDE: usize = 6;

fn print(study: &Study) -> Result<()> {
    outln!(
        "{} traces, {} policies, {} sizes",
        study.traces,
        study.policies.len(),
        study.sizes.len()
    )?;
    if study.missing > 0 {
        outln!(
            "{} traces are missing: a task of theirs has no result",
            study.missing
        )?;
    }
    let there = |name: &str| study.policies.iter().any(|policy| policy == name);
    for name in YARDSTICKS.iter().filter(|name| !there(name)) {
        outln!("{name} is not among the policies: nothing is compared with it")?;
    }
    outln!("Reduction of misses in percent, percentiles over traces; below 0 are more misses")?;
    let policies = study.policies.iter().map(String::len);
    let policy = policies.max().unwrap_or(0).max(6);
    for size in &study.sizes {
        outln!()?;
        at_size(study, size, policy)?;
    }
    Ok(())
}

fn at_size(study: &Study, size: &str, policy: usize) -> Result<()> {
    let there = |name: &&str| study.policies.iter().any(|had| had == name);
    let shown: Vec<&str> = YARDSTICKS.into_iter().filter(there).collect();
    let mut head = format!("{:policy$}", format!("size {size}"));
    let mut columns = format!("{:policy$}", "policy");
    for against in &shown {
        let title = format!("against {against}");
        head += &format!("  {title:^width$}", width = 5 * WIDE);
        let names = ["P10", "P50", "P90", "mean", "worst"];
        let names: String = names.iter().map(|name| format!("{name:>WIDE$}")).collect();
        columns += &format!("  {names}");
    }
    outln!("{}", head.trim_end())?;
    outln!("{columns}{:>WIDE$}", "wins")?;
    for name in &study.policies {
        let mut line = format!("{name:policy$}");
        for against in &shown {
            let mut all = study.reductions.iter();
            let found =
                all.find(|one| one.against == *against && one.size == size && one.policy == *name);
            let found = found.map_or_else(|| " ".repeat(5 * WIDE), numbers);
            line += &format!("  {found}");
        }
        let mut all = study.wins.iter();
        let wins = all.find(|one| one.size == size && one.policy == *name);
        let wins = wins.map_or(String::new(), |wins| wins.traces.to_string());
        line += &format!("{wins:>WIDE$}");
        outln!("{}", line.trim_end())?;
    }
    for against in &shown {
        let all = study
            .reductions
            .iter()
            .filter(|one| one.against == *against && one.size == size);
        if let Some(worst) = all.min_by(|a, b| a.worst.total_cmp(&b.worst)) {
            outln!(
                "worst against {against}: {} on {}, {:.1}%",
                worst.policy,
                worst.worst_trace,
                worst.worst * 100.0
            )?;
        }
    }
    Ok(())
}

fn numbers(found: &Reduction) -> String {
    let all = [found.p10, found.p50, found.p90, found.mean, found.worst];
    all.iter()
        .map(|share| format!("{:>WIDE$.1}", share * 100.0))
        .collect()
}
