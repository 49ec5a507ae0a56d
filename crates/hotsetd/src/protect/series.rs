//! The sysctls of a kernel that keeps the floors itself.
use super::context::Tools;
use crate::actuate::error::Error;
use crate::actuate::knobs::{KnobWriter, Outcome};
use crate::os::fixed_string::Text;

/// The last one switches protection on.
const SYSCTLS: [&str; 4] = [
    "vm.anon_min_ratio",
    "vm.clean_min_ratio",
    "vm.clean_low_ratio",
    "vm.workingset_protection",
];

/// The sysctls, set once.
#[derive(Default)]
pub struct Series {
    set: bool,
}

impl Series {
    /// Whether this kernel has the series.
    #[must_use]
    pub fn is_there(knobs: &KnobWriter) -> bool {
        knobs.read(SYSCTLS[3]).is_ok()
    }

    /// Sets the sysctls. `ratios`: anon_min, clean_min and clean_low, percent of memory.
    pub(super) fn set(&mut self, ratios: [u32; 3], tools: &mut Tools) {
        if self.set {
            return;
        }
        self.set = true;
        let [anon, clean, low] = ratios;
        // The kernel bounds the sum: it may take the first only once the second has been lowered.
        let values = [(0, anon), (1, clean), (2, low), (0, anon), (3, 1)];
        for (place, (at, value)) in values.into_iter().enumerate() {
            let value = Text::<8>::of(format_args!("{value}"));
            let result = tools.knobs.set(SYSCTLS[at], None, value.as_str());
            match result {
                Ok(Outcome::Written { .. }) => tools.state.counts.other_writes += 1,
                Err(Error::Write(_)) if place == 0 => continue,
                _ => {}
            }
            let write = tools.knob_write(SYSCTLS[at], value.as_str(), "as configured");
            write.report(&result, tools.log, tools.state);
        }
    }
}
