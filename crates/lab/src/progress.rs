//! Shows a run's progress: a bar for each running guest on a terminal, else a line now and then.
//! Everything goes to standard error.
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use raw::record::Outcome;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Between plain lines.
const PERIOD: Duration = Duration::from_secs(10);

/// What happens in a run.
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

/// Renders [`News`].
pub struct Display {
    total: usize,
    done: usize,
    /// How long the trials that ended took together, in seconds.
    took: f64,
    begun: Instant,
    said: Instant,
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
    pub fn new(total: usize, jobs: usize, quiet: bool) -> Display {
        let now = Instant::now();
        let terminal = !quiet && std::io::stderr().is_terminal();
        let bars = terminal.then(|| {
            let multi = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let whole = multi.add(bar("{msg:40} [{bar:30}] {percent:>3}%"));
            (multi, whole)
        });
        Display {
            total,
            done: 0,
            took: 0.0,
            begun: now,
            said: now,
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
                let said = format!("{name}: {} ({wall_s:.0} s)", in_words(&outcome));
                match &self.bars {
                    Some((multi, _)) => {
                        let _ = multi.println(said);
                    }
                    None if self.quiet => {}
                    None => eprintln!("[{}/{}] {said}", self.done, self.total),
                }
            }
        }
        self.tick();
    }

    /// Called now and then, also without news.
    pub fn tick(&mut self) {
        let running: f64 = self.jobs.iter().map(|job| job.fraction).sum();
        let fraction = (self.done as f64 + running) / self.total.max(1) as f64;
        let left = in_minutes(self.left(fraction));
        let (done, total) = (self.done, self.total);
        if let Some((_, whole)) = &self.bars {
            whole.set_position((fraction * 1000.0) as u64);
            whole.set_message(format!("{done} of {total} trials{left}"));
        } else if !self.quiet && self.said.elapsed() >= PERIOD {
            self.said = Instant::now();
            let running: Vec<String> = self
                .jobs
                .iter()
                .filter(|job| !job.name.is_empty())
                .map(|job| format!("{} {:.0}% {}", job.name, job.fraction * 100.0, job.scene))
                .collect();
            eprintln!("[{done}/{total}] {}{left}", running.join(", "));
        }
    }

    /// Seconds to go, once there is something to tell it from. `fraction` is of what is planned, and a
    /// scene that goes on until something happens mostly ends long before; what trials took tells more.
    fn left(&self, fraction: f64) -> Option<f64> {
        let elapsed = self.begun.elapsed().as_secs_f64();
        if self.done > 0 {
            let running = self.jobs.iter().filter_map(|job| job.begun);
            let running: Vec<f64> = running.map(|begun| begun.elapsed().as_secs_f64()).collect();
            let mean = self.took / self.done as f64;
            return Some(still(mean, self.total - self.done, &running));
        }
        (fraction >= 0.01).then(|| elapsed / fraction * (1.0 - fraction))
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

/// Seconds that `trials` more take of `mean` each, those included that have been `running` for so long.
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

/// "ok", or what went wrong in a line.
pub fn in_words(outcome: &Outcome) -> String {
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

    /// near-oom's scenes may last an hour and end after minutes: what the first took is what counts.
    #[test]
    fn what_is_left_is_told_from_trials_that_ended() {
        assert_eq!(still(60.0, 4, &[30.0, 10.0]), 100.0);
        assert_eq!(still(60.0, 1, &[90.0]), 0.0);
        assert_eq!(still(60.0, 2, &[]), 120.0);
        assert_eq!(in_minutes(Some(150.0)), ", about 2 min left");
        assert_eq!(in_minutes(None), "");
    }
}
