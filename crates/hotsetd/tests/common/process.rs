//! The program itself, as a child that does not outlive its test.
#![allow(dead_code)] // Each test file uses its own part of it.
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hotsetd");
/// Longer than any step of a test takes, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Process {
    child: Child,
    log: std::path::PathBuf,
}

impl Process {
    pub fn start(root: &Path, arguments: &[&str]) -> Process {
        Process::start_as(Command::new(PROGRAM), root, arguments)
    }

    pub fn start_as(mut command: Command, root: &Path, arguments: &[&str]) -> Process {
        // The log lies beside the root, which may be read-only.
        let log = root.with_extension(format!("log{}", std::process::id()));
        let err = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        let child = command
            .arg("--root")
            .arg(root)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(err)
            .spawn()
            .unwrap();
        Process { child, log }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The last lines of the process's log.
    pub fn tail(&self) -> String {
        let log = self.log();
        let lines: Vec<_> = log.lines().rev().take(12).collect();
        lines.into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: kill only sends; the child is ours and not yet waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the process's end. Panics where it does not come.
    pub fn wait(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "the process does not end:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until `is_so`, which `goal` describes.
    pub fn until(&mut self, goal: &str, mut is_so: impl FnMut(&Process) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("waiting for {goal:?}: ended with {status}:\n{}", self.log());
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "not in time: {goal}\n{}",
                self.tail()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the log contains `text`.
    pub fn until_logged(&mut self, text: &str) {
        self.until(text, |process| process.log().contains(text));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.log);
    }
}

/// The daemon's status document; `None`: the daemon does not answer yet.
pub fn status(root: &Path) -> Option<status::Status> {
    let text = read_socket(&root.join("run/hotset/status.sock"))?;
    serde_json::from_str(&text).ok()
}

/// All that a socket gives.
pub fn read_socket(path: &Path) -> Option<String> {
    let mut text = String::new();
    UnixStream::connect(path)
        .ok()?
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}
