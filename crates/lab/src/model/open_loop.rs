//! The policy's forecasts on a trace, under the kernel's default.
use super::constants::{DEFAULT_WSF, STEPS, STEP_S, WINDOW_S};
use super::demand::Trace;
use super::kernel::Kernel;
use super::observer::{Observer, Settings};
use super::score::Course;
use policy::Decision;

/// Runs the trace while the policy observes and does not act.
pub fn open_loop(trace: &Trace, level: u8, settings: &Settings) -> Course {
    let mut kernel = Kernel::new(
        trace.machine,
        trace.free,
        trace.cache,
        trace.phi,
        DEFAULT_WSF,
    );
    let mut observer = Observer::new(level, settings);
    let mut decision = Decision::default();
    let (mut wake_s, mut stalled_s, mut predicted) = (0.0, 0.0, false);
    let mut course = Course::new(trace.machine.managed);
    for (index, demand) in trace.rows.iter().enumerate() {
        let wakes = kernel.kswapd_wakes;
        for step in 0..STEPS {
            let now_s = (index * STEPS + step) as f64 * STEP_S;
            if now_s + 1e-9 >= wake_s || kernel.stall_s - stalled_s >= WINDOW_S {
                observer.sample(now_s, &kernel, &mut decision);
                predicted = decision.summary.nodes.iter().any(|node| node.predicted);
                wake_s = now_s + decision.next_sample_s;
                stalled_s = kernel.stall_s;
            }
            kernel.step(STEP_S, *demand);
        }
        let woke = kernel.kswapd_wakes > wakes;
        course.push(kernel.free - kernel.high, woke, predicted);
    }
    course
}
