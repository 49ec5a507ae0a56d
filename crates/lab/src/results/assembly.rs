//! Assembles the record of one trial from a guest's lines.
use crate::guest::monitor::{Ending, Heard};
use protocol::record::{Event, Outcome, SceneRecord, Trial, SCHEMA};
use protocol::wire::{Counters, Line};
use std::collections::BTreeMap;

/// A trial's record in the making, which takes the guest's lines in order.
pub struct Assembly {
    trial: Trial,
    /// The counters at the beginning of the scene that runs.
    before: Option<Counters>,
    last_ms: f64,
    /// Planned lengths of the scenes, in seconds, for [`Assembly::fraction`].
    planned: Vec<f64>,
    fraction: f64,
}

impl Assembly {
    pub fn new(arm: &str, repetition: u32, seed: u64, planned: Vec<f64>) -> Assembly {
        Assembly {
            trial: Trial {
                schema: SCHEMA,
                arm: arm.into(),
                repetition,
                seed,
                outcome: Outcome::Ok,
                release: String::new(),
                mem_total_kb: 0,
                boot_s: 0.0,
                wall_s: 0.0,
                settings: BTreeMap::new(),
                scenes: Vec::new(),
                events: Vec::new(),
                gauges: BTreeMap::new(),
                console_tail: Vec::new(),
            },
            before: None,
            last_ms: 0.0,
            planned,
            fraction: 0.0,
        }
    }

    /// The share of the trial that is done, 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// The scene that runs, or ran last.
    pub fn scene(&self) -> Option<&str> {
        self.trial.scenes.last().map(|scene| scene.name.as_str())
    }

    pub fn take(&mut self, line: Line) {
        match line {
            Line::Hello {
                t_ms,
                release,
                mem_total_kb,
                ..
            } => {
                self.moment(t_ms);
                self.trial.release = release;
                self.trial.mem_total_kb = mem_total_kb;
            }
            Line::Settings { values } => self.trial.settings.extend(values),
            Line::SceneBegin {
                t_ms,
                name,
                counters,
            } => {
                self.moment(t_ms);
                self.close(t_ms, None);
                self.before = Some(counters);
                self.trial.scenes.push(SceneRecord {
                    name,
                    begin_ms: t_ms,
                    end_ms: t_ms,
                    ..Default::default()
                });
            }
            Line::SceneEnd { t_ms, counters, .. } => {
                self.moment(t_ms);
                self.close(t_ms, Some(counters));
            }
            Line::Sample { t_ms, gauges } => {
                self.moment(t_ms);
                for (name, value) in gauges {
                    self.trial
                        .gauges
                        .entry(name)
                        .or_default()
                        .push((t_ms, value));
                }
            }
            Line::Observe { t_ms, name, value } => {
                self.moment(t_ms);
                self.observe(t_ms, name, value);
            }
            Line::Event { t_ms, name, detail } => {
                self.moment(t_ms);
                self.trial.events.push(Event { t_ms, name, detail });
            }
            Line::Progress { fraction } => self.fraction = fraction.clamp(self.fraction, 1.0),
            Line::Error { .. } | Line::PageCache { .. } => {}
            Line::End { t_ms } => {
                self.moment(t_ms);
                self.fraction = 1.0;
            }
        }
    }

    fn moment(&mut self, t_ms: f64) {
        self.last_ms = self.last_ms.max(t_ms);
        let done = self.trial.scenes.len().saturating_sub(1);
        let total: f64 = self.planned.iter().sum();
        if let (Some(scene), Some(planned)) = (self.trial.scenes.last(), self.planned.get(done)) {
            let before: f64 = self.planned[..done].iter().sum();
            let here = ((t_ms - scene.begin_ms) / 1e3).clamp(0.0, *planned);
            self.fraction = self.fraction.max((before + here) / total);
        }
    }

    /// Ends the scene that runs. Without counters at its end, the growth of the counters is unknown and
    /// left out.
    fn close(&mut self, t_ms: f64, after: Option<Counters>) {
        let (Some(before), Some(scene)) = (self.before.take(), self.trial.scenes.last_mut()) else {
            return;
        };
        scene.end_ms = t_ms;
        for (name, after) in after.into_iter().flatten() {
            let before = before.get(&name).copied().unwrap_or(0.0);
            scene.counters.insert(name, after - before);
        }
    }

    /// Adds an observation to the scene in which it was made, also when its line comes late.
    fn observe(&mut self, t_ms: f64, name: String, value: f64) {
        let scenes = &mut self.trial.scenes;
        let at = scenes.iter().rposition(|scene| scene.begin_ms <= t_ms);
        let series = match at {
            Some(at) => scenes[at].observations.entry(name).or_default(),
            // Before the first scene there is no scene, so a gauge keeps the value.
            None => self.trial.gauges.entry(name).or_default(),
        };
        let place = series.partition_point(|(t, _)| *t <= t_ms);
        series.insert(place, (t_ms, value));
    }

    /// Records that the bed caused panics at the boot, and that the guest was booted again `times` times.
    pub fn booted_again(&mut self, times: u32) {
        self.trial.events.push(Event {
            t_ms: 0.0,
            name: "lab.booted-again".into(),
            detail: format!("{times}: see the console's log"),
        });
    }

    /// The record of the trial. `silent_s` is the time limit for silence, in seconds.
    pub fn finish(mut self, heard: Heard, silent_s: u64) -> Trial {
        let last = self.last_ms;
        self.close(last, None);
        let mut trial = self.trial;
        trial.boot_s = heard.boot.as_secs_f64();
        trial.wall_s = heard.wall.as_secs_f64();
        trial.outcome = match heard.ending {
            Ending::Finished => Outcome::Ok,
            Ending::Error(message) => Outcome::Failed { message },
            Ending::Panic(message) => Outcome::Panic { message },
            Ending::Silent => Outcome::Hang { silent_s },
            Ending::TooLong => Outcome::Failed {
                message: format!("not finished after {:.0} s", trial.wall_s),
            },
            Ending::Died(how) => Outcome::Failed {
                message: died(&how, &heard.tail),
            },
            Ending::Stopped => Outcome::Failed {
                message: "interrupted".into(),
            },
        };
        if let Some((first, count)) = heard.garbled {
            trial.events.push(Event {
                t_ms: last,
                name: "lab.garbled-lines".into(),
                detail: format!(
                    "{count}, the first: {}",
                    first.chars().take(200).collect::<String>()
                ),
            });
        }
        if trial.outcome != Outcome::Ok {
            trial.console_tail = heard.tail;
        }
        trial
    }
}

/// The message for a guest whose process ended by itself, with the reason if the console has it.
fn died(how: &str, tail: &[String]) -> String {
    if tail
        .iter()
        .any(|line| line.contains("ran out of memory on the host side"))
    {
        return format!(
            "the guest ended ({how}): out of mappings, raise vm.max_map_count on the host"
        );
    }
    let last = tail.iter().rev().find(|line| !line.trim().is_empty());
    format!(
        "the guest ended by itself ({how}); the last line of its console: {}",
        { last.map_or("none", String::as_str) }
    )
}
