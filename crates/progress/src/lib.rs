//! Shows the progress of long work: a bar on a terminal, plain lines elsewhere.
//!
//! Work sends [`Step`]s to a [`Progress`] callback; [`Console`] renders them on standard error.
//! [`Delayed`] renders nothing for work that is over within a second.
mod console;
mod delayed;
mod quiet;
mod step;

pub use console::{duration, Console};
pub use delayed::Delayed;
pub use quiet::{can_redraw, is_quiet, set_quiet};
pub use step::{Progress, Step, Unit};
