//! Policies that compare objects by the distance between their last accesses.
pub mod clock_pro;
pub(crate) mod hit_density;
pub mod lhd;
pub mod lirs;
