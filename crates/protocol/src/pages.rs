//! Pages that come into the page cache and leave it.
use serde::{Deserialize, Serialize};

/// Consecutive pages of a file that came or went one after the other. There are many runs, so one
/// is written as a list of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Numbers", into = "Numbers")]
pub struct PageRun {
    /// Time of the first page, in microseconds of the guest's CLOCK_MONOTONIC.
    pub t_us: u64,
    /// True if the pages went, false if they came.
    pub gone: bool,
    /// The file's number, from 0 in order of first appearance.
    pub file: u32,
    /// Number of the first page in the file.
    pub first: u64,
    pub pages: u64,
}

impl PageRun {
    pub fn new(t_us: u64, gone: bool, file: u32, first: u64, pages: u64) -> PageRun {
        PageRun {
            t_us,
            gone,
            file,
            first,
            pages,
        }
    }
}

type Numbers = (u64, u8, u32, u64, u64);

impl From<Numbers> for PageRun {
    fn from((t_us, gone, file, first, pages): Numbers) -> PageRun {
        PageRun::new(t_us, gone != 0, file, first, pages)
    }
}

impl From<PageRun> for Numbers {
    fn from(run: PageRun) -> Numbers {
        (run.t_us, run.gone.into(), run.file, run.first, run.pages)
    }
}
