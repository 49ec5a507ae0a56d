//! Runs the turns of a run, several guests at once.
use super::display::{Display, News};
use super::options::Options;
use super::schedule::Turn;
use super::trial::{trial, Shared};
use crate::host::cpu_pinning::pin_to_one_cpu;
use anyhow::{Context, Result};
use protocol::record::Outcome;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Arm, repetition and outcome of a trial.
type Ended = (String, u32, Outcome);

/// The state that the threads of a run share.
#[derive(Default)]
struct State {
    /// The index of the next turn.
    next: AtomicUsize,
    ended: Mutex<Vec<Ended>>,
    /// The first error of any thread.
    failure: Mutex<Option<anyhow::Error>>,
    /// Set when a guest reports an error of its own: no further trial begins.
    give_up: AtomicBool,
}

/// Runs all turns, `options.jobs` at once. `before` trials were made by an earlier run.
///
/// # Errors
/// The first error of any trial. Guests that panic, hang or fail are results and no errors.
pub fn run_all(
    shared: &Shared<'_>,
    turns: &[Turn],
    before: usize,
    options: &Options,
) -> Result<Vec<Ended>> {
    let jobs = (options.jobs as usize).clamp(1, turns.len().max(1));
    let state = State::default();
    let mut display = Display::new(turns.len(), before, jobs, options.quiet);
    std::thread::scope(|scope| {
        let (sender, news) = channel();
        for job in 0..jobs {
            let progress: Sender<News> = sender.clone();
            let state = &state;
            scope.spawn(move || work(shared, turns, options, state, job, &progress));
        }
        drop(sender);
        show(&mut display, &news);
    });
    display.finish();
    let failure = state.failure.into_inner();
    if let Some(error) = failure.unwrap_or_else(PoisonError::into_inner) {
        return Err(error).with_context(|| {
            format!(
                "the run was given up; the trials that ended are in {}",
                options.out.display()
            )
        });
    }
    let ended = state.ended.into_inner();
    Ok(ended.unwrap_or_else(PoisonError::into_inner))
}

/// One thread of a run: makes the next trial until no turn is left, or the run ends early.
fn work(
    shared: &Shared<'_>,
    turns: &[Turn],
    options: &Options,
    state: &State,
    job: usize,
    progress: &Sender<News>,
) {
    if shared.bed.likes_one_cpu(shared.experiment.most_cpus()) {
        pin_to_one_cpu(job);
    }
    while !shared.stop.asked() && !state.give_up.load(Ordering::Acquire) {
        let Some(turn) = turns.get(state.next.fetch_add(1, Ordering::AcqRel)) else {
            break;
        };
        match trial(shared, turn, job, progress) {
            Ok(Some(trial)) => {
                if matches!(trial.outcome, Outcome::Failed { .. }) && !options.keep_going {
                    state.give_up.store(true, Ordering::Release);
                }
                let mut ended = state.ended.lock().unwrap_or_else(PoisonError::into_inner);
                ended.push((trial.arm, trial.repetition, trial.outcome));
            }
            Ok(None) => break,
            Err(error) => {
                let mut failure = state.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert(error);
                // The results of the other guests could not be written either.
                shared.stop.ask();
            }
        }
    }
}

/// Shows progress until all threads have ended.
fn show(display: &mut Display, news: &Receiver<News>) {
    loop {
        match news.recv_timeout(Duration::from_millis(500)) {
            Ok(news) => display.news(news),
            Err(RecvTimeoutError::Timeout) => display.tick(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
}
