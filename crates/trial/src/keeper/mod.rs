//! The keeper: a process of its own, which alone writes knobs and starts programs.
//!
//! It lives in a session of its own, where no key of a terminal reaches it. When the trial ends for whatever
//! reason, its end of the pipe closes. The keeper then ends all programs, gives every knob back, and ends. When the
//! keeper is killed, the trial does the same from the journal; when both are, the next trial does.
mod client;
mod knobs;
mod programs;
mod serve;
pub mod wire;

pub use client::Keeper;
pub use serve::{restore, serve};
