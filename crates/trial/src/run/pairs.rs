//! All runs of a trial, in shuffled pairs.
use super::checks::Refused;
use super::header::{header, ARMS};
use super::one::{Bench, Logs, Stopped};
use super::options::{Options, Summary};
use crate::keeper::Keeper;
use crate::machine::counters::Reader;
use crate::FOLDER;
use anyhow::Result;
use lab::host::stop::Stop;
use lab::results::resume::{self, Made};
use lab::results::Results;
use lab::run::schedule::{turns, Turn};
use progress::{Console, Step, Unit};
use protocol::record::{Outcome, Run};
use std::process::Command;

/// Makes the runs that the folder has not got. `keeper` calls [`crate::keeper::serve`].
///
/// # Errors
/// The folder or the keeper cannot be used, a file cannot be written, or something cannot be undone. A command that
/// fails is no error of this function, but in [`Summary::failed`].
pub fn run(options: &Options, keeper: Command, stop: &Stop, quiet: bool) -> Result<Summary> {
    let mut reader = Reader::open(&options.root)?;
    let wanted = header(options, reader.meminfo());
    let (results, made) = folder(options, &wanted)?;
    let root = options.root.directory();
    let below = options.root.path(FOLDER);
    let (keeper, notes) =
        Keeper::start(keeper, root, options.changes().then_some(below.as_path()))?;
    let mut bench = Bench {
        options,
        keeper,
        reader,
        stop,
        console: Console::new(quiet),
    };
    for text in notes {
        bench.console.step(Step::Note { text });
    }
    let all = turns(2, options.pairs, options.seed);
    let mut summary = Summary {
        dir: options.output.clone(),
        planned: all.len(),
        made,
        interrupted: None,
        failed: None,
    };
    let runs = each(&mut bench, &results, &all, &mut summary);
    // Whatever happened, all is undone before this function returns.
    bench.keeper.close()?;
    match runs {
        Err(error) if error.is::<Stopped>() => summary.interrupted = stop.signal(),
        Err(error) if error.is::<Ended>() => summary.failed = Some(format!("{error:#}")),
        other => other?,
    }
    Ok(summary)
}

/// A run did not end well, and the trial ends with it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Ended(String);

/// The folder of results, and the runs that it has.
fn folder(options: &Options, wanted: &Run) -> Result<(Results, Vec<Made>)> {
    let dir = &options.output;
    if options.resume {
        let made = resume::made(dir, wanted)?;
        if let Some((arm, pair, _)) = made.iter().find(|(.., outcome)| *outcome != Outcome::Ok) {
            let why = format!(
                "{}: run {arm}-{pair} did not end well; remove trials/{arm}-{pair}.json to make it again",
                names::shown(dir)
            );
            return Err(Refused(why).into());
        }
        return Ok((Results::of(dir), made));
    }
    if options.force {
        Results::move_aside(dir)?;
    }
    let results = Results::create(dir)?;
    results.run(wanted)?;
    Ok((results, Vec::new()))
}

fn each(bench: &mut Bench, results: &Results, all: &[Turn], summary: &mut Summary) -> Result<()> {
    let labels = bench.options.labels();
    if !bench.options.cold && summary.made.len() < all.len() {
        let first = Turn {
            arm: 0,
            repetition: 0,
            seed: 0,
        };
        warm_up(bench, results, &first, &labels[0])?;
    }
    for (number, turn) in all.iter().enumerate() {
        let arm = ARMS[turn.arm];
        if summary
            .made
            .iter()
            .any(|(a, r, _)| a == arm && *r == turn.repetition)
        {
            continue;
        }
        let place = format!("Run {} of {}, {}", number + 1, all.len(), labels[turn.arm]);
        let title = place.clone();
        bench.console.step(Step::Begin {
            title,
            total: None,
            unit: Unit::Steps,
        });
        let console = results.dir().join("console");
        let logs = Logs(console.join(format!("{arm}-{}", turn.repetition)));
        // A run that was interrupted has left its output.
        let _ = std::fs::remove_file(logs.command());
        let (trial, result) = bench.run(turn, &logs);
        if result.as_ref().is_err_and(|error| error.is::<Stopped>()) {
            return result;
        }
        results.trial(&trial)?;
        summary
            .made
            .push((arm.into(), turn.repetition, trial.outcome.clone()));
        if let Err(error) = result {
            return Err(Ended(format!("{place}: {error:#}")).into());
        }
        let seconds = trial
            .scenes
            .first()
            .map_or(0.0, |scene| scene.end_ms - scene.begin_ms)
            / 1e3;
        let text = format!("{place}: the command took {seconds:.1} s;");
        bench.console.step(Step::End { text });
    }
    Ok(())
}

fn warm_up(bench: &mut Bench, results: &Results, turn: &Turn, label: &str) -> Result<()> {
    let title = format!("Warm-up, {label}; it does not count");
    let text = title.clone();
    bench.console.step(Step::Begin {
        title,
        total: None,
        unit: Unit::Steps,
    });
    let logs = Logs(results.dir().join("console").join("warm-up"));
    let _ = std::fs::remove_file(logs.command());
    let (_, result) = bench.run(turn, &logs);
    match result {
        Err(error) if error.is::<Stopped>() => Err(error),
        Err(error) => Err(Ended(format!("The warm-up: {error:#}")).into()),
        Ok(()) => {
            bench.console.step(Step::End { text });
            Ok(())
        }
    }
}
