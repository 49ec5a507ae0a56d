//! Boots a candidate, and judges the promise by its interval.
use super::args::BisectArgs;
use super::search::Verdict;
use super::state::Tested;
use crate::lab::found::{broken, find};
use crate::lab::output::typed;
use crate::shell::usage;
use anyhow::Result;
use lab::experiment::{Changes, Experiment, Kernel};
use lab::host;
use lab::inputs::kernels;
use lab::run::{self as runner, Options};
use protocol::plan;
use report::PromiseResult;
use std::path::Path;
use std::time::Instant;

/// The experiment and its promise.
pub struct Judge {
    experiment: Experiment,
    promise: String,
    repetitions: u32,
    jobs: u32,
}

impl Judge {
    /// Reads the experiment, and leaves only the arms of the promise.
    ///
    /// # Errors
    /// There is no such experiment, or not one such promise.
    pub fn of(args: &BisectArgs) -> Result<Judge> {
        let Some((name, wanted)) = args.promise.rsplit_once(':') else {
            return Err(usage!(
                "--promise {}: expected EXPERIMENT:PROMISE",
                args.promise
            ));
        };
        let mut set = args.set.clone();
        set.extend(args.seed.map(|seed| format!("seed={seed}")));
        let changes = Changes {
            preset: args.preset.clone(),
            set,
        };
        let mut experiment = Experiment::load(&find(name)?, &changes).map_err(broken)?;
        let title = title(&experiment, name, wanted)?;
        experiment
            .plan
            .promises
            .retain(|promise| promise.title == title);
        let promise = &mut experiment.plan.promises[0];
        // One trial out of bounds decides nothing.
        promise.judge = plan::Judge::Interval;
        promise.may_be_unsure = false;
        if let Some(arm) = &args.arm {
            promise.arms.retain(|name| name == arm);
            promise.series.retain(|name| name == arm);
            if promise.arms.is_empty() && promise.series.is_empty() {
                return Err(usage!("--arm {arm}: the promise is of no such arm"));
            }
        }
        let mut arms: Vec<String> = promise
            .arms
            .iter()
            .chain(&promise.series)
            .cloned()
            .collect();
        if promise.relative_to == plan::Relative::Baseline {
            let own = experiment
                .arms
                .iter()
                .filter(|arm| arms.contains(&arm.name));
            let baselines: Vec<String> = own.filter_map(|arm| arm.baseline.clone()).collect();
            arms.extend(baselines);
        }
        experiment
            .only(&arms)
            .map_err(|error| usage!("--promise: {error:#}"))?;
        Ok(Judge {
            experiment,
            promise: title,
            repetitions: args.repetitions,
            jobs: args.jobs.unwrap_or_else(host::jobs),
        })
    }

    /// Boots the candidate's kernel in the arms that boot the series, or in all where none does. `None`: interrupted.
    ///
    /// # Errors
    /// The run itself fails.
    pub fn test(&self, candidate: usize, kernel: &Kernel, folder: &Path) -> Result<Option<Tested>> {
        let begun = Instant::now();
        let mut boots = 0;
        let mut last = (Verdict::Unsure, String::new());
        for repetitions in [self.repetitions, 2 * self.repetitions] {
            let mut experiment = self.experiment.clone();
            experiment.repetitions = repetitions;
            let patched = |kernel: &Kernel| *kernel != Kernel::Known(kbuild::Flavour::Vanilla);
            let any = experiment.arms.iter().any(|arm| patched(&arm.kernel));
            for arm in &mut experiment.arms {
                if !any || patched(&arm.kernel) {
                    arm.kernel = kernel.clone();
                }
            }
            let options = Options {
                jobs: self.jobs,
                out: folder.join(format!("candidate-{candidate}-{repetitions}")),
                tree: None,
                only: None,
                resume: false,
                force: true,
                keep_going: true,
                quiet: false,
                command: String::new(),
            };
            let arch = experiment.machine.bed.arch();
            let mut console = progress::Console::new(options.quiet);
            let arms = experiment.arms.iter();
            let built = kernels::images(arms, arch, None, &mut |step| console.step(step));
            // One that does not build, or a patch that does not apply alone: other candidates may.
            if let Err(error) = built {
                last = (Verdict::Unsure, format!("{error:#}"));
                break;
            }
            let summary = runner::run(&experiment, &options).map_err(typed)?;
            if summary.interrupted.is_some() {
                return Ok(None);
            }
            boots += summary.trials.len();
            let written = report::write(&summary.dir)?;
            let results = written.study.promises.iter();
            last = judged(results.filter(|one| one.title == self.promise));
            if last.0 != Verdict::Unsure {
                break;
            }
        }
        Ok(Some(Tested {
            candidate,
            name: String::new(),
            verdict: last.0,
            why: last.1,
            boots,
            seconds: begun.elapsed().as_secs_f64(),
        }))
    }
}

/// The title of the promise that is wanted by it or a part of it.
fn title(experiment: &Experiment, name: &str, wanted: &str) -> Result<String> {
    let titles: Vec<&str> = experiment
        .plan
        .promises
        .iter()
        .map(|one| one.title.as_str())
        .collect();
    let exact = titles.iter().filter(|title| **title == wanted).count();
    let fits = |title: &str| match exact {
        0 => title.contains(wanted),
        _ => title == wanted,
    };
    let found: Vec<&str> = titles.iter().copied().filter(|title| fits(title)).collect();
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(usage!(
            "{name} promises nothing like {wanted:?}; it has: {}",
            titles.join("; ")
        )),
        many => Err(usage!(
            "{wanted:?} fits more than one promise: {}",
            many.join("; ")
        )),
    }
}

/// The promise of all its arms: broken where one is, kept where all are.
fn judged<'a>(results: impl Iterator<Item = &'a PromiseResult>) -> (Verdict, String) {
    let mut whole = (Verdict::Unsure, "no trial was judged".to_owned());
    for (nth, result) in results.enumerate() {
        let (verdict, why) = by_interval(result);
        let why = format!("{}: {why}", result.arm);
        match (verdict, whole.0) {
            (Verdict::Broken, _) => return (verdict, why),
            (Verdict::Unsure, _) | (Verdict::Kept, Verdict::Kept) => whole = (verdict, why),
            _ if nth == 0 => whole = (verdict, why),
            _ => {}
        }
    }
    whole
}

fn by_interval(result: &PromiseResult) -> (Verdict, String) {
    let interval = result.spread.and_then(|spread| spread.interval());
    let (Some(value), Some(interval)) = (result.value, interval) else {
        return (Verdict::Unsure, result.why.clone());
    };
    let bound = &result.bound;
    let why = format!("{value:.3} [{:.3}, {:.3}]", interval.low, interval.high);
    let inside = bound.at_least.is_none_or(|least| interval.low >= least)
        && bound.at_most.is_none_or(|most| interval.high <= most);
    let outside = bound.at_least.is_some_and(|least| interval.high < least)
        || bound.at_most.is_some_and(|most| interval.low > most);
    match (inside, outside) {
        (true, _) => (Verdict::Kept, why),
        (_, true) => (Verdict::Broken, why),
        _ => (Verdict::Unsure, why),
    }
}
