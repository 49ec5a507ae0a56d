//! The closed loop: demand traces through a model of the kernel, under a controller.
//!
//! * [`demand`]: traces in and out; [`generate`] makes fresh ones of the same kinds.
//! * [`kernel`]: the model of one node.
//! * [`closed`]: runs a trace under a controller and sums up.
//! * [`sight`]: what the policy sees of the model, and what its actions do to it.
//! * [`score`]: which exhaustions a straight line could have foretold, and which the policy did.
pub mod closed;
pub mod demand;
pub mod generate;
pub mod kernel;
pub mod score;
pub mod sight;

pub use closed::{run, Controller, Row};
pub use demand::Trace;
