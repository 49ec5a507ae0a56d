//! The tasks of PID 1: the workload's scenes with the arm's daemon beside them, or the kernel's
//! selftests.
mod daemon;
mod programs;
pub mod selftest;
pub mod sequence;
mod systemd;
mod workers;
