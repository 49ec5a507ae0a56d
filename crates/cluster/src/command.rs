//! The programs of schedulers.
use crate::refused;
use anyhow::{anyhow, bail, Result};
use rustix::process::{
    getpid, getppid, kill_process, set_parent_process_death_signal, Pid, Signal,
};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often `watch` is called.
const PERIOD: Duration = Duration::from_millis(500);

/// The standard output of a program that ends well.
///
/// # Errors
/// The program is missing or fails; the error has what it said.
pub fn output(command: &mut Command, engine: &str) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    // Ctrl-C is for this program, which asks what to do about it.
    let done = command
        .process_group(0)
        .output()
        .map_err(|error| missing(&error, &name, engine))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        // Lines before the last are details.
        bail!(
            "{name}: {}",
            said.trim().lines().next_back().unwrap_or_default()
        );
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// The error of a program that cannot be started.
pub fn missing(error: &io::Error, name: &str, engine: &str) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => refused!(
            "--on {engine}: there is no program {name} here; install it, or run where it is"
        ),
        _ => anyhow!("{name} cannot be started: {}", names::io_error(error)),
    }
}

/// Has the kernel send a signal to a program when the thread that started it ends, however it ends.
pub fn bound(command: &mut Command, signal: Signal) -> &mut Command {
    let parent = getpid();
    // SAFETY: the closure makes system calls only, which is allowed between fork(2) and exec(2).
    unsafe {
        command.pre_exec(move || {
            set_parent_process_death_signal(Some(signal))?;
            match getppid() == Some(parent) {
                true => Ok(()),
                // It ended before the signal was asked for.
                false => Err(io::ErrorKind::Interrupted.into()),
            }
        })
    }
}

/// Waits for a program, and calls `watch` meanwhile.
///
/// # Errors
/// As `watch`. The program gets SIGTERM then: GNU parallel ends its own programs by it.
pub fn wait(mut child: Child, watch: &dyn Fn() -> Result<()>) -> Result<ExitStatus> {
    let mut looked = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(20));
        if looked.elapsed() < PERIOD {
            continue;
        }
        looked = Instant::now();
        if let Err(error) = watch() {
            // The first error is the one to report.
            let _ = kill_process(Pid::from_child(&child), Signal::TERM);
            let _ = child.wait();
            return Err(error);
        }
    }
}

/// How long an engine may be out of reach: controllers are restarted while campaigns run.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asks an engine every `period` until nothing is left, and calls `watch` meanwhile. `reached`: it has just answered
/// something else.
///
/// # Errors
/// As `watch`, or the engine gives no first answer, or none for two minutes.
pub fn until_none(
    period: Duration,
    reached: bool,
    watch: &dyn Fn() -> Result<()>,
    left: &dyn Fn() -> Result<bool>,
) -> Result<()> {
    let mut answered = reached.then(Instant::now);
    loop {
        match left() {
            Ok(false) => return Ok(()),
            Ok(true) => answered = Some(Instant::now()),
            Err(error) if answered.is_none_or(|when| when.elapsed() > PATIENCE) => {
                return Err(error)
            }
            Err(_) => {}
        }
        let asked = Instant::now();
        while asked.elapsed() < period {
            std::thread::sleep(PERIOD.min(period));
            watch()?;
        }
    }
}
