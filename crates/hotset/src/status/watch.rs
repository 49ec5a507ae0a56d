//! The pause between two documents: it ends early for a key, a signal, or a reader that has gone.
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::{emulate_default_handler, pipe};
use std::ffi::c_int;
use std::io::{self, IsTerminal};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Why a pause ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The time is over.
    Time,
    /// `q` was pressed.
    Quit,
    /// Nobody reads standard output any more.
    NoReader,
}

/// The screen and the keyboard of `--watch`. Dropped, it gives the terminal its mode back.
pub struct Watch {
    keyboard: Option<Keyboard>,
}

impl Watch {
    /// `keys`: `q` ends the watch, where standard input is a terminal.
    ///
    /// # Errors
    /// The terminal or the signals cannot be set up.
    pub fn start(keys: bool) -> io::Result<Watch> {
        let keyboard = match keys && is_ours() {
            true => Some(Keyboard::take()?),
            false => None,
        };
        Ok(Watch { keyboard })
    }

    /// Waits. A signal that ends the program ends it here, with the terminal as it was before.
    ///
    /// # Errors
    /// The kernel refuses to wait.
    pub fn pause(&mut self, length: Duration) -> io::Result<Ended> {
        let end = Instant::now() + length;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Ended::Time);
            }
            if let Some(ended) = self.wait(left)? {
                return Ok(ended);
            }
        }
    }

    fn wait(&mut self, most: Duration) -> io::Result<Option<Ended>> {
        let (out, input) = (io::stdout(), io::stdin());
        let mut wanted = vec![PollFd::new(&out, PollFlags::empty())];
        if let Some(keyboard) = &self.keyboard {
            let signals = keyboard.signals.iter();
            wanted.extend(signals.map(|(_, seen)| PollFd::new(seen, PollFlags::IN)));
            if keyboard.open {
                wanted.push(PollFd::new(&input, PollFlags::IN));
            }
        }
        let timeout = Timespec::try_from(most).map_err(io::Error::other)?;
        match poll(&mut wanted, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let happened: Vec<bool> = wanted.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(wanted);
        if happened[0] {
            return Ok(Some(Ended::NoReader));
        }
        let Some(keyboard) = &mut self.keyboard else {
            return Ok(None);
        };
        for ((signal, _), seen) in keyboard.signals.iter().zip(&happened[1..]) {
            if *seen {
                keyboard.give_back();
                // The signal does what it does to any program.
                emulate_default_handler(*signal)?;
            }
        }
        if happened.get(1 + keyboard.signals.len()) == Some(&true) {
            let mut keys = [0; 64];
            let count = rustix::io::read(&input, &mut keys)?;
            keyboard.open = count > 0;
            if keys[..count].iter().any(|key| b"qQ".contains(key)) {
                return Ok(Some(Ended::Quit));
            }
        }
        Ok(None)
    }
}

/// Whether standard input is a terminal that this program may set up: its shell has not put it in the background.
fn is_ours() -> bool {
    let input = io::stdin();
    input.is_terminal()
        && termios::tcgetpgrp(&input).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// A terminal that gives each key at once.
struct Keyboard {
    before: Termios,
    /// Each signal, with a socket on which a byte arrives with it.
    signals: Vec<(c_int, UnixStream)>,
    /// Keys may still come.
    open: bool,
}

impl Keyboard {
    fn take() -> io::Result<Keyboard> {
        let mut signals = Vec::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let (seen, tell) = UnixStream::pair()?;
            pipe::register(signal, tell)?;
            signals.push((signal, seen));
        }
        let before = termios::tcgetattr(io::stdin())?;
        let mut mode = before.clone();
        mode.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &mode)?;
        Ok(Keyboard {
            before,
            signals,
            open: true,
        })
    }

    fn give_back(&self) {
        // Where the terminal is gone, there is nothing to give back.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.give_back();
    }
}
