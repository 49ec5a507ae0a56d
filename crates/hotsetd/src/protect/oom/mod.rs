//! The kill: [`kill`] ends one of the [`processes`] that the [`rules`] allow. `dying` waits for the victim's
//! end and its memory.
//!
//! * [`controller`]: from exhaustion to the kill; [`notifier`]: notices of the kill.
//! * [`other_killers`]: other programs that kill when memory is short.
pub mod controller;
mod dying;
pub mod kill;
pub mod notifier;
pub mod other_killers;
pub mod processes;
pub mod rules;
