//! The closed loop: demand traces through a model of the kernel, under a controller.
//!
//! * [`demand`] reads and writes traces; [`generate`] makes fresh ones of the same kinds.
//! * [`kernel`] is the model of one memory node.
//! * [`controller`] names the controllers; [`closed_loop`] runs a trace under one and sums up.
//! * [`observer`] shows the model to the policy.
//! * [`open_loop`] has the policy forecast and not act; [`score`] scores the forecasts.
pub mod closed_loop;
mod constants;
pub mod controller;
pub mod demand;
pub mod generate;
pub mod kernel;
pub mod observer;
pub mod open_loop;
pub mod score;

pub use closed_loop::{run, Row};
pub use controller::Controller;
pub use demand::Trace;
pub use observer::Settings;
