//! The kill: [`mod@kill`] ends one of the [`processes`] that the [`rules`] allow. `oom_group` finds those that live or
//! die together.
//!
//! * [`controller`]: from exhaustion to the kill.
//! * [`notifier`]: the process that gives notices of a kill (`notice`), and warnings to programs ([`low_memory`]).
//! * [`other_killers`]: other programs that kill when memory is short.
pub mod controller;
pub mod kill;
pub mod low_memory;
mod notice;
pub mod notifier;
mod oom_group;
pub mod other_killers;
pub mod processes;
pub mod rules;
