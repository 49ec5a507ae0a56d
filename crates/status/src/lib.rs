//! The status document, which hotsetd sends on its status socket and `hotset status` shows.
//!
//! Daemon and client may be of different versions. So the reader ignores unknown fields, and a field
//! that is missing, `null` or of another type has its default.
mod daemon;
mod protection;
mod tolerant;

pub use daemon::{
    Action, Counts, FreePages, Knob, KnobValue, Modules, Node, Order, Rates, Status, REQUIRED,
    SCHEMA,
};
pub use protection::{
    Cgroup, Enforcer, Kills, LockedFile, LockedFiles, Protection, ProtectionCounts, Steering,
    Victim,
};
