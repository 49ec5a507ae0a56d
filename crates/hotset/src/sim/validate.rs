//! `hotset sim validate`: the simulator's misses on the sequences that a lab run's guests accessed, beside
//! the misses of their kernels.
use crate::shell::{document, error, out, outln, usage};
use anyhow::{Context, Result};
use clap::Args;
use lab::experiment::{Changes, Experiment, LRU_GEN};
use progress::{Delayed, Unit};
use protocol::record::{Outcome, Trial};
use protocol::work::access::{Access, By, Rule};
use protocol::work::Work;
use report::study::stats;
use serde_json::json;
use sim::registry::Choice;
use sim::Input;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trace::generate::Spec;
use trace::{Flags, ReadOptions};

#[derive(Args)]
pub struct ValidateArgs {
    /// Folder of a run of `hotset lab run` whose workers do `access`
    #[arg(value_name = "FOLDER")]
    dir: PathBuf,
    /// More policies to show beside the kernel's own: opt,lru,arc
    #[arg(long, value_name = "POLICIES", value_delimiter = ',')]
    beside: Vec<String>,
    /// Exit with 1 when the median relative error of an arm is larger than this, over its informative
    /// cases
    #[arg(long, value_name = "PERCENT")]
    at_most: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// One worker of one trial.
struct Row {
    arm: String,
    repetition: u32,
    worker: String,
    /// The greatest number of resident pages. The model gets this size.
    size: u64,
    requests: u64,
    /// Distinct pages.
    pages: u64,
    kernel: u64,
    /// Policies and their misses. The first is the model of the arm's kernel.
    models: Vec<(String, u64)>,
    /// Relative error of the first model: (model - kernel) / kernel.
    error: f64,
}

impl Row {
    /// Whether the case distinguishes a good model from a bad one. With room for all pages, any model
    /// misses each page once. A loop that does not fit always misses.
    fn is_informative(&self) -> bool {
        let both = [self.kernel, self.models[0].1];
        both != [self.pages; 2] && both != [self.requests; 2]
    }

    fn json(&self) -> serde_json::Value {
        let models: BTreeMap<_, _> = self.models.iter().cloned().collect();
        json!({
            "arm": self.arm, "repetition": self.repetition, "worker": self.worker,
            "size": self.size, "requests": self.requests, "pages": self.pages,
            "kernel": self.kernel, "informative": self.is_informative(),
            "model": self.models[0].0, "models": models, "error": self.error,
        })
    }
}

/// # Errors
/// The folder is no run's, none of its workers accesses pages, or a policy is unknown.
pub fn run(args: &ValidateArgs) -> Result<ExitCode> {
    // Before the trials are read: a wrong name is cheap to find.
    for name in &args.beside {
        Choice::parse(name).map_err(|error| usage!("--beside: {error}"))?;
    }
    let results = report::load(&args.dir)?;
    let path = Path::new(&results.run.experiment).with_extension("toml");
    let experiment = Experiment::parse(&path, &results.run.source, &Changes::default());
    let experiment = experiment.map_err(|error| anyhow::anyhow!("{error}"))?;
    let workers = experiment.workload().workers;
    let ended = results.trials.iter().filter(|t| t.outcome == Outcome::Ok);
    let mut jobs: Vec<(&Trial, String, Access)> = Vec::new();
    for trial in ended {
        let mut orders = orders_of(trial)?;
        // A guest that reported no orders ran those of the file, unless a preset or --set changed them.
        for (name, worker) in &workers {
            if let (Work::Access(access), false) = (&worker.does, orders.contains_key(name)) {
                orders.insert(name.clone(), access.clone());
            }
        }
        // The models lock nothing, so they do not fit a worker with a locked pool.
        for (name, access) in orders.into_iter().filter(|(_, access)| !access.lock_first) {
            let Some(requests) = observed(trial, &name, "requests") else {
                continue;
            };
            if requests as u64 != access.requests {
                let (dir, file) = (args.dir.display(), access.requests);
                anyhow::bail!(
                    "{dir}: {name} made {requests} requests, and the experiment file says {file}: \
                     a preset or --set changed the run, and its guests reported no orders; run it again"
                );
            }
            jobs.push((trial, name, access));
        }
    }
    if jobs.is_empty() {
        let dir = args.dir.display();
        anyhow::bail!("{dir}: no trial that ended well has a worker that does `access`");
    }
    let late = Delayed::new("Simulating", Some(jobs.len() as u64), Unit::Steps);
    let mut rows = Vec::new();
    for (done, (trial, worker, access)) in jobs.into_iter().enumerate() {
        let row = row(&args.dir, trial, &worker, &access, &args.beside);
        rows.push(row.with_context(|| format!("{}, {worker}", trial.arm))?);
        late.advance(done as u64 + 1);
    }
    drop(late);
    let arms = summed(&rows);
    match args.json {
        true => {
            let rows: Vec<_> = rows.iter().map(Row::json).collect();
            let arms: BTreeMap<_, _> = arms.iter().map(|(arm, of)| (arm, of.json())).collect();
            let whole = json!({ "cases": rows, "arms": arms });
            outln!("{}", document("sim.validate", 1, &whole)?)?;
        }
        false => show(&rows, &arms)?,
    }
    let mut status = ExitCode::SUCCESS;
    for (arm, of) in &arms {
        // Without an informative case no bound is met.
        let bound = args
            .at_most
            .filter(|bound| of.median.is_none_or(|it| it > *bound));
        if let Some(bound) = bound {
            let median = of.median.map_or("none".into(), |it| format!("{it:.1}%"));
            error(format!(
                "{arm}: the median error is {median}, above the {bound}% of --at-most"
            ));
            status = ExitCode::FAILURE;
        }
    }
    Ok(status)
}

/// The errors of the model of an arm's kernel, in percent.
#[derive(Debug, PartialEq)]
struct Sum {
    cases: usize,
    /// Informative cases, and their median and worst error.
    informative: usize,
    median: Option<f64>,
    worst: Option<f64>,
}

impl Sum {
    fn json(&self) -> serde_json::Value {
        json!({
            "cases": self.cases, "informative": self.informative,
            "median_error_percent": self.median, "worst_error_percent": self.worst,
        })
    }
}

fn summed(rows: &[Row]) -> BTreeMap<&str, Sum> {
    let mut all: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        all.entry(&row.arm).or_default().push(row);
    }
    let sum = |of: Vec<&Row>| {
        let informative = of.iter().filter(|row| row.is_informative());
        let errors: Vec<f64> = informative.map(|row| row.error.abs() * 100.0).collect();
        Sum {
            cases: of.len(),
            informative: errors.len(),
            median: stats::median(&errors),
            worst: stats::max(&errors),
        }
    };
    all.into_iter().map(|(arm, of)| (arm, sum(of))).collect()
}

/// The orders that the workers of a trial reported, by worker.
fn orders_of(trial: &Trial) -> Result<BTreeMap<String, Access>> {
    let events = trial.events.iter().filter(|event| event.name == "access");
    let read = |event: &protocol::record::Event| {
        let (name, orders) = event.detail.split_once(' ').unwrap_or_default();
        let access = serde_json::from_str(orders);
        let access = access.with_context(|| format!("an event of {}: {orders}", trial.arm));
        Ok((name.to_string(), access?))
    };
    events.map(read).collect()
}

/// A value that a worker observed once.
fn observed(trial: &Trial, worker: &str, figure: &str) -> Option<f64> {
    let name = format!("{worker}.{figure}");
    let scenes = trial.scenes.iter();
    let mut found = scenes.filter_map(|scene| scene.observations.get(&name)?.first());
    Some(found.next()?.1)
}

/// The model of the kernel that a trial ran.
fn own(trial: &Trial) -> String {
    // The kernel reports a mask such as 0x0007; 0x0000 is the classic LRU.
    let lru_gen = trial.settings.get(LRU_GEN).map(String::as_str);
    if lru_gen.is_none_or(|mask| mask.trim_start_matches("0x").trim_matches('0').is_empty()) {
        return "linux-two-list".into();
    }
    match trial.release.starts_with("6.12") {
        true => "mglru".into(),
        false => "mglru:kernel=7.3".into(),
    }
}

fn row(dir: &Path, trial: &Trial, worker: &str, access: &Access, beside: &[String]) -> Result<Row> {
    let made = match &access.rule {
        Rule::Recorded { trace, .. } => {
            let limit = Some(access.requests);
            let options = ReadOptions {
                limit,
                ..ReadOptions::default()
            };
            trace::open(&lab::inputs::recorded::kept(dir, trace), &options)?
        }
        rule => {
            let spec = Spec::of(rule).context("the rule draws no pages")?;
            let made = spec.trace(worker, access.requests, trial.seed);
            made.map_err(anyhow::Error::msg)?
        }
    };
    let flag = match access.by {
        By::Anon {} => Flags::ANON | Flags::MAPPED,
        By::Mapped { .. } => Flags::MAPPED,
        By::Pread { .. } => Flags::NONE,
    };
    let flags = vec![flag; made.ids.len()];
    let input = Input::of(&made)?.with_flags(&flags)?;
    let get = |figure| observed(trial, worker, figure).context("a figure is missing");
    let kernel = get("misses")? as u64;
    // The kernel reclaims more pages than necessary, so the greatest number is the real room.
    let size = get("resident_max").or_else(|_| get("resident_mean"))? as u64;
    let mut models = Vec::new();
    for name in std::iter::once(&own(trial)).chain(beside) {
        let mut policy = Choice::parse(name)?.build(&input, size.max(1))?;
        let counts = sim::run(policy.as_mut(), &input, &mut |_| {});
        models.push((name.clone(), counts.misses));
    }
    let model = models[0].1 as f64;
    Ok(Row {
        arm: trial.arm.clone(),
        repetition: trial.repetition,
        worker: worker.into(),
        size,
        requests: access.requests,
        pages: input.objects().into(),
        kernel,
        models,
        error: (model - kernel as f64) / (kernel as f64).max(1.0),
    })
}

fn show(rows: &[Row], arms: &BTreeMap<&str, Sum>) -> Result<()> {
    let names = rows.first().map(|row| &row.models[1..]).unwrap_or_default();
    let mut head = format!(
        "{:<20} {:>3} {:<22} {:>7} {:>8} {:>8} {:>8} {:>8}",
        "ARM", "REP", "WORKER", "PAGES", "REQUESTS", "KERNEL", "MODEL", "ERROR"
    );
    for (name, _) in names {
        head += &format!(" {name:>10}");
    }
    outln!("{head}")?;
    for row in rows {
        let mut line = format!(
            "{:<20} {:>3} {:<22} {:>7} {:>8} {:>8} {:>8} {:>+7.1}%",
            row.arm,
            row.repetition + 1,
            row.worker,
            row.size,
            row.requests,
            row.kernel,
            row.models[0].1,
            row.error * 100.0
        );
        for (_, misses) in &row.models[1..] {
            line += &format!(" {misses:>10}");
        }
        outln!("{line}")?;
    }
    outln!()?;
    for (arm, of) in arms {
        out!(
            "{arm}: {} of {} cases are informative",
            of.informative,
            of.cases
        )?;
        match (of.median, of.worst) {
            (Some(median), Some(worst)) => outln!(
                "; relative error of their miss counts: median {median:.1}%, worst {worst:.1}%"
            )?,
            _ => outln!(": in the others all pages fit, or every access misses")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(pages: u64, kernel: u64, model: u64) -> Row {
        Row {
            arm: "a".into(),
            repetition: 0,
            worker: "w".into(),
            size: 1,
            requests: 1000,
            pages,
            kernel,
            models: vec![("lru".into(), model)],
            error: (model as f64 - kernel as f64) / kernel as f64,
        }
    }

    #[test]
    fn uninformative_cases_are_left_out_of_the_median() {
        let idle = || vec![case(100, 100, 100), case(100, 1000, 1000)];
        let of = |rows: &[Row]| summed(rows).remove("a").expect("an arm");
        let nothing = of(&idle());
        assert_eq!((nothing.cases, nothing.informative), (2, 0));
        assert_eq!(nothing.median, None);
        // A wrong model makes a case informative.
        let mut rows = idle();
        rows.extend([
            case(100, 400, 500),
            case(100, 100, 110),
            case(100, 800, 1000),
        ]);
        let sum = of(&rows);
        assert_eq!((sum.cases, sum.informative), (5, 3));
        assert!((sum.median.expect("three") - 25.0).abs() < 1e-9, "{sum:?}");
        rows.push(case(100, 500, 500));
        let even = of(&rows).median.expect("four");
        assert!((even - 17.5).abs() < 1e-9, "{even}");
    }

    #[test]
    fn the_model_is_that_of_the_kernel_of_the_trial() {
        let trial = |release: &str, lru_gen: &str| -> Trial {
            serde_json::from_value(serde_json::json!({
                "schema": 1, "arm": "a", "repetition": 0, "seed": 1,
                "outcome": { "kind": "ok" }, "release": release, "mem_total_kb": 0,
                "boot_s": 0.0, "wall_s": 0.0, "settings": { LRU_GEN: lru_gen },
                "scenes": [], "events": [], "gauges": {}
            }))
            .expect("a trial")
        };
        assert_eq!(own(&trial("7.3.4", "0x0000")), "linux-two-list");
        assert_eq!(own(&trial("7.3.4", "0x0007")), "mglru:kernel=7.3");
        assert_eq!(own(&trial("6.12.1", "0x0003")), "mglru");
    }
}
