//! Promises held against measurements.
//!
//! A promise holds only on whole evidence. A trial of its arm that failed, never ran or gave no
//! number breaks the promise: the missing value may be the worst.
//!
//! A promise judged by its interval may also be unsure: the trials are too few, or too far apart, for a
//! decision. An unsure promise counts as kept only where the plan allows it.
mod check;
mod evidence;
mod judge;
mod monotonic;
mod result;

pub(crate) use check::study;
pub use result::{Bound, PromiseResult, Standing};
