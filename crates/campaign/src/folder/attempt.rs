//! What is known of the last attempt at a task.
use serde::{Deserialize, Serialize};

/// An attempt at a task. It is written when the task begins, and again when the task ends. An attempt without an end
/// and without a result was killed, or still runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    pub task: usize,
    /// From 1.
    pub attempt: u32,
    pub host: String,
    /// Seconds since 1970.
    pub begun: u64,
    /// The limits of the task, in bytes and seconds.
    pub memory_limit: u64,
    pub seconds_limit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a task took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// The greatest resident memory in bytes.
    pub peak_memory: u64,
}

/// The name of this machine: as Slurm knows it, else as the kernel does.
pub fn host() -> String {
    let name = std::env::var("SLURMD_NODENAME").ok();
    let name = name.unwrap_or_else(|| {
        let about = rustix::system::uname();
        about.nodename().to_string_lossy().into_owned()
    });
    name.replace(['/', '\0'], "-")
}
