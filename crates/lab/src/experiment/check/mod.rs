//! Checks an experiment beyond the grammar of its file: names must exist, values must be in range.
mod arms;
mod daemon;
mod machine;
mod metrics;
mod notes;
mod plan;
mod rule;
mod scenes;
mod workers;

pub use notes::notes;

use crate::experiment::definition::Experiment;
use crate::experiment::text::source::at;
pub use arms::one as arm;
use protocol::size::Size;
use rule::size_in_range;
pub use rule::{invalid, is_plain, Checked};

/// Checks a whole experiment.
///
/// # Errors
/// The first error that a check finds.
pub fn all(experiment: &Experiment) -> Checked {
    whole(experiment)?;
    machine::machine(experiment)?;
    workers::root(experiment)?;
    workers::workers(experiment)?;
    scenes::scenes(experiment)?;
    arms::arms(experiment)?;
    plan::plan(experiment)
}

fn whole(experiment: &Experiment) -> Checked {
    if experiment.repetitions == 0 || experiment.repetitions > 1000 {
        return invalid(at!["repetitions"], "expected 1 to 1000");
    }
    let whole = Size::Bytes(experiment.memory_bytes());
    let below = experiment.exhausted_below;
    if below.resolve(experiment.memory_bytes()).bytes() > whole.bytes() {
        let message = format!("expected a part of the machine's memory, at most 100%, not {below}");
        return invalid(at!["exhausted_below"], message);
    }
    for (name, size) in &experiment.files {
        let at = at!["files", name.as_str()];
        if !is_plain(name) {
            return invalid(
                at,
                "a file's name is made of letters, digits, '-', '_' and '.'",
            );
        }
        size_in_range(*size, at.clone())?;
        if size.resolve(1 << 30).bytes() == 0 {
            return invalid(at, "expected a size above 0");
        }
    }
    Ok(())
}
