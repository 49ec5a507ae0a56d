//! One trace under one controller.
use super::demand::{Trace, ROW_S};
use super::kernel::Kernel;
use super::score::{Forecasts, Score};
use super::sight::{Settings, Sight};
use policy::{Action, Decision};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The model's step, seconds, and steps in a row of a trace.
pub const STEP_S: f64 = 0.01;
const STEPS: usize = 10;
/// vm.watermark_scale_factor as kernels start with it.
pub const DEFAULT_WSF: u32 = 10;
/// A stall of so many seconds wakes the policy at once, as a PSI trigger would, and no more often
/// than once in its window (Documentation/accounting/psi.rst).
pub const TRIGGER_S: f64 = 0.05;
pub const WINDOW_S: f64 = 0.5;

/// Who sets the knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// Nobody: vm.watermark_scale_factor is 10.
    None,
    /// It has another value, and keeps it.
    Static(u32),
    /// The daemon's own policy, at its level.
    Hotset(u8),
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Controller::None => write!(f, "none"),
            Controller::Static(wsf) => write!(f, "static{wsf}"),
            Controller::Hotset(2) => write!(f, "hotset"),
            Controller::Hotset(level) => write!(f, "hotset{level}"),
        }
    }
}

impl FromStr for Controller {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("expected none, static:1 to static:3000, or hotset (hotset:1 to hotset:3), not {text:?}")
        };
        match text.split_once(':') {
            None if text == "none" => Ok(Controller::None),
            None if text == "hotset" => Ok(Controller::Hotset(2)),
            Some(("static", wsf)) => match wsf.parse() {
                Ok(wsf @ 1..=3000) => Ok(Controller::Static(wsf)),
                _ => Err(wrong()),
            },
            Some(("hotset", level)) => match level.parse() {
                Ok(level @ 1..=3) => Ok(Controller::Hotset(level)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// What came of it: closed_loop.csv's columns, and the forecast's score for the policy.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub trace: String,
    pub controller: String,
    pub stall_s: f64,
    pub stall_pages: u64,
    pub dsteal: u64,
    /// kswapd's, and what the controller had reclaimed on a node.
    pub ksteal: u64,
    pub alloc: u64,
    pub wakes: u64,
    pub wsf_writes: u64,
    pub wsf_mean: f64,
    pub wsf_max: u32,
    pub wsf_end: u32,
    /// At the end of each row, as in closed_loop.csv.
    pub free_mean_pct: f64,
    pub free_min: u64,
    pub compacts: u64,
    pub oom: u8,
    pub dur: u64,
    /// The trace's own KIND.
    pub kind: String,
    #[serde(flatten)]
    pub score: Option<Score>,
    /// Of ksteal, what the controller had reclaimed, and how often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_steal: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
}

/// Runs `trace` under `controller`. `told` hears each action of the policy with its time and reason.
pub fn run(
    trace: &Trace,
    controller: Controller,
    settings: &Settings,
    told: &mut dyn FnMut(f64, Action, &str),
) -> Row {
    let wsf = match controller {
        Controller::Static(wsf) => wsf,
        _ => DEFAULT_WSF,
    };
    let mut kernel = Kernel::new(trace.machine, trace.free, trace.cache, trace.phi, wsf);
    kernel.asked_rate = settings.asked_rate;
    let mut sight = match controller {
        Controller::Hotset(level) => Some(Sight::new(trace, level, settings)),
        _ => None,
    };
    let mut decision = Decision::default();
    let mut free = Mean::default();
    let mut factor = Mean::default();
    let (mut free_min, mut wsf_max) = (f64::INFINITY, wsf);
    let mut counts = Counts::default();
    let mut wake_s = 0.0;
    let (mut stalled_s, mut armed_s) = (0.0, 0.0);
    for (index, demand) in trace.rows.iter().enumerate() {
        for step in 0..STEPS {
            let now_s = (index * STEPS + step) as f64 * STEP_S;
            if let Some(sight) = sight.as_mut() {
                let triggered = kernel.stall_s - stalled_s >= TRIGGER_S && now_s >= armed_s;
                if now_s + 1e-9 >= wake_s || triggered {
                    if triggered {
                        armed_s = now_s + WINDOW_S;
                    }
                    sight.look(now_s, &kernel, &mut decision);
                    for (action, reason) in decision.actions() {
                        told(now_s, action, reason);
                        counts.act(&mut kernel, action);
                    }
                    wake_s = now_s + decision.next_sample_s;
                    stalled_s = kernel.stall_s;
                    counts.samples += 1;
                }
            }
            kernel.step(STEP_S, *demand);
        }
        free.add(kernel.free);
        factor.add(f64::from(kernel.wsf));
        free_min = free_min.min(kernel.free);
        wsf_max = wsf_max.max(kernel.wsf);
    }
    let watched = sight.is_some();
    Row {
        trace: trace.name.clone(),
        controller: controller.to_string(),
        stall_s: round(kernel.stall_s, 2),
        stall_pages: kernel.stall_pages.round() as u64,
        dsteal: kernel.direct_steal.round() as u64,
        ksteal: (kernel.kswapd_steal + kernel.asked_steal).round() as u64,
        alloc: kernel.allocated.round() as u64,
        wakes: kernel.kswapd_wakes,
        wsf_writes: counts.wsf_writes,
        wsf_mean: round(factor.get(), 1),
        wsf_max,
        wsf_end: kernel.wsf,
        free_mean_pct: round(100.0 * free.get() / trace.machine.managed, 2),
        free_min: free_min.round() as u64,
        compacts: counts.compacts,
        oom: u8::from(kernel.out_of_memory),
        dur: (trace.rows.len() as f64 * ROW_S).round() as u64,
        kind: trace.kind.clone(),
        score: match controller {
            Controller::Hotset(level) => Some(Forecasts::open_loop(trace, level, settings).score()),
            _ => None,
        },
        asked_steal: watched.then(|| kernel.asked_steal.round() as u64),
        asks: watched.then_some(counts.asks),
        samples: watched.then_some(counts.samples),
    }
}

#[derive(Default)]
struct Counts {
    wsf_writes: u64,
    compacts: u64,
    asks: u64,
    samples: u64,
}

impl Counts {
    /// Does to the model what the daemon would do to the kernel.
    fn act(&mut self, kernel: &mut Kernel, action: Action) {
        match action {
            Action::SetWatermarkScaleFactor(wsf) => {
                kernel.set_wsf(wsf);
                self.wsf_writes += 1;
            }
            Action::ReclaimNode { bytes, .. } => {
                // A write while one is under way waits for it; the daemon keeps one at a time.
                kernel.asked = kernel.asked.max(bytes as f64 / 4096.0);
                self.asks += 1;
            }
            Action::CompactNode { .. } => {
                kernel.compact();
                self.compacts += 1;
            }
            // Nothing in the model answers to the others.
            _ => {}
        }
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

/// Rounds to `digits` places, as closed_loop.csv does.
fn round(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (value * scale).round() / scale
}
