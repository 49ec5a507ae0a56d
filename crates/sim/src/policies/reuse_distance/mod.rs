//! Policies that compare objects by the distance between their last two accesses.
pub mod clock_pro;
pub mod lirs;
