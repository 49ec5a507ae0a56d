//! The results of a check.
use crate::flavour::Flavour;
use serde::Serialize;

/// The result of one test of one patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Verdict {
    /// The test passed. `note` is short: "2 objects", "0.5 s".
    Ok { note: String },
    /// The test was not run.
    NotRun { why: String },
    /// The test failed.
    Failed { why: String },
}

impl Verdict {
    pub(super) fn ok(note: impl Into<String>) -> Verdict {
        Verdict::Ok { note: note.into() }
    }

    pub(super) fn not_run(why: &str) -> Verdict {
        Verdict::NotRun { why: why.into() }
    }

    pub(super) fn failed(why: impl std::fmt::Display) -> Verdict {
        Verdict::Failed {
            why: why.to_string(),
        }
    }

    pub fn is_failure(&self) -> bool {
        matches!(self, Verdict::Failed { .. })
    }

    /// A table's cell: "ok 0.5 s", "FAILED", "-".
    pub fn cell(&self) -> String {
        match self {
            Verdict::Ok { note } if note.is_empty() => "ok".into(),
            Verdict::Ok { note } => format!("ok, {note}"),
            Verdict::NotRun { .. } => "-".into(),
            Verdict::Failed { .. } => "FAILED".into(),
        }
    }
}

/// The names of the tests, in the order of [`PatchReport::verdicts`].
pub const TESTS: [&str; 6] = ["applies", "builds", "W=1", "sparse", "boots", "checkpatch"];

/// The reason for a test that only the last patch of a group goes through.
pub const WITH_THE_LAST: &str = "with the last patch";

/// The results of one patch.
#[derive(Clone, Debug, Serialize)]
pub struct PatchReport {
    pub patch: String,
    pub subject: String,
    pub verdicts: Vec<Verdict>,
}

/// The results of a series.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of the kernel that the series was applied to, "7.3.4".
    pub version: String,
    /// The series. Of [`Flavour::Both`] only the second is checked, on top of the first.
    pub flavour: Flavour,
    pub arch: String,
    pub patches: Vec<PatchReport>,
}

impl Report {
    pub fn good(&self) -> bool {
        !self
            .patches
            .iter()
            .flat_map(|patch| &patch.verdicts)
            .any(Verdict::is_failure)
    }
}
