//! The kill: [`Killer`] chooses, `signals` sends, `release` frees memory, and `dying` waits for the end.
mod dying;
mod killed;
mod killer;
mod release;
mod signals;

pub(super) use dying::PATIENCE_S;
pub use killed::{Killed, Victim};
pub use killer::Killer;
