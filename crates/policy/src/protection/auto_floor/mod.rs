//! `auto` floors, sized by stalls and refaults.
mod bounds;
mod floor;
mod measurement;
mod proof;
mod search;
mod sweep;

pub use bounds::Bounds;
pub use floor::{AutoFloor, Type};
