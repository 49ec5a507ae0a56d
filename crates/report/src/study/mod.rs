//! Computes numbers from results. This module does no formatting and no I/O.
//!
//! Only trials that ended `ok` give numbers: a scene of a trial that died may be cut short. Every
//! other trial is listed in [`Study::failures`], and breaks the promises made of its arm.
mod arms;
pub mod charts;
pub mod comparisons;
pub mod curves;
mod difference;
pub mod figures;
pub mod measure;
pub mod promises;
pub mod ratio;
pub mod spread;
pub mod stats;
mod whole;

pub(crate) use arms::Context;
pub use arms::{ArmStudy, Setting};
pub use charts::{ChartStudy, Line};
pub use comparisons::{Compared, ComparisonStudy, Sign};
pub use curves::{CurveLine, CurvePoint, CurveStudy};
pub use difference::{difference, Difference};
pub use figures::{Cell, FigureStudy};
pub use promises::PromiseResult;
pub use ratio::{Ratio, Verdict};
pub use spread::Spread;
pub use stats::Interval;
pub use whole::{study, FailedTrial, Study};
