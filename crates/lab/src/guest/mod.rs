//! One guest: the first root that it boots from, and the monitor that listens to it.
pub mod cpio;
pub mod elf;
pub mod host_program;
pub mod initramfs;
pub mod monitor;
pub mod probe;
pub mod programs;
pub mod retry;
