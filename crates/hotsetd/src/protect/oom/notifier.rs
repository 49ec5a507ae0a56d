//! Notices of a kill: a hook program and a desktop notification.
//!
//! A process of its own runs both. The daemon starts that process while there is memory: starting one
//! without memory may take as long as the shortage. For a kill, the daemon writes a line into a pipe that
//! never blocks, and goes on.
use super::kill::Victim;
use crate::os::fixed_string::Text;
use crate::os::standard_streams::complain;
use policy::exhaustion::Cause;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io::{self, BufRead};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The option by which hotsetd starts itself as the notifier. Users do not need it.
pub const OPTION: &str = "--notifier";

/// The notifier's process, seen from the daemon.
pub struct Notifier {
    pipe: OwnedFd,
    /// Ends when the pipe is closed.
    child: Child,
    hook: Option<PathBuf>,
    notify: bool,
}

impl Notifier {
    /// Starts the process. `program`: hotsetd itself. `hook`: the program that is run after a kill.
    /// `notify`: users get a desktop notification.
    ///
    /// # Errors
    /// When the system has no process or descriptor left.
    pub fn start(program: &Path, hook: Option<&Path>, notify: bool) -> io::Result<Notifier> {
        let mut command = Command::new(program);
        command
            .arg(OPTION)
            .arg(if notify { "notify" } else { "quiet" });
        command.args(hook).stdin(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let pipe = OwnedFd::from(pipe);
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Notifier {
            pipe,
            child,
            hook: hook.map(Path::to_owned),
            notify,
        })
    }

    /// Whether the process is there, and runs with these settings.
    pub fn runs(&mut self, hook: Option<&Path>, notify: bool) -> bool {
        (self.hook.as_deref(), self.notify) == (hook, notify)
            && matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends the process, after the notices that it has.
    pub fn end(self) {
        let Notifier {
            pipe, mut child, ..
        } = self;
        drop(pipe);
        // Where there is no thread for it, its entry stays in the table of processes.
        let _ = std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(move || child.wait());
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a notice of a kill. Never waits. `page_size`: bytes.
    ///
    /// # Errors
    /// `AGAIN` when the pipe is full: the process has not yet read earlier notices.
    pub fn send(&self, victim: &Victim, cause: Cause, page_size: u64) -> Result<(), Errno> {
        // A tab in a name would make another field of the rest.
        let mut name = victim.name;
        name.one_line();
        let mut line = Text::<256>::of(format_args!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{cause:?}",
            victim.pid,
            victim.uid,
            victim.count,
            victim.memory * page_size,
            u8::from(victim.dry_run),
            name,
        ));
        line.one_line_of_fields();
        line.put(format_args!("\n"));
        rustix::io::write(&self.pipe, line.as_bytes()).map(drop)
    }
}

/// The notifier's process: for each line of its input it runs the hook and sends notifications. Ends with
/// its input.
pub fn run(arguments: impl IntoIterator<Item = OsString>) {
    let mut arguments = arguments.into_iter();
    let notify = arguments.next().is_some_and(|word| word == "notify");
    let hook = arguments.next().map(PathBuf::from);
    // The daemon is spared from the OOM killer. This process need not be.
    let _ = std::fs::write("/proc/self/oom_score_adj", "0\n");
    // SAFETY: no handler is set; children are reaped by the kernel.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    // Signals to the daemon's process group are not meant for this process: it ends with its input.
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: as above.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Some(notice) = Notice::parse(&line) else {
            continue;
        };
        if let Some(hook) = &hook {
            notice.run_hook(hook);
        }
        if notify {
            notice.notify(Path::new("/run/user"));
        }
    }
}

/// A line of the pipe.
struct Notice<'a> {
    fields: [&'a str; 7],
}

impl Notice<'_> {
    fn parse(line: &str) -> Option<Notice<'_>> {
        let mut parts = line.split('\t');
        let mut fields = [""; 7];
        for field in &mut fields {
            *field = parts.next()?;
        }
        Some(Notice { fields })
    }

    fn run_hook(&self, hook: &Path) {
        let names = ["PID", "UID", "COUNT", "BYTES", "DRY_RUN", "NAME", "CAUSE"];
        let mut command = Command::new(hook);
        for (name, value) in names.iter().zip(self.fields) {
            command.env(format!("HOTSET_{name}"), value);
        }
        if let Err(error) = with_default_signals(&mut command).spawn() {
            let (hook, error) = (names::shown(hook), names::io_error(&error));
            complain(format_args!(
                "hook: {hook} cannot be started: {error}; it is not run for this kill"
            ));
        }
    }

    /// Notifies every user with a session bus. `users`: the folder with a folder for each user id.
    fn notify(&self, users: &Path) {
        let [_, _, count, bytes, dry_run, name, _] = self.fields;
        let mib = bytes.parse::<u64>().unwrap_or(0) >> 20;
        let message = match (dry_run, count) {
            ("0", "1") => format!("hotset ended {name}, which held {mib} MiB"),
            ("0", _) => {
                format!("hotset ended {count} processes named {name}, which held {mib} MiB")
            }
            _ => format!("hotset would have ended {name}, which holds {mib} MiB (dry run)"),
        };
        for entry in std::fs::read_dir(users).into_iter().flatten().flatten() {
            // Only the user may look into the folder. So notify-send finds out whether there is a bus.
            let bus = entry.path().join("bus");
            let Some(owner) = entry.metadata().ok().filter(|about| about.uid() > 0) else {
                continue;
            };
            let mut command = Command::new("notify-send");
            command
                .args(["--urgency=critical", "--app-name=hotset", "--"])
                .args(["Memory ran out", &message])
                .env(
                    "DBUS_SESSION_BUS_ADDRESS",
                    format!("unix:path={}", bus.display()),
                )
                .env("XDG_RUNTIME_DIR", entry.path())
                .gid(owner.gid())
                .uid(owner.uid());
            // A machine without notify-send has no desktop to notify.
            let _ = with_default_signals(&mut command)
                .stderr(Stdio::null())
                .spawn();
        }
    }
}

/// The command with signals as a program expects them.
fn with_default_signals(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null());
    // SAFETY: signal(2) is async-signal-safe, and nothing else is done between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGCHLD] {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            Ok(())
        })
    }
}
