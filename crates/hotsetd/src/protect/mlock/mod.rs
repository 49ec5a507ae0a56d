//! Locked file pages: [`thread`] locks [`executables`] that are [`mapped`], and [`hot_data`]; [`read_events`] reports the
//! data that programs read, and `limits` the cgroups that pay for it.
pub mod executables;
pub mod hot_data;
mod limits;
pub mod mapped;
pub mod read_events;
pub mod thread;
