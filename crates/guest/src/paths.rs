//! The places of files in a guest.

/// Mount point of the disk with the experiment's files.
pub const DATA: &str = "/data";
/// Mount point of the disk that workers may write to.
pub const SCRATCH: &str = "/scratch";
/// Mount point of the root of workers that are programs.
pub const ROOT: &str = "/programs";

/// Path of an experiment's file.
pub fn data_path(name: &str) -> String {
    format!("{DATA}/{name}")
}

/// Path of the file that a worker's process creates once it has settled.
pub fn settled_path(worker: &str, process: u32) -> String {
    format!("/tmp/settled-{worker}-{process}")
}
