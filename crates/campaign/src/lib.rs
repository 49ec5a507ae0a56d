//! Campaigns: thousands of traces, with many policies at many sizes, as tasks that this machine or a cluster's own
//! scheduler runs.
//!
//! [`file`] reads the campaign's file, [`plan`] divides it into tasks and predicts their memory and time,
//! [`folder`] has the files of a campaign, [`task`] runs one task, [`engines`] submits tasks, [`run`] goes on until
//! each task has a result, [`merge`] writes one table, and [`study`] compares the policies.
pub mod engines;
pub mod error;
pub mod file;
pub mod folder;
pub mod merge;
pub mod plan;
pub mod run;
pub mod status;
pub mod study;
pub mod table;
pub mod task;

pub use cluster::Refused;
pub use folder::Folder;
pub use plan::Plan;
