//! The kill: [`mod@kill`] ends one of the [`processes`] that the [`rules`] allow. `read_process` reads their files,
//! and `oom_group` finds those that live or die together.
//!
//! * [`controller`]: from exhaustion to the kill; [`notifier`]: notices of the kill.
//! * [`other_killers`]: other programs that kill when memory is short.
pub mod controller;
pub mod kill;
pub mod notifier;
mod oom_group;
pub mod other_killers;
pub mod processes;
mod read_process;
pub mod rules;
