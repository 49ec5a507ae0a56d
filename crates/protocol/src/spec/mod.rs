//! The orders that the lab hands to a guest, as JSON in `/hotset/spec.json` of its initramfs.
mod guest;
mod workload;

pub use guest::{Daemon, Disk, Failure, GuestSpec, Knob, Root, Scratch, Task, Trace};
pub use workload::{Scene, Until, Worker, Workload};
