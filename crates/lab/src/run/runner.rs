//! Runs an experiment: boots each arm of each repetition, and writes the results.
use super::header::header;
use super::jobs::run_all;
use super::options::{Options, Summary};
use super::preflight;
use super::preparation;
use super::schedule::{turns, Turn};
use super::trial::Shared;
use crate::bed::{self, Bed};
use crate::experiment::Experiment;
use crate::host::stop::Stop;
use crate::inputs::recorded::Recorded;
use crate::results::resume::{self, Made};
use crate::results::Results;
use anyhow::Result;
use names::shown;
use progress::Step;
use protocol::record::Run;

/// Runs all arms and repetitions of an experiment. When a signal asks to stop, the guests are ended,
/// the trials that ended are kept, and the summary is marked.
///
/// # Errors
/// When the lab itself fails: no kernel, no room on a disk, guests that do not boot at all. Results
/// that were written until then stay readable.
pub fn run(experiment: &Experiment, options: &Options) -> Result<Summary> {
    preflight::check(experiment, options)?;
    let mut console = progress::Console::new(options.quiet);
    let (root, images) = preparation::obtain(experiment, options)?;
    let recorded = Recorded::of(experiment)?;
    let init = preparation::init(experiment, &recorded)?;
    // From here on hotset handles signals itself, to restore the host's settings.
    let signals = Stop::on_signals()?;
    let mut bed = open_bed(experiment, options)?;
    let ready = preparation::probe_kernels(experiment, bed.as_mut(), &images, &init, &signals)
        .and_then(|()| {
            let bed = bed.as_ref();
            preparation::data_disks(experiment, bed, &images, &init, &signals, &mut console)
        });
    let mut all = turns(
        experiment.arms.len(),
        experiment.repetitions,
        experiment.seed,
    );
    all.retain(|turn| options.only.is_none_or(|only| only == turn.repetition));
    let summary = |trials| Summary {
        dir: options.out.clone(),
        trials,
        planned: all.len(),
        interrupted: signals.signal(),
    };
    let disks = match ready {
        Err(_) if signals.asked() => return Ok(summary(Vec::new())),
        ready => ready?,
    };
    if let Some(root) = &root {
        preparation::read_ahead(&root.image)?;
    }
    let packages = root.iter().flat_map(|root| root.packages.clone()).collect();
    let header = Run {
        packages,
        ..header(experiment, options, bed.as_ref(), &images)
    };
    let (results, mut trials) = begin(options, &header, &mut console)?;
    recorded.keep(results.dir())?;
    let shared = Shared {
        experiment,
        bed: bed.as_ref(),
        images: &images,
        init: &init,
        disks: &disks,
        root: root.map(|root| root.image),
        results: &results,
        stop: &signals,
    };
    let left = left(&all, experiment, &trials);
    let before = trials.len();
    trials.extend(run_all(&shared, &left, before, options)?);
    Ok(summary(trials))
}

/// Opens the bed for the largest guest of any arm.
fn open_bed(experiment: &Experiment, options: &Options) -> Result<Box<dyn Bed>> {
    let machine = &experiment.machine;
    let memories = experiment.arms.iter().filter_map(|arm| arm.memory_mb);
    let memory_mb = memories.fold(machine.memory_mb, u64::max);
    bed::open(machine.bed, memory_mb, options.jobs, machine.icount)
}

/// The folder of the results, and the trials that it has already.
fn begin(
    options: &Options,
    header: &Run,
    console: &mut progress::Console,
) -> Result<(Results, Vec<Made>)> {
    if options.resume {
        let made = resume::made(&options.out, header)?;
        return Ok((Results::of(&options.out), made));
    }
    if options.force {
        if let Some(aside) = Results::move_aside(&options.out)? {
            console.step(Step::Note {
                text: format!(
                    "Moved the files of {} to {}",
                    shown(&options.out),
                    shown(&aside)
                ),
            });
        }
    }
    let results = Results::create(&options.out)?;
    results.run(header)?;
    Ok((results, Vec::new()))
}

/// The turns of trials that are still to be made.
fn left(all: &[Turn], experiment: &Experiment, made: &[Made]) -> Vec<Turn> {
    let is_made = |turn: &&Turn| {
        let name = &experiment.arms[turn.arm].name;
        let mut made = made.iter();
        made.any(|(arm, repetition, _)| arm == name && *repetition == turn.repetition)
    };
    all.iter().filter(|turn| !is_made(turn)).copied().collect()
}
