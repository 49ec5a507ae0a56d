//! One finding.
use serde::Serialize;

/// How good a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// It works, and something else would work better. `advice` says what.
    Better,
    /// It can freeze or stop the machine, or hotsetd cannot work.
    Wrong,
}

/// What was found about one subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// One or two words that name the subject, the same in every state.
    pub subject: &'static str,
    pub state: State,
    /// What is there, in a sentence without its full stop.
    pub seen: String,
    /// What would be better, and why. Empty where the state is good.
    pub advice: String,
    /// Commands for the shell that do so, in their order. May be empty.
    pub commands: Vec<String>,
}

impl Finding {
    /// A finding that needs nothing.
    pub(crate) fn good(subject: &'static str, seen: impl Into<String>) -> Self {
        Self {
            subject,
            state: State::Good,
            seen: seen.into(),
            advice: String::new(),
            commands: Vec::new(),
        }
    }

    /// A finding with advice.
    pub(crate) fn better(
        subject: &'static str,
        seen: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Better,
            advice: advice.into(),
            ..Self::good(subject, seen)
        }
    }

    /// A finding that harms.
    pub(crate) fn wrong(
        subject: &'static str,
        seen: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Wrong,
            ..Self::better(subject, seen, advice)
        }
    }

    /// The same with commands.
    pub(crate) fn by<T: Into<String>>(mut self, commands: impl IntoIterator<Item = T>) -> Self {
        self.commands = commands.into_iter().map(Into::into).collect();
        self
    }
}
