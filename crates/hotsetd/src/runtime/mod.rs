//! The event loop, one round of it, and its wakes.
pub mod daemon;
pub mod event_loop;
pub mod learned_file;
pub mod lock_file;
pub mod restore;
pub mod sd_notify;
pub mod startup;
pub mod wake;
