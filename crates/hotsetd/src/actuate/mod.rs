//! Writes to the kernel: knobs, nice values of kswapd, reclaim and compaction.
//!
//! [`apply`] carries out a decision. [`knobs`] writes every knob, after [`journal`] has its
//! original; [`knob_file`] has the knob's file, and [`knob_report`] reports the outcome. [`unit_property`]
//! has systemd write what is systemd's. [`reclaim_worker`] makes the writes that take long.
pub mod apply;
pub mod error;
pub mod journal;
pub mod knob_file;
pub mod knob_report;
pub mod knobs;
pub mod kswapd_nice;
pub mod reclaim_worker;
pub mod swappiness;
pub mod unit_property;
