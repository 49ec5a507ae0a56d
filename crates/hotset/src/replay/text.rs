//! The actions of a replay as text: repeats of an action are counted.
use super::action::named;
use crate::shell::outln;
use anyhow::Result;
use policy::{Action, Decision, Tunable};
use std::mem::{discriminant, Discriminant};

/// Seconds after which the same action is a new one. The policy repeats a value that was not set once a minute.
const APART_S: f64 = 90.0;

/// An action that was shown, and its repeats that were not.
struct Run {
    kind: Kind,
    action: String,
    first_s: f64,
    last_s: f64,
    times: u64,
}

/// What an action is about: two actions of a kind replace each other.
type Kind = (Discriminant<Action>, u32);

fn kind(action: Action) -> Kind {
    let of = match action {
        Action::ReclaimNode { node, .. }
        | Action::SetKswapdNice { node, .. }
        | Action::CompactNode { node } => node,
        Action::SetTunable(index) => index as u32,
        Action::Warn(warning) => warning as u32,
        _ => 0,
    };
    (discriminant(&action), of)
}

/// The text of a replay so far.
pub struct Text<'a> {
    tunables: &'a [Tunable],
    runs: Vec<Run>,
}

impl<'a> Text<'a> {
    pub fn new(tunables: &'a [Tunable]) -> Self {
        Text {
            tunables,
            runs: Vec::new(),
        }
    }

    /// Shows the decision of a time, in seconds since the first sample.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn show(&mut self, at_s: f64, decision: &Decision, forecast: bool) -> Result<()> {
        if forecast {
            show_forecast(at_s, decision)?;
        }
        let over = |run: &mut Run| at_s - run.last_s > APART_S;
        for run in self.runs.extract_if(.., over) {
            show_repeats(&run)?;
        }
        for (action, reason) in decision.actions() {
            let (kind, text) = (kind(action), named(action, self.tunables));
            let same = |run: &&mut Run| run.kind == kind && run.action == text;
            if let Some(run) = self.runs.iter_mut().find(same) {
                run.times += 1;
                run.last_s = at_s;
                continue;
            }
            if let Some(place) = self.runs.iter().position(|run| run.kind == kind) {
                show_repeats(&self.runs.remove(place))?;
            }
            outln!("{at_s:10.2}  {text}: {reason}")?;
            self.runs.push(Run {
                kind,
                action: text,
                first_s: at_s,
                last_s: at_s,
                times: 1,
            });
        }
        Ok(())
    }

    /// Shows the repeats that are still counted.
    ///
    /// # Errors
    /// As [`Text::show`].
    pub fn end(self) -> Result<()> {
        self.runs.iter().try_for_each(show_repeats)
    }
}

fn show_repeats(run: &Run) -> Result<()> {
    if run.times == 1 {
        return Ok(());
    }
    let Run {
        action,
        first_s,
        last_s,
        times,
        ..
    } = run;
    outln!("{last_s:10.2}  {action}: {times} times from {first_s:.2} s to {last_s:.2} s")
}

fn show_forecast(at_s: f64, decision: &Decision) -> Result<()> {
    for node in &decision.summary.nodes {
        let low = match node.time_to_low_s {
            Some(seconds) => format!("at low in {seconds:.0} s"),
            None => "not falling".to_owned(),
        };
        let predicted = match node.predicted {
            true => ": exhaustion predicted",
            false => "",
        };
        outln!(
            "{at_s:10.2}  node {}: {} pages free, demand {:.0} +- {:.0} pages/s, {low}{predicted}",
            node.id,
            node.free,
            node.demand,
            node.demand_error,
        )?;
    }
    Ok(())
}
