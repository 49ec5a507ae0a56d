//! Traces divided into tasks.
use super::needs::Needs;
use serde::{Deserialize, Serialize};

/// One trace, or a part of its pairs of a policy and a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The place of the trace in the plan.
    pub trace: usize,
    /// From 1. Pair `n` (from 0) is in part `n % of + 1`.
    pub part: u32,
    pub of: u32,
    /// Predicted bytes.
    pub memory: u64,
    /// Predicted milliseconds.
    pub milliseconds: u64,
}

impl Task {
    /// Predicted seconds.
    pub fn seconds(&self) -> f64 {
        self.milliseconds as f64 / 1000.0
    }
}

/// Adds the tasks of a trace: as many parts as keep each within `seconds`, and at most one for each size.
pub(super) fn divide(
    trace: usize,
    needs: &Needs,
    sizes: usize,
    seconds: f64,
    tasks: &mut Vec<Task>,
) {
    let whole = needs.simulating * sizes as f64;
    // The part of a task that is left for simulating after its trace is read, at least a tenth.
    let room = (seconds - needs.reading).max(seconds / 10.0);
    let of = ((whole / room).ceil() as usize).clamp(1, sizes.max(1)) as u32;
    let each = needs.reading + whole / f64::from(of);
    tasks.extend((1..=of).map(|part| Task {
        trace,
        part,
        of,
        memory: needs.memory,
        milliseconds: (each * 1000.0).ceil() as u64,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_has_several_parts() {
        let needs = |simulating| Needs {
            requests: 1,
            memory: 1,
            reading: 10.0,
            simulating,
        };
        let mut tasks = Vec::new();
        divide(0, &needs(1.0), 8, 100.0, &mut tasks);
        assert_eq!(tasks.len(), 1);
        divide(1, &needs(30.0), 8, 100.0, &mut tasks);
        assert_eq!(tasks.len(), 1 + 3);
        assert_eq!(
            (tasks[3].part, tasks[3].of, tasks[3].milliseconds),
            (3, 3, 90_000)
        );
        divide(2, &needs(1e6), 8, 100.0, &mut tasks);
        assert_eq!(tasks.len(), 4 + 8);
    }
}
