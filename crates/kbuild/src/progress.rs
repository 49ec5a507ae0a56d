//! Says what is going on: as a bar on a terminal, as plain lines elsewhere.
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// One piece of news from a long-running operation. Operations send at least two `Advance` a second
/// between a `Begin` and its `End`, so that a renderer can show that time goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A phase begins. `total` is in `unit`, where it is known or well guessed.
    Begin {
        what: String,
        total: Option<u64>,
        unit: Unit,
    },
    /// `done` of the phase's total is done; `detail` is what it is at ("CC mm/vmscan.o").
    Advance { done: u64, detail: String },
    /// The phase is over; `what` says so in a line.
    End { what: String },
    /// Something worth a line of its own.
    Note { what: String },
}

/// What a phase counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    /// Commands of a build, files copied.
    Steps,
}

/// Where operations send their steps.
pub type Progress<'a> = dyn FnMut(Step) + 'a;

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
    what: String,
    total: Option<u64>,
    unit: Unit,
    begun: Instant,
    said: Instant,
}

impl Console {
    /// `quiet` shows nothing at all.
    pub fn new(quiet: bool) -> Console {
        let now = Instant::now();
        Console {
            terminal: std::io::stderr().is_terminal(),
            quiet,
            bar: None,
            phase: Phase {
                what: String::new(),
                total: None,
                unit: Unit::Steps,
                begun: now,
                said: now,
            },
        }
    }

    /// Shows one step.
    pub fn step(&mut self, step: Step) {
        if self.quiet {
            return;
        }
        match step {
            Step::Begin { what, total, unit } => self.begin(what, total, unit),
            Step::Advance { done, detail } => self.advance(done, &detail),
            Step::End { what } => {
                self.clear();
                let seconds = self.phase.begun.elapsed().as_secs();
                if seconds >= 2 {
                    eprintln!("{what} ({})", duration(seconds));
                } else if self.terminal {
                    // Elsewhere the line that began the phase is enough.
                    eprintln!("{what}");
                }
            }
            Step::Note { what } => match &self.bar {
                Some(bar) => bar.suspend(|| eprintln!("{what}")),
                None => eprintln!("{what}"),
            },
        }
    }

    fn begin(&mut self, what: String, total: Option<u64>, unit: Unit) {
        self.clear();
        let now = Instant::now();
        if self.terminal {
            let bar = match total {
                Some(total) => ProgressBar::new(total),
                None => ProgressBar::new_spinner(),
            };
            let template = match (total.is_some(), unit) {
                (true, Unit::Bytes) => "{prefix} [{bar:28}] {bytes}/{total_bytes} {eta} left {msg}",
                (true, Unit::Steps) => "{prefix} [{bar:28}] {percent}% {eta} left {msg}",
                (false, Unit::Bytes) => "{prefix} {spinner} {bytes} {elapsed} {msg}",
                (false, Unit::Steps) => "{prefix} {spinner} {elapsed} {msg}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(what.clone());
            bar.enable_steady_tick(Duration::from_millis(200));
            self.bar = Some(bar);
        } else {
            eprintln!("{what} ...");
        }
        self.phase = Phase {
            what,
            total,
            unit,
            begun: now,
            said: now,
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
        } else if self.phase.said.elapsed() >= PLAIN_PERIOD {
            self.phase.said = Instant::now();
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
            (_, Unit::Bytes) => format!("{} MB, {}", done / 1_000_000, duration(spent)),
            (_, Unit::Steps) => format!("{done} steps, {}", duration(spent)),
        };
        let detail = if detail.is_empty() {
            String::new()
        } else {
            format!(" ({detail})")
        };
        format!("  {}: {amount}{detail}", self.what)
    }
}

/// Seconds for people.
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
            what: "Building".into(),
            total: Some(200),
            unit: Unit::Steps,
            begun: Instant::now() - Duration::from_secs(80),
            said: Instant::now(),
        };
        let line = phase.line(100, "CC mm/vmscan.o");
        assert!(
            line.contains("50%, 1 min 20 s, about 1 min 20 s left (CC mm/vmscan.o)"),
            "{line}"
        );
        // More done than was guessed is never "100%" while the phase goes on.
        assert!(phase.line(300, "").contains("99%"));
    }
}
