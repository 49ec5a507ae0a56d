//! Renders steps on standard error.
use crate::quiet::{can_redraw, is_quiet};
use crate::step::{Step, Unit};
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};
use units::format_bytes;

/// Seconds between two plain lines of one phase.
const PLAIN_PERIOD: Duration = Duration::from_secs(15);

/// Renders steps on standard error: standard output belongs to the command's result.
pub struct Console {
    terminal: bool,
    quiet: bool,
    bar: Option<ProgressBar>,
    phase: Phase,
}

struct Phase {
    title: String,
    total: Option<u64>,
    unit: Unit,
    begun: Instant,
    shown: Instant,
}

impl Console {
    /// With `quiet`, and in a quiet program, the console shows nothing at all.
    pub fn new(quiet: bool) -> Console {
        let now = Instant::now();
        Console {
            terminal: can_redraw(),
            quiet: quiet || is_quiet(),
            bar: None,
            phase: Phase {
                title: String::new(),
                total: None,
                unit: Unit::Steps,
                begun: now,
                shown: now,
            },
        }
    }

    /// Shows one step.
    pub fn step(&mut self, step: Step) {
        if self.quiet {
            return;
        }
        match step {
            Step::Begin { title, total, unit } => self.begin(title, total, unit),
            Step::Advance { done, detail } => self.advance(done, &detail),
            Step::End { text } => {
                self.clear();
                let seconds = self.phase.begun.elapsed().as_secs();
                if seconds >= 2 {
                    eprintln!("{text} ({})", duration(seconds));
                } else if self.terminal {
                    // Without a terminal, the line that began the phase is enough.
                    eprintln!("{text}");
                }
            }
            Step::Note { text } => match &self.bar {
                Some(bar) => bar.suspend(|| eprintln!("{text}")),
                None => eprintln!("{text}"),
            },
        }
    }

    fn begin(&mut self, title: String, total: Option<u64>, unit: Unit) {
        self.clear();
        let now = Instant::now();
        if self.terminal {
            let bar = match total {
                Some(total) => ProgressBar::new(total),
                None => ProgressBar::new_spinner(),
            };
            let template = match (total.is_some(), unit) {
                (true, Unit::Bytes) => "{prefix} [{bar:28}] {bytes}/{total_bytes} {eta} left {msg}",
                (true, Unit::Steps | Unit::Of(_)) => {
                    "{prefix} [{bar:28}] {percent}% {eta} left {msg}"
                }
                (false, Unit::Bytes) => "{prefix} {spinner} {bytes} {elapsed} {msg}",
                (false, Unit::Steps) => "{prefix} {spinner} {elapsed} {msg}",
                (false, Unit::Of(name)) => {
                    &format!("{{prefix}} {{spinner}} {{human_pos}} {name} {{elapsed}} {{msg}}")
                }
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(title.clone());
            bar.enable_steady_tick(Duration::from_millis(200));
            self.bar = Some(bar);
        } else {
            eprintln!("{title} ...");
        }
        self.phase = Phase {
            title,
            total,
            unit,
            begun: now,
            shown: now,
        };
    }

    fn advance(&mut self, done: u64, detail: &str) {
        if let Some(bar) = &self.bar {
            // An estimate that proves too low must not stand at 100%.
            if bar.length().is_some_and(|length| done > length) {
                bar.set_length(done);
            }
            bar.set_position(done);
            bar.set_message(detail.to_string());
        } else if self.phase.shown.elapsed() >= PLAIN_PERIOD {
            self.phase.shown = Instant::now();
            eprintln!("{}", self.phase.line(done, detail));
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Phase {
    /// A plain line: "  Building ...: 41%, 1 min 20 s, about 2 min left (CC mm/vmscan.o)".
    fn line(&self, done: u64, detail: &str) -> String {
        let spent = self.begun.elapsed().as_secs();
        let amount = match (self.total, self.unit) {
            (Some(total), _) if total > 0 => {
                let share = (done as f64 / total as f64).min(0.99);
                let left = if share > 0.02 {
                    let left = (spent as f64 / share * (1.0 - share)) as u64;
                    format!(", about {} left", duration(left))
                } else {
                    String::new()
                };
                format!("{:.0}%, {}{left}", share * 100.0, duration(spent))
            }
            (_, Unit::Bytes) => format!("{}, {}", format_bytes(done as f64), duration(spent)),
            (_, Unit::Steps) => format!("{done} steps, {}", duration(spent)),
            (_, Unit::Of(name)) => format!("{done} {name}, {}", duration(spent)),
        };
        let detail = if detail.is_empty() {
            String::new()
        } else {
            format!(" ({detail})")
        };
        format!("  {}: {amount}{detail}", self.title)
    }
}

/// A duration in seconds as text: "1 min 20 s".
pub fn duration(seconds: u64) -> String {
    match (seconds / 60, seconds % 60) {
        (0, s) => format!("{s} s"),
        (m, 0) => format!("{m} min"),
        (m, s) => format!("{m} min {s} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_names_share_time_and_detail() {
        let phase = Phase {
            title: "Building".into(),
            total: Some(200),
            unit: Unit::Steps,
            begun: Instant::now() - Duration::from_secs(80),
            shown: Instant::now(),
        };
        let line = phase.line(100, "CC mm/vmscan.o");
        assert!(
            line.contains("50%, 1 min 20 s, about 1 min 20 s left (CC mm/vmscan.o)"),
            "{line}"
        );
        let recording = Phase {
            total: None,
            unit: Unit::Of("accesses"),
            begun: Instant::now() - Duration::from_secs(80),
            ..phase
        };
        let line = recording.line(7, "");
        assert!(line.ends_with(": 7 accesses, 1 min 20 s"), "{line}");
        let phase = Phase {
            total: Some(200),
            ..recording
        };
        // Work beyond the estimate never shows as 100% while the phase goes on.
        assert!(phase.line(300, "").contains("99%"));
    }
}
