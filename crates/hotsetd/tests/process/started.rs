//! A daemon that answers on its status socket.
use crate::common::FakeMachine;
use crate::process::{read_socket, Process};
use status::Status;

pub fn status(machine: &FakeMachine) -> Option<Status> {
    let text = read_socket(&machine.path("run/hotset/status.sock"))?;
    serde_json::from_str(&text).ok()
}

pub fn started(machine: &FakeMachine, arguments: &[&str]) -> Process {
    let mut process = Process::start(machine.root(), arguments);
    process.until("the status socket answers", |_| status(machine).is_some());
    process
}

/// Allocates until the daemon has written the knob.
pub fn burst(machine: &mut FakeMachine, process: &mut Process) {
    process.until("a burst raises the knob", |_| {
        machine.allocate(15_000, 3_000);
        machine.wsf() > 10
    });
}

pub const QUICK: &str = "[sampling]\nnear_s = 0.1\nfar_s = 1.0\n";
