//! What the search knows, in a file: an interrupted search goes on.
use super::search::Verdict;
use crate::shell::usage;
use anyhow::{Context, Result};
use names::shown;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The file in the output folder.
pub const NAME: &str = "bisect.json";

/// One tested candidate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tested {
    pub candidate: usize,
    pub name: String,
    pub verdict: Verdict,
    /// The value and its interval, or why there is none.
    pub why: String,
    pub boots: usize,
    pub seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    /// What is sought: a file of another search is not continued.
    search: String,
    candidates: usize,
    tested: Vec<Tested>,
}

const SCHEMA: &str = "hotset.lab.bisect.state.1";

/// The search so far.
pub struct State {
    path: PathBuf,
    search: String,
    candidates: usize,
    pub tested: Vec<Tested>,
}

impl State {
    /// Goes on with the search in the folder, or begins one.
    ///
    /// # Errors
    /// The folder has another search, or cannot be written to.
    pub fn open(folder: &Path, search: &str, candidates: usize) -> Result<State> {
        std::fs::create_dir_all(folder).with_context(|| shown(folder).to_string())?;
        let path = folder.join(NAME);
        let mut state = State {
            path: path.clone(),
            search: search.into(),
            candidates,
            tested: Vec::new(),
        };
        if !path.exists() {
            return Ok(state);
        }
        let text = std::fs::read_to_string(&path).with_context(|| shown(&path).to_string())?;
        let document: Document =
            serde_json::from_str(&text).with_context(|| shown(&path).to_string())?;
        if (document.search.as_str(), document.candidates) != (search, candidates) {
            return Err(usage!(
                "{}: another search ({}); name another folder by --output",
                shown(&path),
                document.search
            ));
        }
        state.tested = document.tested;
        Ok(state)
    }

    pub fn verdicts(&self) -> Vec<Option<Verdict>> {
        let mut verdicts = vec![None; self.candidates];
        for tested in &self.tested {
            verdicts[tested.candidate] = Some(tested.verdict);
        }
        verdicts
    }

    /// Adds a test, and writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, tested: Tested) -> Result<()> {
        self.tested.push(tested);
        let document = Document {
            schema: SCHEMA.into(),
            search: self.search.clone(),
            candidates: self.candidates,
            tested: self.tested.clone(),
        };
        let text = serde_json::to_string_pretty(&document)?;
        let new = self.path.with_extension("new");
        std::fs::write(&new, text).with_context(|| shown(&new).to_string())?;
        std::fs::rename(&new, &self.path).with_context(|| shown(&self.path).to_string())
    }
}
