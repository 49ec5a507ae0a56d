//! What is to be tried, and what came of it.
use crate::setting::Setting;
use kernfs::Root;
use protocol::record::Outcome;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A trial.
pub struct Options {
    pub root: Root,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Lines of a shell that run beside the command.
    pub beside: Vec<String>,
    /// A and B. Ratios are of B to A.
    pub settings: [Setting; 2],
    pub pairs: u32,
    pub seed: u64,
    /// Drop the page cache before each run, and make no warm-up run.
    pub cold: bool,
    /// From the start of the setting and of what runs beside to that of the command.
    pub lead: Duration,
    pub allow_oom: bool,
    /// The folder of results.
    pub output: PathBuf,
    pub resume: bool,
    /// Move the folder aside where it has files.
    pub force: bool,
    /// The command line that repeats the trial.
    pub line: String,
    /// Sentences on what else runs.
    pub warnings: Vec<String>,
}

impl Options {
    /// Whether the trial writes a file of the kernel.
    pub fn changes(&self) -> bool {
        self.settings.iter().any(Setting::changes)
    }

    /// The names of both settings in tables, different from each other.
    pub fn labels(&self) -> [String; 2] {
        let [a, b] = &self.settings;
        match a.name == b.name {
            true => [format!("{} (A)", a.name), format!("{} (B)", b.name)],
            false => [a.name.clone(), b.name.clone()],
        }
    }
}

/// What was made.
pub struct Summary {
    pub dir: PathBuf,
    pub planned: usize,
    /// Arm, pair (from 0) and outcome of each run.
    pub made: Vec<(String, u32, Outcome)>,
    /// The number of the signal that ended the trial.
    pub interrupted: Option<u8>,
    /// Why the trial ended early.
    pub failed: Option<String>,
}
