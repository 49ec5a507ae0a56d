//! Telling of a kill: a hook program and a desktop notification. Both by a process of their own that
//! is started while there is memory, for to start one when there is none may take as long as the
//! shortage. The daemon writes a line into a pipe that never blocks, and goes on.
use super::kill::Victim;
use crate::text::Text;
use policy::exhaustion::Cause;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io::{self, BufRead};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The option by which the program is this process. Not for people.
pub const OPTION: &str = "--herald";

/// The process, seen from the daemon.
pub struct Herald {
    pipe: OwnedFd,
    // Ends when the pipe is closed; then there is nobody left to wait for it.
    child: Child,
}

impl Herald {
    /// Starts it. `program` is hotsetd's own.
    ///
    /// # Errors
    /// When there are no processes or descriptors.
    pub fn start(program: &Path, hook: Option<&Path>, notify: bool) -> io::Result<Herald> {
        let mut command = Command::new(program);
        command
            .arg(OPTION)
            .arg(if notify { "notify" } else { "quiet" });
        command.args(hook).stdin(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let pipe = OwnedFd::from(pipe);
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Herald { pipe, child })
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells of a kill. Never waits.
    ///
    /// # Errors
    /// `AGAIN` when it has not yet read what was told before.
    pub fn tell(&self, victim: &Victim, cause: Cause, page_size: u64) -> Result<(), Errno> {
        let mut line = Text::<256>::of(format_args!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{cause:?}",
            victim.pid,
            victim.uid,
            victim.count,
            victim.memory * page_size,
            u8::from(victim.pretended),
            victim.name,
        ));
        line.one_line_of_fields();
        line.put(format_args!("\n"));
        rustix::io::write(&self.pipe, line.as_bytes()).map(drop)
    }
}

/// What the process does: a line, a hook, notifications; until its input ends.
pub fn run(arguments: impl IntoIterator<Item = OsString>) {
    let mut arguments = arguments.into_iter();
    let notify = arguments.next().is_some_and(|word| word == "notify");
    let hook = arguments.next().map(PathBuf::from);
    // Nothing of it is worth more than what runs on the machine.
    let _ = std::fs::write("/proc/self/oom_score_adj", "0\n");
    // SAFETY: no handler is set; children are reaped by the kernel.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    // The daemon's own signals are not meant for it: it ends with its input.
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: as above.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Some(told) = Told::read(&line) else {
            continue;
        };
        if let Some(hook) = &hook {
            told.run_hook(hook);
        }
        if notify {
            told.notify(Path::new("/run/user"));
        }
    }
}

/// A line, read.
struct Told<'a> {
    fields: [&'a str; 7],
}

impl Told<'_> {
    fn read(line: &str) -> Option<Told<'_>> {
        let mut parts = line.split('\t');
        let mut fields = [""; 7];
        for field in &mut fields {
            *field = parts.next()?;
        }
        Some(Told { fields })
    }

    fn run_hook(&self, hook: &Path) {
        let names = ["PID", "UID", "COUNT", "BYTES", "DRY_RUN", "NAME", "CAUSE"];
        let mut command = Command::new(hook);
        for (name, value) in names.iter().zip(self.fields) {
            command.env(format!("HOTSET_{name}"), value);
        }
        if let Err(error) = started_afresh(&mut command).spawn() {
            eprintln!("hotsetd: hook {}: {error}", hook.display());
        }
    }

    /// To every user with a session bus.
    fn notify(&self, users: &Path) {
        let [_, _, count, bytes, dry, name, _] = self.fields;
        let mb = bytes.parse::<u64>().unwrap_or(0) >> 20;
        let what = match (dry, count) {
            ("0", "1") => format!("{name} was ended: it held {mb} MB"),
            ("0", _) => format!("{count} processes named {name} were ended: {mb} MB"),
            _ => format!("{name} would have been ended: it holds {mb} MB"),
        };
        for entry in std::fs::read_dir(users).into_iter().flatten().flatten() {
            let bus = entry.path().join("bus");
            let uid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let (Some(uid), true) = (uid, bus.exists()) else {
                continue;
            };
            let mut command = Command::new("notify-send");
            command
                .args(["--urgency=critical", "--app-name=hotset", "Memory ran out"])
                .arg(&what)
                .env(
                    "DBUS_SESSION_BUS_ADDRESS",
                    format!("unix:path={}", bus.display()),
                )
                .uid(uid);
            // A machine without it has no desktop to tell.
            let _ = started_afresh(&mut command).stderr(Stdio::null()).spawn();
        }
    }
}

/// With signals as a program expects them.
fn started_afresh(command: &mut Command) -> &mut Command {
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
