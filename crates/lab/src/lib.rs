//! Runs experiments: boots kernels in guests, and records the guests' measurements.
//!
//! The data goes this way:
//!
//! * [`experiment`] reads and checks an experiment file.
//! * [`inputs`] provides the kernels, recorded traces and data disks that the experiment names.
//! * [`guest`] packs a guest's first root and listens to the guest.
//! * [`bed`] boots guests: User-Mode Linux or QEMU.
//! * [`run`] runs all arms and repetitions.
//! * [`cluster`] has a cluster's scheduler run the repetitions, each on a host of its own.
//! * [`results`] writes [`protocol::record`]'s files.
//! * [`host`] reports facts of the host, and changes and restores the settings that guests need.
//! * [`model`] is the closed loop, in which a controller meets a model of the kernel.
pub mod bed;
pub mod cluster;
pub mod experiment;
pub mod guest;
pub mod host;
pub mod inputs;
pub mod model;
pub mod results;
pub mod run;
