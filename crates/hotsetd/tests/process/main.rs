//! The program itself on a machine of files, as its users meet it.
mod command_line;
#[path = "../common/mod.rs"]
mod common;
mod dry_run;
#[path = "../common/fake_process.rs"]
mod fake_process;
mod flight;
mod knob_kills;
mod learned;
mod lifecycle;
#[path = "../common/memory.rs"]
mod memory;
mod notes;
#[path = "../common/process.rs"]
mod process;
mod protection;
mod sockets;
mod started;
mod systemd;
