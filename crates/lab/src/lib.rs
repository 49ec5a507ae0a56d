//! Experiments in, raw results out.
//!
//! * [`experiment`]: reads experiment files.
//! * [`bed`]: boots guests. Today User-Mode Linux.
//! * [`runner`]: runs all arms and repetitions, and writes [`raw::record`]'s files.
//! * [`attend`]: listens to one guest; [`trial`] makes a trial of what it said.
//! * [`pages`]: a guest's page-cache events as traces.
//! * [`recorded`]: traces that guests access.
//! * [`disk`], [`initramfs`], [`kernels`], [`foreign`]: what a guest boots from.
//! * [`model`]: the closed loop, where a controller meets a model of the kernel.
//! * [`lease`], [`ramdir`], [`stop`]: what is asked of the host, and put back.
pub mod attend;
pub mod bed;
pub mod boots;
pub mod cpio;
pub mod disk;
pub mod experiment;
pub mod foreign;
pub mod host;
pub mod initramfs;
pub mod kernels;
pub mod lease;
pub mod model;
pub mod order;
pub mod pages;
pub mod probe;
pub mod progress;
pub mod ramdir;
pub mod recorded;
pub mod results;
pub mod resume;
pub mod runner;
pub mod stop;
pub mod trial;
