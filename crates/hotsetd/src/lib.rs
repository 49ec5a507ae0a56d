//! The daemon: measures, forecasts, decides, acts, and gives changed knobs back.
//!
//! * [`config`]: the administrator's choices.
//! * [`runtime`]: the event loop and one round of it.
//! * [`observe`]: the observations that the policy decides on.
//! * [`actuate`]: the only code that writes knobs, and the journal by which each write is undone.
//! * [`protect`]: floors on a stock kernel, and the kill.
//! * [`flight`]: the flight recorder.
//! * [`telemetry`]: the log, the status document and the metrics.
//! * [`os`]: the process, its clocks, and text without allocation.
pub mod actuate;
pub mod config;
pub mod flight;
pub mod observe;
pub mod os;
pub mod protect;
pub mod runtime;
pub mod telemetry;
