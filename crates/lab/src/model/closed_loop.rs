//! Runs one trace under one controller.
use super::constants::{DEFAULT_WSF, STEPS, STEP_S, TRIGGER_S, WINDOW_S};
use super::controller::Controller;
use super::demand::{Trace, ROW_S};
use super::kernel::Kernel;
use super::observer::{Observer, Settings};
use super::open_loop::open_loop;
use super::score::Score;
use policy::{Action, Decision};
use serde::Serialize;

/// The result: a row of the table, and the forecast's score for the policy.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub trace: String,
    pub controller: String,
    /// Seconds in which an allocation waited.
    pub stall_s: f64,
    /// Pages that allocations waited for.
    pub stall_pages: u64,
    /// Pages that direct reclaim freed.
    pub dsteal: u64,
    /// Pages that kswapd freed, and pages that were freed on the controller's request.
    pub ksteal: u64,
    pub alloc: u64,
    pub wakes: u64,
    pub wsf_writes: u64,
    pub wsf_mean: f64,
    pub wsf_max: u32,
    pub wsf_end: u32,
    /// The mean share of free pages at the ends of rows, in percent of the managed pages.
    pub free_mean_pct: f64,
    pub free_min: u64,
    pub compacts: u64,
    pub oom: u8,
    pub dur: u64,
    /// The kind of the trace, from its header.
    pub kind: String,
    #[serde(flatten)]
    pub score: Option<Score>,
    /// The pages of `ksteal` that were freed on the controller's request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_steal: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
}

/// Runs `trace` under `controller`. `on_action` gets each action of the policy with its time in
/// seconds and its reason.
pub fn run(
    trace: &Trace,
    controller: Controller,
    settings: &Settings,
    on_action: &mut dyn FnMut(f64, Action, &str),
) -> Row {
    let wsf = match controller {
        Controller::Static(wsf) => wsf,
        _ => DEFAULT_WSF,
    };
    let mut kernel = Kernel::new(trace.machine, trace.free, trace.cache, trace.phi, wsf);
    kernel.asked_rate = settings.asked_rate;
    let mut daemon = match controller {
        Controller::Hotset(level) => Some(Daemon::new(level, settings)),
        _ => None,
    };
    let mut levels = Levels::new(wsf);
    for (index, demand) in trace.rows.iter().enumerate() {
        for step in 0..STEPS {
            if let Some(daemon) = daemon.as_mut() {
                let now_s = (index * STEPS + step) as f64 * STEP_S;
                daemon.wake(now_s, &mut kernel, on_action);
            }
            kernel.step(STEP_S, *demand);
        }
        levels.add(&kernel);
    }
    let score = match controller {
        Controller::Hotset(level) => Some(open_loop(trace, level, settings).score()),
        _ => None,
    };
    row(trace, controller, &kernel, &levels, daemon.as_ref(), score)
}

/// The row of a finished run.
fn row(
    trace: &Trace,
    controller: Controller,
    kernel: &Kernel,
    levels: &Levels,
    daemon: Option<&Daemon>,
    score: Option<Score>,
) -> Row {
    Row {
        trace: trace.name.clone(),
        controller: controller.to_string(),
        stall_s: round(kernel.stall_s, 2),
        stall_pages: kernel.stall_pages.round() as u64,
        dsteal: kernel.direct_steal.round() as u64,
        ksteal: (kernel.kswapd_steal + kernel.asked_steal).round() as u64,
        alloc: kernel.allocated.round() as u64,
        wakes: kernel.kswapd_wakes,
        wsf_writes: daemon.map_or(0, |daemon| daemon.wsf_writes),
        wsf_mean: round(levels.wsf.get(), 1),
        wsf_max: levels.wsf_max,
        wsf_end: kernel.wsf,
        free_mean_pct: round(100.0 * levels.free.get() / trace.machine.managed, 2),
        free_min: levels.free_min.round() as u64,
        compacts: daemon.map_or(0, |daemon| daemon.compacts),
        oom: u8::from(kernel.out_of_memory),
        dur: (trace.rows.len() as f64 * ROW_S).round() as u64,
        kind: trace.kind.clone(),
        score,
        asked_steal: daemon.map(|_| kernel.asked_steal.round() as u64),
        asks: daemon.map(|daemon| daemon.asks),
        samples: daemon.map(|daemon| daemon.samples),
    }
}

/// The daemon in the loop: its policy, its timer, and counts of its actions.
struct Daemon {
    observer: Observer,
    decision: Decision,
    /// The time of the next sample.
    wake_s: f64,
    /// The time before which no stall wakes the policy.
    armed_s: f64,
    /// The stalls until the last sample.
    stalled_s: f64,
    wsf_writes: u64,
    compacts: u64,
    asks: u64,
    samples: u64,
}

impl Daemon {
    fn new(level: u8, settings: &Settings) -> Daemon {
        Daemon {
            observer: Observer::new(level, settings),
            decision: Decision::default(),
            wake_s: 0.0,
            armed_s: 0.0,
            stalled_s: 0.0,
            wsf_writes: 0,
            compacts: 0,
            asks: 0,
            samples: 0,
        }
    }

    /// Takes a sample and acts, if it is time or the kernel has stalled.
    fn wake(
        &mut self,
        now_s: f64,
        kernel: &mut Kernel,
        on_action: &mut dyn FnMut(f64, Action, &str),
    ) {
        let triggered = kernel.stall_s - self.stalled_s >= TRIGGER_S && now_s >= self.armed_s;
        if now_s + 1e-9 < self.wake_s && !triggered {
            return;
        }
        if triggered {
            self.armed_s = now_s + WINDOW_S;
        }
        let mut decision = std::mem::take(&mut self.decision);
        self.observer.sample(now_s, kernel, &mut decision);
        for (action, reason) in decision.actions() {
            on_action(now_s, action, reason);
            self.act(kernel, action);
        }
        self.wake_s = now_s + decision.next_sample_s;
        self.stalled_s = kernel.stall_s;
        self.samples += 1;
        self.decision = decision;
    }

    /// Carries out an action of the policy on the model.
    fn act(&mut self, kernel: &mut Kernel, action: Action) {
        match action {
            Action::SetWatermarkScaleFactor(wsf) => {
                kernel.set_wsf(wsf);
                self.wsf_writes += 1;
            }
            Action::ReclaimNode { bytes, .. } => {
                // The daemon has one request at a time: a write waits for the one under way.
                kernel.asked = kernel.asked.max(bytes as f64 / 4096.0);
                self.asks += 1;
            }
            Action::CompactNode { .. } => {
                kernel.compact();
                self.compacts += 1;
            }
            // The model has nothing that other actions could change.
            _ => {}
        }
    }
}

/// The course of free pages and of vm.watermark_scale_factor.
struct Levels {
    free: Mean,
    wsf: Mean,
    free_min: f64,
    wsf_max: u32,
}

impl Levels {
    fn new(wsf: u32) -> Levels {
        Levels {
            free: Mean::default(),
            wsf: Mean::default(),
            free_min: f64::INFINITY,
            wsf_max: wsf,
        }
    }

    /// Adds the state at the end of a row.
    fn add(&mut self, kernel: &Kernel) {
        self.free.add(kernel.free);
        self.wsf.add(f64::from(kernel.wsf));
        self.free_min = self.free_min.min(kernel.free);
        self.wsf_max = self.wsf_max.max(kernel.wsf);
    }
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn get(&self) -> f64 {
        self.sum / self.count
    }
}

/// Rounds to `digits` decimal places.
fn round(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}
