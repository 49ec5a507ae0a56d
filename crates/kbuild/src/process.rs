//! Runs other programs, and reads their output line by line. They end when the calling thread ends.
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::time::Duration;

/// An event of a running program.
pub enum Event<'a> {
    Stdout(&'a str),
    Stderr(&'a str),
    /// The program wrote nothing for half a second.
    Silence,
}

/// A child process that ends with its guard, whether the guard is dropped or unwound.
pub struct Guarded(pub Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            // SIGTERM lets make clean up after itself; its jobs end with it.
            if let Some(pid) = rustix::process::Pid::from_raw(self.0.id() as i32) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            let _ = self.0.wait();
        }
    }
}

/// Starts a program. The kernel sends it SIGTERM when the calling thread ends.
///
/// # Errors
/// When the program cannot be started, naming it.
pub fn spawn(command: &mut Command) -> Result<Guarded> {
    // SAFETY: the closure runs between fork and exec and makes one system call, prctl, without
    // allocating.
    unsafe {
        command.pre_exec(|| {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
            Ok(())
        });
    }
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command
        .spawn()
        .with_context(|| format!("cannot start `{name}`: script/bootstrap installs it"))?;
    Ok(Guarded(child))
}

/// Runs a program to its end and hands each line of both streams to `each`. Invalid UTF-8 is
/// replaced.
///
/// # Errors
/// When the program cannot be started or waited for. A failure of the program itself is in the
/// status.
pub fn run(command: &mut Command, each: &mut dyn FnMut(Event)) -> Result<ExitStatus> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut guarded = spawn(command)?;
    let (sender, receiver) = channel();
    if let Some(stream) = guarded.0.stdout.take() {
        forward(stream, false, sender.clone());
    }
    if let Some(stream) = guarded.0.stderr.take() {
        forward(stream, true, sender);
    }
    loop {
        match receiver.recv_timeout(Duration::from_millis(500)) {
            Ok((false, line)) => each(Event::Stdout(&line)),
            Ok((true, line)) => each(Event::Stderr(&line)),
            Err(RecvTimeoutError::Timeout) => each(Event::Silence),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    guarded.0.wait().context("waiting for a program")
}

fn forward(stream: impl Read + Send + 'static, is_err: bool, to: Sender<(bool, String)>) {
    std::thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line);
            if to
                .send((is_err, text.trim_end_matches('\n').to_string()))
                .is_err()
            {
                return;
            }
            line.clear();
        }
    });
}

/// The whole output of a program that writes little.
pub struct Output {
    pub status: ExitStatus,
    pub out: String,
    pub err: String,
}

/// Runs a program to its end and returns its output.
///
/// # Errors
/// As [`run`].
pub fn output(command: &mut Command) -> Result<Output> {
    let (mut out, mut err) = (String::new(), String::new());
    let status = run(command, &mut |event| match event {
        Event::Stdout(line) => {
            out.push_str(line);
            out.push('\n');
        }
        Event::Stderr(line) => {
            err.push_str(line);
            err.push('\n');
        }
        Event::Silence => {}
    })?;
    Ok(Output { status, out, err })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_streams_and_the_status_arrive() {
        let output =
            output(Command::new("sh").args(["-c", "echo a; echo b >&2; printf c; exit 3"]))
                .unwrap();
        assert_eq!(output.out, "a\nc\n");
        assert_eq!(output.err, "b\n");
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = output(&mut Command::new("no-such-program-hotset"))
            .err()
            .unwrap();
        assert!(error.to_string().contains("no-such-program-hotset"));
    }

    #[test]
    fn a_dropped_guard_ends_its_child() {
        let guarded = spawn(Command::new("sleep").arg("1000")).unwrap();
        let pid = rustix::process::Pid::from_raw(guarded.0.id() as i32).unwrap();
        drop(guarded);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }
}
