//! The modules that run with every observation.
//!
//! [`free_pages`] sizes the headroom and needs [`kswapd`]'s state. The others stand alone. [`knob`] keeps
//! the owner of each sysctl.
pub mod delta;
pub mod fragmentation;
pub mod free_pages;
pub mod knob;
pub mod kswapd;
pub mod leak;
pub mod negative_dentries;
pub mod object_caching;
pub mod tunables;
