//! Writes to the kernel: knobs, nice values of kswapd, reclaim and compaction.
//!
//! [`apply`] carries out a decision. [`knobs`] writes every knob, after [`journal`] has its
//! original; [`knob_report`] reports the outcome. [`reclaim_worker`] makes the writes that take long. [`unit_property`] has
//! systemd write what is systemd's.
pub mod apply;
pub mod error;
pub mod journal;
pub mod knob_report;
pub mod knobs;
pub mod kswapd_nice;
pub mod reclaim_worker;
pub mod swappiness;
pub mod unit_property;
