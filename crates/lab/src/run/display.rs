//! Shows a run's progress on standard error: on a terminal a bar for each running guest, else a line
//! every ten seconds.
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use protocol::record::Outcome;
use std::time::{Duration, Instant};

/// The time between plain lines.
const PERIOD: Duration = Duration::from_secs(10);

/// The events of a run.
#[derive(Clone, Debug)]
pub enum News {
    Begun {
        job: usize,
        name: String,
    },
    At {
        job: usize,
        fraction: f64,
        scene: String,
    },
    Ended {
        job: usize,
        name: String,
        outcome: Outcome,
        wall_s: f64,
    },
}

/// Shows [`News`].
pub struct Display {
    total: usize,
    done: usize,
    /// Trials among those that an earlier run made.
    before: usize,
    /// The sum of the lengths of the trials that ended, in seconds.
    took: f64,
    begun: Instant,
    /// The time of the last plain line.
    printed: Instant,
    quiet: bool,
    jobs: Vec<Job>,
    bars: Option<(MultiProgress, ProgressBar)>,
}

#[derive(Default)]
struct Job {
    name: String,
    scene: String,
    fraction: f64,
    begun: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Display {
    /// `total` trials are to be made, besides those that were made `before`.
    pub fn new(total: usize, before: usize, jobs: usize, quiet: bool) -> Display {
        let now = Instant::now();
        let quiet = quiet || progress::is_quiet();
        let terminal = !quiet && progress::can_redraw();
        if before > 0 && !quiet {
            eprintln!("[{before}/{}] {before} done before", total + before);
        }
        let bars = terminal.then(|| {
            let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let whole = multi.add(bar("{msg:40} [{bar:30}] {percent:>3}%"));
            (multi, whole)
        });
        Display {
            total: total + before,
            done: before,
            before,
            took: 0.0,
            begun: now,
            printed: now,
            quiet,
            jobs: (0..jobs).map(|_| Job::default()).collect(),
            bars,
        }
    }

    pub fn news(&mut self, news: News) {
        match news {
            News::Begun { job, name } => {
                let bar = self.bars.as_ref().map(|(multi, whole)| {
                    multi.insert_before(whole, bar("  {prefix:38} [{bar:30}] {percent:>3}% {msg}"))
                });
                if let Some(bar) = &bar {
                    bar.set_prefix(name.clone());
                }
                self.jobs[job] = Job {
                    name,
                    bar,
                    begun: Some(Instant::now()),
                    ..Job::default()
                };
            }
            News::At {
                job,
                fraction,
                scene,
            } => {
                let job = &mut self.jobs[job];
                if let Some(bar) = &job.bar {
                    bar.set_position((fraction * 1000.0) as u64);
                    bar.set_message(scene.clone());
                }
                (job.fraction, job.scene) = (fraction, scene);
            }
            News::Ended {
                job,
                name,
                outcome,
                wall_s,
            } => {
                self.done += 1;
                self.took += wall_s;
                if let Some(bar) = std::mem::take(&mut self.jobs[job]).bar {
                    bar.finish_and_clear();
                }
                let line = format!("{name}: {} ({wall_s:.0} s)", message(&outcome));
                match &self.bars {
                    Some((multi, _)) => {
                        let _ = multi.println(line);
                    }
                    None if self.quiet => {}
                    None => eprintln!("[{}/{}] {line}", self.done, self.total),
                }
            }
        }
        self.tick();
    }

    /// Shows the time that is left. To be called several times a second, also without news.
    pub fn tick(&mut self) {
        let running: f64 = self.jobs.iter().map(|job| job.fraction).sum();
        let fraction = (self.done as f64 + running) / self.total.max(1) as f64;
        let left = in_minutes(self.left(fraction));
        let (done, total) = (self.done, self.total);
        if let Some((_, whole)) = &self.bars {
            whole.set_position((fraction * 1000.0) as u64);
            whole.set_message(format!("{done} of {total} trials{left}"));
        } else if !self.quiet && self.printed.elapsed() >= PERIOD {
            self.printed = Instant::now();
            let running: Vec<String> = self
                .jobs
                .iter()
                .filter(|job| !job.name.is_empty())
                .map(|job| format!("{} {:.0}% {}", job.name, job.fraction * 100.0, job.scene))
                .collect();
            if !running.is_empty() {
                eprintln!("[{done}/{total}] {}{left}", running.join(", "));
            }
        }
    }

    /// The seconds that are left; none before they can be estimated. `fraction` is the share of the planned
    /// time. A scene that ends on an event mostly ends long before its limit, so the lengths of finished
    /// trials are a better estimate.
    fn left(&self, fraction: f64) -> Option<f64> {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let here = self.done - self.before;
        if here > 0 {
            let running = self.jobs.iter().filter_map(|job| job.begun);
            let running: Vec<f64> = running.map(|begun| begun.elapsed().as_secs_f64()).collect();
            let mean = self.took / here as f64;
            return Some(still(mean, self.total - self.done, &running));
        }
        let before = self.before as f64 / self.total.max(1) as f64;
        let here = fraction - before;
        (here >= 0.01).then(|| elapsed / here * (1.0 - fraction))
    }

    pub fn finish(self) {
        if let Some((_, whole)) = &self.bars {
            whole.finish_and_clear();
        }
    }
}

fn bar(template: &str) -> ProgressBar {
    let bar = ProgressBar::new(1000);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

/// The seconds for `trials` more trials of `mean` seconds each. `running` has the seconds since the
/// beginning of each running one.
fn still(mean: f64, trials: usize, running: &[f64]) -> f64 {
    let begun: f64 = running.iter().map(|ran| ran.min(mean)).sum();
    (mean * trials as f64 - begun).max(0.0) / running.len().max(1) as f64
}

/// ", about 3 min left".
fn in_minutes(left: Option<f64>) -> String {
    match left {
        None => String::new(),
        Some(left) if left < 60.0 => format!(", about {left:.0} s left"),
        Some(left) => format!(", about {:.0} min left", left / 60.0),
    }
}

/// An outcome in one line: "ok", or the reason of the failure.
pub fn message(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".into(),
        Outcome::Panic { message } => format!("the kernel panicked: {message}"),
        Outcome::Hang { silent_s } => format!("hung: silent for {silent_s} s"),
        Outcome::Failed { message } => format!("failed: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scene's limit may be an hour, and the scene may end after minutes.
    #[test]
    fn the_time_left_is_estimated_from_trials_that_ended() {
        assert_eq!(still(60.0, 4, &[30.0, 10.0]), 100.0);
        assert_eq!(still(60.0, 1, &[90.0]), 0.0);
        assert_eq!(still(60.0, 2, &[]), 120.0);
        assert_eq!(in_minutes(Some(150.0)), ", about 2 min left");
        assert_eq!(in_minutes(None), "");
    }
}
