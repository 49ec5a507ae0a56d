//! Policies that compare objects by the distance between their last accesses.
pub mod clock_pro;
mod hit_density;
pub mod lhd;
pub mod lirs;
