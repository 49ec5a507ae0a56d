//! The programs that the keeper starts, and their ends.
use super::wire::Ending;
use processes::descendants::{self, Process};
use rustix::process::Signal;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The time that programs have to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
/// The time from SIGKILL until a process that does not die is left alone.
const LAST: Duration = Duration::from_secs(20);
/// The time between two looks.
const AGAIN: Duration = Duration::from_millis(5);

/// A program that was started.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    pub pid: i32,
    pub since: Instant,
}

/// Starts a program in a process group of its own, with its output in a log. When the keeper dies, the program gets
/// the signal `dying`.
///
/// # Errors
/// The log or the program cannot be opened.
pub fn start(words: &[OsString], log: &Path, dying: Signal, oom: &str) -> io::Result<Started> {
    let named = |error: io::Error| {
        let text = format!("{}: {}", names::shown(log), names::io_error(&error));
        io::Error::new(error.kind(), text)
    };
    let file = File::options().create(true).append(true).open(log);
    let file = file.map_err(named)?;
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(file.try_clone().map_err(named)?)
        .stderr(file)
        .env_remove("NOTIFY_SOCKET")
        .process_group(0);
    let oom = oom.to_owned();
    // SAFETY: the closure makes system calls only, which is allowed between fork(2) and exec(2).
    unsafe {
        command.pre_exec(move || {
            for ignored in [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGTSTP] {
                libc::signal(ignored, libc::SIG_DFL);
            }
            rustix::process::set_parent_process_death_signal(Some(dying))?;
            spare(&oom);
            Ok(())
        });
    }
    let since = Instant::now();
    let child = command.spawn().map_err(|error| {
        let text = format!(
            "{}: {}",
            names::shown(Path::new(&words[0])),
            names::io_error(&error)
        );
        io::Error::new(error.kind(), text)
    })?;
    let pid = child.id() as i32;
    Ok(Started { pid, since })
}

/// Writes this process's oom_score_adj, as far as it may. Allocates nothing.
pub fn spare(score: &str) {
    let path = c"/proc/self/oom_score_adj";
    // SAFETY: the path ends in a zero byte, the text is valid for its length, and the descriptor is this function's.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, score.as_ptr().cast(), score.len());
            libc::close(file);
        }
    }
}

/// A child that has ended, and what it has used. None: none has.
pub fn reap() -> Option<(i32, Ending)> {
    let mut status = 0;
    // SAFETY: all bits zero are a valid rusage, which wait4(2) fills in.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are valid for the time of the call.
    let pid = unsafe { libc::wait4(-1, &mut status, libc::WNOHANG, &mut used) };
    if pid <= 0 {
        return None;
    }
    let status = ExitStatus::from_raw(status);
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let ending = Ending {
        code: status.code(),
        signal: status.signal(),
        wall_s: 0.0,
        user_s: seconds(used.ru_utime),
        system_s: seconds(used.ru_stime),
        max_rss_kb: used.ru_maxrss as u64,
        minor_faults: used.ru_minflt as u64,
        major_faults: used.ru_majflt as u64,
    };
    Some((pid, ending))
}

/// The processes below this one, but for those of `daemon`'s group.
fn others(daemon: Option<i32>) -> Vec<Process> {
    let mut all = descendants::all();
    all.retain(|process| {
        let pid = process.pid.as_raw_nonzero().get();
        daemon.is_none_or(|daemon| pid != daemon && process.group != daemon)
    });
    all
}

/// Ends all processes but those of `daemon`'s group: by SIGTERM, and after a while by SIGKILL. `reaped` hears of
/// each child that ends.
///
/// # Errors
/// A message: a process does not die.
pub fn end_others(daemon: Option<i32>, mut reaped: impl FnMut(i32, Ending)) -> Result<(), String> {
    let begun = Instant::now();
    let mut asked = false;
    loop {
        while let Some((pid, ending)) = reap() {
            reaped(pid, ending);
        }
        let left = others(daemon);
        let Some(first) = left.first() else {
            return Ok(());
        };
        if begun.elapsed() > GRACE + LAST {
            return Err(format!("process {} does not end", first.pid));
        }
        if begun.elapsed() > GRACE {
            descendants::send(&left, Signal::KILL);
        } else if !asked {
            descendants::send(&left, Signal::TERM);
            asked = true;
        }
        std::thread::sleep(AGAIN);
    }
}

/// Ends one child by SIGTERM, and after `patience` by SIGKILL.
pub fn end_one(pid: i32, patience: Duration, mut reaped: impl FnMut(i32, Ending)) {
    let begun = Instant::now();
    // SAFETY: the child has not been waited for, so the number is still its own.
    unsafe { libc::kill(pid, libc::SIGTERM) };
    let mut killed = false;
    loop {
        while let Some((ended, ending)) = reap() {
            reaped(ended, ending);
            if ended == pid {
                return;
            }
        }
        if begun.elapsed() > patience + LAST {
            return;
        }
        if begun.elapsed() > patience && !killed {
            // SAFETY: as above.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            killed = true;
        }
        std::thread::sleep(AGAIN);
    }
}
