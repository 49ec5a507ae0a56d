//! What to do about memory, decided from what was measured: [`Observation`] in, [`Decision`] out.
//!
//! Pure: no I/O, the clock is passed in, and nothing is allocated after [`Policy::new`]. The daemon,
//! `hotset replay` and the lab's closed loop run this very code.
mod action;
pub mod ahead;
pub mod auto_floor;
mod by_stalls;
mod config;
mod dentries;
pub mod exhaustion;
pub mod floors;
mod fragmentation;
mod free_pages;
pub mod hot;
mod knob;
mod kswapd;
mod leak;
mod node;
mod observation;
mod policy;
pub mod protect;
pub mod sight;
mod tunables;
pub mod victim;
pub mod working_set;

pub use action::{
    Action, Decision, FreePagesForecast, NodeForecast, OrderForecast, Rates, Summary, Warning,
};
pub use config::{Config, Machine, Modules, Tunable, When};
pub use observation::{
    Dentries, Inodes, Knobs, Meminfo, NodeObservation, Observation, Pressure, Vmstat,
};
pub use policy::Policy;
