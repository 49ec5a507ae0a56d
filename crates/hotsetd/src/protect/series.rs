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

/// A soft floor that is learned is written so many seconds apart.
const AGAIN_S: f64 = 1.0;

/// The sysctls: set at the start, and `vm.clean_low_ratio` whenever it has changed.
pub struct Series {
    /// vm.clean_low_ratio, and when it was written. `None` before the start.
    low: Option<(u32, f64)>,
    /// The sysctls are the administrator's.
    yielded: bool,
}

impl Series {
    /// `theirs`: the administrator has protection on, and the configuration asks for no hard floor. Then all four sysctls
    /// stay as they are.
    #[must_use]
    pub fn new(theirs: bool) -> Series {
        Series {
            low: None,
            yielded: theirs,
        }
    }

    /// Whether the kernel's protection is on. `None`: this kernel lacks the series.
    #[must_use]
    pub fn is_on(knobs: &KnobWriter) -> Option<bool> {
        let value = knobs.read(SYSCTLS[3]).ok()?;
        Some(value.as_str() != "0")
    }

    /// Sets the sysctls. `ratios`: anon_min, clean_min and clean_low, percent of memory.
    pub(super) fn set(&mut self, ratios: [u32; 3], tools: &mut Tools) {
        let [anon, clean, low] = ratios;
        let now_s = tools.clock.now_s();
        let before = self.low;
        let early = before.is_some_and(|(was, at_s)| was == low || now_s - at_s < AGAIN_S);
        if self.yielded || early {
            return;
        }
        self.low = Some((low, now_s));
        // The kernel bounds the sum: it may take the first only once the second has been lowered.
        let all = [(0, anon), (1, clean), (2, low), (0, anon), (3, 1)];
        let (values, why) = match before {
            None => (&all[..], "as configured"),
            Some(_) => (&all[2..3], "file pages that were read again of late"),
        };
        for (place, &(at, value)) in values.iter().enumerate() {
            let value = Text::<8>::of(format_args!("{value}"));
            let result = tools.knobs.set(SYSCTLS[at], None, value.as_str());
            match result {
                Ok(Outcome::Written { .. }) => tools.state.counts.other_writes += 1,
                Ok(Outcome::Yielded { .. }) if at == 2 => self.yielded = true,
                Err(Error::Write(_)) if place == 0 && before.is_none() => continue,
                _ => {}
            }
            tools.report(false, SYSCTLS[at], value.as_str(), &result, why);
        }
    }
}
