//! Steps of the daemon's start, each of which may fail without ending the daemon.
use crate::os::process;
use crate::os::realtime;
use crate::protect::oom::notifier::Notifier;
use crate::runtime::daemon::Daemon;
use crate::runtime::wake;
use crate::telemetry::log::{condition, Level, Log};
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use std::io;
use std::path::Path;

/// Checks that the root is a folder.
///
/// # Errors
/// It is none, or cannot be read.
pub fn check_root(root: &Path) -> io::Result<()> {
    let named = |error: &io::Error| {
        let text = format!("{}: {}", names::shown(root), names::io_error(error));
        io::Error::new(error.kind(), text)
    };
    match std::fs::metadata(root) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(named(&io::ErrorKind::NotADirectory.into())),
        Err(error) => Err(named(&error)),
    }
}

/// Checks that the root has the files of a kernel: without them the daemon would never act.
///
/// # Errors
/// The first file cannot be read.
pub fn check_files(root: &Path) -> io::Result<()> {
    let path = root.join("proc/vmstat");
    std::fs::read(&path).map(drop).map_err(|error| {
        let (path, cause) = (names::shown(&path), names::io_error(&error));
        let text = format!("{path}: {cause}; there is no kernel to watch below this root");
        io::Error::new(error.kind(), text)
    })
}

/// Keeps the daemon alive and in memory.
pub fn stay_in_memory(log: &mut Log) {
    if let Err(error) = process::spare_from_oom_killer() {
        let text =
            format_args!("oom_score_adj cannot be set: {error}; the kernel may kill the daemon");
        log.line(Level::Warning, "daemon", text);
    }
    if let Err(error) = process::lock_memory() {
        let text = format_args!("mlockall: {error}; the daemon may be slow when memory is short");
        log.line(Level::Warning, "daemon", text);
    }
}

/// Starts the process that gives notices, where it is wanted and not there.
pub fn start_notifier(daemon: &mut Daemon) {
    let Some(guard) = daemon.guard() else { return };
    let Some(notices) = guard.lacks() else { return };
    let program = std::env::current_exe();
    let wrong = condition(&["notifier"]);
    match program.and_then(|program| Notifier::start(&program, notices)) {
        Ok(notifier) => {
            guard.notifier = Some(notifier);
            let text = format_args!("there are notices of kills and warnings again");
            daemon.log().resolved(wrong, "protect", text);
        }
        Err(error) => {
            let text = format_args!("no notices of kills and no warnings: {error}");
            daemon.log().warn(process::now_s(), wrong, "protect", text);
        }
    }
}

/// Gives the daemon real-time priority where protection is on.
pub fn raise_priority(daemon: &mut Daemon) {
    let priority = daemon.config().protect.realtime_priority;
    if daemon.config().dry_run || daemon.guard().is_none() || priority == 0 {
        return;
    }
    if let Err(error) = realtime::raise(priority) {
        let text = format_args!(
            "SCHED_FIFO {priority}: {error}; the daemon may be late under load (realtime_priority)"
        );
        daemon.log().line(Level::Warning, "protect", text);
    }
}

/// Opens the trigger of memory pressure and adds it to `poll` as `number`. In a dry run there is none.
pub fn watch_pressure(daemon: &mut Daemon, poll: &OwnedFd, number: u64) -> Option<OwnedFd> {
    let settings = daemon.config().pressure;
    // A trigger is a write, which a dry run does not make.
    if !settings.enabled || daemon.config().dry_run {
        return None;
    }
    let opened = wake::pressure_trigger(daemon.root(), settings).and_then(|fd| {
        let data = epoll::EventData::new_u64(number);
        epoll::add(poll, &fd, data, epoll::EventFlags::PRI)?;
        Ok(fd)
    });
    match opened {
        Ok(fd) => Some(fd),
        Err(errno) => {
            let text = format_args!(
                "no trigger of memory pressure ({errno}): only samples notice pressure"
            );
            daemon.log().line(Level::Notice, "pressure", text);
            None
        }
    }
}

/// Logs version, aggressiveness and dry run.
pub fn log_start(daemon: &mut Daemon) {
    let dry = match daemon.config().dry_run {
        true => ", dry run: nothing is written",
        false => "",
    };
    let level = daemon.config().policy.aggressiveness;
    let version = env!("CARGO_PKG_VERSION");
    let text = format_args!("hotsetd {version}, aggressiveness {level}{dry}");
    daemon.log().line(Level::Notice, "daemon", text);
}
