//! `hotset lab bisect`: which patch or commit broke a promise?
mod args;
mod judge;
mod search;
mod state;
mod steps;

use super::duration::duration;
use crate::shell::{document, note, outln, usage};
use anyhow::Result;
pub use args::BisectArgs;
use judge::Judge;
use names::shown;
use search::{Next, Verdict};
use serde::Serialize;
use state::State;
use std::process::ExitCode;
use std::time::Instant;
use steps::Steps;

#[derive(Serialize)]
struct Document<'a> {
    promise: &'a str,
    /// Whether one step was found; several where those between are unsure.
    found: Vec<String>,
    tested: &'a [state::Tested],
    boots: usize,
    seconds: f64,
}

/// Searches until the step is found.
///
/// # Errors
/// The range, the promise or the experiment names nothing that there is, or a run fails.
pub fn run(args: &BisectArgs) -> Result<ExitCode> {
    let tree = args.tree.as_deref();
    let steps = Steps::of(&args.range, args.series.as_deref(), tree)?;
    let judge = Judge::of(args)?;
    let mut state = State::open(
        &args.output,
        &format!("{} {}", args.range, args.promise),
        steps.count(),
    )?;
    let begun = Instant::now();
    loop {
        let candidate = match search::next(&state.verdicts()) {
            Next::Test(candidate) => candidate,
            end => return report(args, &steps, &state, &end),
        };
        let left = (steps.count() as f64).log2().ceil() as usize + 2;
        note(format!(
            "candidate {candidate} of {}: {} (test {} of about {left})",
            steps.count() - 1,
            steps.name(candidate),
            state.tested.len() + 1
        ));
        let kernel = steps.kernel(
            candidate,
            tree.filter(|_| args.series.is_some()),
            &args.output,
        )?;
        let tested = judge.test(candidate, &kernel, &args.output)?;
        let Some(mut tested) = tested else {
            note(format!(
                "interrupted; the same command goes on from {}",
                shown(&args.output)
            ));
            return Ok(ExitCode::from(130));
        };
        tested.name = steps.name(candidate);
        note(format!(
            "  {}: {} ({})",
            tested.name,
            match tested.verdict {
                Verdict::Kept => "keeps the promise",
                Verdict::Broken => "breaks it",
                Verdict::Unsure => "cannot be judged, and is passed over",
            },
            tested.why
        ));
        state.add(tested)?;
        note(format!(
            "  {} so far",
            duration(begun.elapsed().as_secs_f64())
        ));
    }
}

fn report(args: &BisectArgs, steps: &Steps, state: &State, end: &Next) -> Result<ExitCode> {
    let found: Vec<String> = match end {
        Next::Found(range) => range.clone().map(|at| steps.name(at)).collect(),
        _ => Vec::new(),
    };
    let boots = state.tested.iter().map(|tested| tested.boots).sum();
    let seconds: f64 = state.tested.iter().map(|tested| tested.seconds).sum();
    if args.json {
        let document_of = Document {
            promise: &args.promise,
            found: found.clone(),
            tested: &state.tested,
            boots,
            seconds,
        };
        outln!("{}", document("lab.bisect", 1, &document_of)?)?;
    }
    let last = steps.count() - 1;
    let problem = match end {
        Next::FirstIsBroken => format!("{} breaks the promise already", steps.name(0)),
        Next::LastIsKept => format!("{} keeps the promise", steps.name(last)),
        Next::EndsUnsure(at) => format!(
            "{} cannot be judged; try more --repetitions",
            steps.name(*at)
        ),
        Next::Test(_) | Next::Found(_) => String::new(),
    };
    if !problem.is_empty() {
        return Err(usage!("{problem}"));
    }
    if !args.json {
        match found.as_slice() {
            [one] => outln!("{one} broke the promise.")?,
            many => outln!("One of these broke the promise:\n  {}", many.join("\n  "))?,
        }
        outln!(
            "{} candidates tested, {boots} boots, {}; {}",
            state.tested.len(),
            duration(seconds),
            shown(&args.output.join(state::NAME))
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
