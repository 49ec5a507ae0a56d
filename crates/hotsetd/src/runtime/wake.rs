//! The descriptors that wake the event loop: timers, signals, memory pressure.
use crate::config::settings::Pressure;
use crate::os::fixed_string::Text;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;

/// A timer that goes off once.
pub struct Timer(pub OwnedFd);

impl Timer {
    /// # Errors
    /// There are no descriptors.
    pub fn new() -> io::Result<Timer> {
        // SAFETY: timerfd_create takes numbers only and returns a new descriptor or -1.
        owned(unsafe {
            libc::timerfd_create(
                libc::CLOCK_MONOTONIC,
                libc::TFD_NONBLOCK | libc::TFD_CLOEXEC,
            )
        })
        .map(Timer)
    }

    /// Sets the timer to go off in `seconds`.
    pub fn set(&self, seconds: f64) {
        // 0 would turn the timer off.
        let seconds = seconds.clamp(0.001, 86_400.0);
        let when = libc::itimerspec {
            it_interval: libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            },
            it_value: libc::timespec {
                tv_sec: seconds as libc::time_t,
                tv_nsec: (seconds.fract() * 1e9) as libc::c_long,
            },
        };
        use std::os::fd::AsRawFd;
        // SAFETY: the descriptor is ours, `when` lives through the call, and no old value is asked
        // for.
        unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &when, std::ptr::null_mut()) };
    }

    /// Takes note that the timer went off.
    pub fn take(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.0, &mut count);
    }
}

/// The signals that the daemon takes, as a descriptor.
pub struct Signals(pub OwnedFd);

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Stop,
    Reload,
}

impl Signals {
    /// Blocks TERM, INT and HUP and reads them from the descriptor. Threads that start
    /// later inherit the mask.
    ///
    /// # Errors
    /// There are no descriptors.
    pub fn new() -> io::Result<Signals> {
        // SAFETY: an all-zero sigset_t is a value, and sigemptyset makes it the empty set.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is ours, the numbers are signals, and the old mask is not asked for.
        let fd = unsafe {
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            libc::signalfd(-1, &set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC)
        };
        owned(fd).map(Signals)
    }

    /// The next signal, if there is one.
    pub fn take(&self) -> Option<Asked> {
        let mut info = [0; std::mem::size_of::<libc::signalfd_siginfo>()];
        let length = rustix::io::read(&self.0, &mut info).ok()?;
        if length != info.len() {
            return None;
        }
        // The signal's number is the first field.
        let number = u32::from_ne_bytes([info[0], info[1], info[2], info[3]]);
        match number as i32 {
            libc::SIGHUP => Some(Asked::Reload),
            _ => Some(Asked::Stop),
        }
    }
}

fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A trigger of memory pressure (Documentation/accounting/psi.rst): the descriptor has EPOLLPRI
/// when tasks stalled for longer than `stall_ms` within `window_ms`.
///
/// # Errors
/// `NOTSUP`: the file is not the kernel's. A trigger is a write, and would destroy a recording.
/// Other errors are the kernel's: there is no PSI, or no capability.
pub fn pressure_trigger(root: &Path, settings: Pressure) -> Result<OwnedFd, Errno> {
    const PROC: i64 = 0x9fa0;
    let place = Text::<512>::of(format_args!("{}/proc/pressure/memory", root.display()));
    let kind = rustix::fs::statfs(place.as_str())?;
    if kind.f_type != PROC {
        return Err(Errno::NOTSUP);
    }
    let set = |window_ms: u32| {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(place.as_str(), flags, Mode::empty())?;
        let (stall_us, window_us) = (settings.stall_ms * 1000, window_ms * 1000);
        // The kernel wants the zero at the end.
        let text = Text::<64>::of(format_args!("some {stall_us} {window_us}\0"));
        rustix::io::write(&file, text.as_bytes())?;
        Ok(file)
    };
    match set(settings.window_ms) {
        // Without CAP_SYS_RESOURCE (a container's root) the kernel takes multiples of 2 s only.
        Err(Errno::INVAL) => set(settings.window_ms.next_multiple_of(2000)),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Pressure = Pressure {
        enabled: true,
        stall_ms: 50,
        window_ms: 1000,
    };

    #[test]
    fn a_recorded_pressure_file_is_not_written() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/pressure");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("memory"), "some avg10=0.00\n").unwrap();
        let opened = pressure_trigger(root.path(), SETTINGS);
        assert_eq!(opened.err(), Some(Errno::NOTSUP));
        assert_eq!(
            std::fs::read(folder.join("memory")).unwrap(),
            b"some avg10=0.00\n"
        );
    }

    #[test]
    fn the_timer_goes_off_once() {
        let timer = Timer::new().unwrap();
        timer.set(0.0);
        let ready = |ms: i64| {
            let mut wait = [rustix::event::PollFd::new(
                &timer.0,
                rustix::event::PollFlags::IN,
            )];
            let limit = rustix::event::Timespec {
                tv_sec: 0,
                tv_nsec: ms * 1_000_000,
            };
            rustix::event::poll(&mut wait, Some(&limit)).unwrap() > 0
        };
        assert!(ready(900));
        timer.take();
        assert!(!ready(20));
    }
}
