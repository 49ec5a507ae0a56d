//! Locked file pages: [`thread`] locks [`executables`] and [`hot_data`]; [`read_events`] reports the
//! data that programs read, and `limits` the cgroups that pay for it.
pub mod executables;
pub mod hot_data;
mod limits;
pub mod read_events;
pub mod thread;
