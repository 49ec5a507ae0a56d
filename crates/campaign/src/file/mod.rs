//! The campaign's file: which traces, policies and sizes.
mod definition;
mod number;
mod reading;
mod traces;

pub use definition::{Definition, Tasks};
pub use number::Number;
pub use reading::Reading;
pub use traces::{found, Origin, Source, Trace};
