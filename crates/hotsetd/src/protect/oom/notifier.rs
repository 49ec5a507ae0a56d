//! Notices of a kill, and warnings before one.
//!
//! A process of its own gives them. The daemon starts that process while there is memory: starting one
//! without memory may take as long as the shortage. The daemon writes a line into a pipe that never blocks,
//! and goes on.
use super::kill::Victim;
use super::low_memory::{Level, LowMemoryMonitor};
use super::notice::Notice;
use crate::os::fixed_string::Text;
use policy::exhaustion::Cause;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The option by which hotsetd starts itself as the notifier. Users do not need it.
pub const OPTION: &str = "--notifier";
/// A warning's line of the pipe begins so.
const WARNING: &str = "warning\t";

/// The notices that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notices {
    /// The root folder: its /run has the users' buses, and that of the system.
    pub root: PathBuf,
    /// The program that is run after a kill.
    pub hook: Option<PathBuf>,
    /// Users get a desktop notification of a kill.
    pub notify: bool,
    /// Programs get warnings.
    pub warn: bool,
}

/// The notifier's process, seen from the daemon.
pub struct Notifier {
    pipe: OwnedFd,
    /// Ends when the pipe is closed.
    child: Child,
    notices: Notices,
}

impl Notifier {
    /// Starts the process. `program`: hotsetd itself.
    ///
    /// # Errors
    /// When the system has no process or descriptor left.
    pub fn start(program: &Path, notices: &Notices) -> io::Result<Notifier> {
        let word = |wanted: bool| if wanted { "yes" } else { "no" };
        let mut command = Command::new(program);
        command.arg(OPTION).arg(&notices.root);
        command.args([word(notices.notify), word(notices.warn)]);
        command.args(&notices.hook).stdin(Stdio::piped());
        let mut child = command.spawn()?;
        let pipe = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let pipe = OwnedFd::from(pipe);
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Notifier {
            pipe,
            child,
            notices: notices.clone(),
        })
    }

    /// Whether the process is there, and gives these notices.
    pub fn runs(&mut self, notices: &Notices) -> bool {
        self.notices == *notices && matches!(self.child.try_wait(), Ok(None))
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

    /// Sends a notice of a kill. Never waits. `page_size`: bytes.
    ///
    /// # Errors
    /// `AGAIN` when the pipe is full: the process has not yet read earlier notices.
    pub fn send(&self, victim: &Victim, cause: Cause, page_size: u64) -> Result<(), Errno> {
        // A tab in a name would make another field of the rest.
        let mut name = victim.name;
        name.one_line();
        let mut line = Text::<256>::of(format_args!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{cause:?}\t{}",
            victim.pid,
            victim.uid,
            victim.count,
            victim.memory * page_size,
            u8::from(victim.dry_run),
            name,
            u8::from(victim.asked),
        ));
        line.one_line_of_fields();
        line.put(format_args!("\n"));
        rustix::io::write(&self.pipe, line.as_bytes()).map(drop)
    }

    /// Sends a warning to programs, if they are to have one. Never waits: a warning that finds no room is lost.
    pub fn warn(&self, level: Level) {
        if self.notices.warn {
            let line = Text::<32>::of(format_args!("{WARNING}{}\n", level as u8));
            let _ = rustix::io::write(&self.pipe, line.as_bytes());
        }
    }
}

/// The notifier's process: for each line of its input it gives notices or a warning. Ends with its input.
pub fn run(arguments: impl IntoIterator<Item = OsString>) {
    let mut arguments = arguments.into_iter();
    let root = PathBuf::from(arguments.next().unwrap_or_default());
    let mut wanted = || arguments.next().is_some_and(|word| word == "yes");
    let (notify, warn) = (wanted(), wanted());
    let notices = Notices {
        hook: arguments.next().map(PathBuf::from),
        root,
        notify,
        warn,
    };
    // The daemon is spared from the OOM killer. This process need not be.
    let _ = std::fs::write("/proc/self/oom_score_adj", "0\n");
    // SAFETY: no handler is set; children are reaped by the kernel.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    // Signals to the daemon's process group are not meant for this process: it ends with its input.
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: as above.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let mut monitor = notices.warn.then(|| LowMemoryMonitor::new(&notices.root));
    let mut told = Vec::new();
    let mut input = Vec::new();
    while wait_and_read(&mut input, monitor.as_mut()).is_ok() {
        while let Some(end) = input.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = input.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]);
            if let (Some(level), Some(monitor)) = (line.strip_prefix(WARNING), &mut monitor) {
                monitor.warn(level.parse().unwrap_or(0));
            } else if let Some(notice) = Notice::parse(&line) {
                told = notice.tell_oomd_hooks(&notices.root);
                if let Some(hook) = &notices.hook {
                    notice.run_hook(hook);
                }
                if notices.notify {
                    notice.notify(&notices.root.join("run/user"));
                }
            }
        }
    }
    drop(told);
}

/// Reads lines of standard input, and serves the bus meanwhile.
fn wait_and_read(
    input: &mut Vec<u8>,
    mut monitor: Option<&mut LowMemoryMonitor>,
) -> io::Result<()> {
    let stdin = rustix::stdio::stdin();
    loop {
        let bus = monitor.as_ref().and_then(|monitor| monitor.bus.as_ref());
        let mut ready = vec![PollFd::new(&stdin, PollFlags::IN)];
        ready.extend(bus.map(|bus| PollFd::new(bus, PollFlags::IN)));
        let limit_s = monitor.as_ref().and_then(|monitor| monitor.again_s());
        let limit = limit_s.map(|tv_sec| Timespec { tv_sec, tv_nsec: 0 });
        match poll(&mut ready, limit.as_ref()) {
            Err(Errno::INTR) => continue,
            ready => ready?,
        };
        let lines = !ready[0].revents().is_empty();
        let calls = ready.get(1).is_some_and(|bus| !bus.revents().is_empty());
        if let (Some(monitor), true) = (&mut monitor, calls || !lines) {
            monitor.serve();
        }
        if lines {
            let mut bytes = [0; 4096];
            let length = rustix::io::read(stdin, &mut bytes)?;
            input.extend_from_slice(&bytes[..length]);
            return match length {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                _ => Ok(()),
            };
        }
    }
}
