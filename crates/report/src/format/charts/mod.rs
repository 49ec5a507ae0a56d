//! Charts as SVG.
mod areas;
mod bars;
pub(super) mod curve;
mod dots;
pub mod line_chart;
pub mod marks;
mod panels;
pub mod scale;
mod svg;

pub(super) use bars::bars;
pub(super) use dots::dots;
pub(super) use panels::panels;
pub(super) use svg::key;
