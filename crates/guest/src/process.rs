//! Signals to processes, and how processes ended.
use rustix::process::{Pid, Signal, WaitStatus};

/// Sends a signal. A process that is gone already is no error.
pub fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// "exit 0" or "signal 9".
pub fn describe_end(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "?".into(),
    }
}
