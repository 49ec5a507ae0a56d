//! The league: challengers, and the scenes in which they meet. docs/design/league.md has the yardstick.
mod cells;
mod challenger;
mod swap;

pub use cells::{cells, Cell, Wanted, PRESSURE, SCENES};
pub use challenger::{own, parse, read, Challenger};
pub use swap::Swap;
