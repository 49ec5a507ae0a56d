//! Time series in, forecasts with their uncertainty out. Pure: no I/O, no clock, and no allocation
//! after construction.
//!
//! * [`Window`]: the last few points of a series.
//! * [`TheilSen`]: the robust slope of a series with an interval; [`least_squares`] is the baseline.
//! * [`DecayingQuantile`]: a quantile of a stream, in which old values weigh less and less.
//! * [`BlockMaxima`]: the quantile of the largest value in each stretch of time.
//! * [`time_to`]: the time until a line meets a threshold, expected and at the earliest.
mod crossing;
mod least_squares;
mod maxima;
mod quantile;
mod slope;
mod window;

pub use crossing::{time_to, Crossing};
pub use least_squares::least_squares;
pub use maxima::BlockMaxima;
pub use quantile::DecayingQuantile;
pub use slope::{Slope, TheilSen};
pub use window::Window;
