//! Decisions on memory, from measurements: [`Observation`] in, [`Decision`] out; [`snapshot::Snapshot`]
//! in, [`protect::Outcome`] out.
//!
//! Pure: no I/O, the clock is passed in, and nothing is allocated after [`Policy::new`]. The daemon,
//! `hotset replay` and the lab's closed loop run this very code.
mod config;
mod decision;
mod learned;
mod modules;
mod observation;
mod policy;
mod protection;

pub use config::{Config, Machine, Modules, Tunable, When};
pub use decision::{
    Action, Decision, FreePagesForecast, NodeForecast, OrderForecast, Rates, Summary, Warning,
};
pub use learned::Learned;
pub use observation::{
    Dentries, Inodes, Knobs, Meminfo, NodeObservation, Observation, Pressure, Vmstat,
};
pub use policy::Policy;
pub use protection::{
    exhaustion, floors, protect, snapshot, stack_distance, steering, storm, victim, working_set,
};
pub use watermarks::Watermarks;
