//! The options of a run, and its summary.
use protocol::record::Outcome;
use std::path::PathBuf;

/// The way in which an experiment is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Guests at once.
    pub jobs: u32,
    pub out: PathBuf,
    /// Kernel source to use instead of Debian's.
    pub tree: Option<PathBuf>,
    /// The repetition that alone is made, from 0. None: all.
    pub only: Option<u32>,
    /// Continue the run of which `out` has a part.
    pub resume: bool,
    /// Where `out` has files, move them to another folder first.
    pub force: bool,
    /// Continue after a guest reported an error of its own.
    pub keep_going: bool,
    /// No progress on standard error.
    pub quiet: bool,
    /// The command line that repeats this run, for the report.
    pub command: String,
}

/// The end of a run.
#[derive(Debug)]
pub struct Summary {
    /// The folder of the run.
    pub dir: PathBuf,
    /// Arm, repetition and outcome of each trial, in the order in which the trials ended.
    pub trials: Vec<(String, u32, Outcome)>,
    pub planned: usize,
    /// The number of the signal that stopped the run.
    pub interrupted: Option<u8>,
}

impl Summary {
    /// Whether every planned trial was made and ended well.
    pub fn all_ok(&self) -> bool {
        let well = self
            .trials
            .iter()
            .all(|(_, _, outcome)| *outcome == Outcome::Ok);
        well && self.trials.len() == self.planned
    }
}
