//! Locked file pages: [`thread`] locks [`executables`] and [`hot_data`]; [`read_events`] reports the
//! data that programs read.
pub mod executables;
pub mod hot_data;
pub mod read_events;
pub mod thread;
