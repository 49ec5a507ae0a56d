//! Lackey's lines of a command and of the programs that it starts, as one stream.
//!
//! Each executed program opens its own connection, so the connection identifies the program of a line.
//! The program's number stands above the 48 bits of an address, so no two programs share pages.
use anyhow::{Context, Result};
use rustix::event::{poll, PollFd, PollFlags};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Hexadecimal digits of an address.
const DIGITS: usize = 12;
const MOST_PROGRAMS: u64 = 1 << 16;

/// The stream of lines. It ends when all programs have ended.
pub struct Followed {
    listener: TcpListener,
    /// All processes have the other end of the pipe. It closes when the last of them ends.
    alive: Option<io::PipeReader>,
    /// Where the trace goes, if that is a pipe whose reader may leave.
    output: Option<io::Stdout>,
    programs: Vec<Program>,
    count: Arc<AtomicU64>,
    buffer: Vec<u8>,
    /// Lines to be read, and the number of bytes of them that have been read.
    lines: Vec<u8>,
    at: usize,
}

struct Program {
    from: TcpStream,
    number: u64,
    /// The beginning of a line whose end has not arrived.
    rest: Vec<u8>,
}

impl Followed {
    /// Listens, for this machine alone. `alive` is the reading end of a pipe that all processes have
    /// open for writing. With `output` the stream breaks when nobody reads standard output any more.
    ///
    /// # Errors
    /// There is no loopback device.
    pub fn listen(alive: io::PipeReader, output: Option<io::Stdout>) -> Result<Followed> {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(here).context("listening for valgrind")?;
        listener.set_nonblocking(true)?;
        Ok(Followed {
            listener,
            alive: Some(alive),
            output,
            programs: Vec::new(),
            count: Arc::default(),
            buffer: vec![0; 64 << 10],
            lines: Vec::new(),
            at: 0,
        })
    }

    /// The address that valgrind connects to.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The number of programs so far. It stays readable when the stream is gone.
    pub fn count(&self) -> Arc<AtomicU64> {
        self.count.clone()
    }

    /// Reads to the end, and drops the lines: a program that waits for its reader does not end.
    pub fn drain(&mut self) -> io::Result<()> {
        self.output = None;
        loop {
            self.lines.clear();
            if !self.more()? {
                return Ok(());
            }
        }
    }

    /// Waits for lines. Returns false when there are no more.
    fn more(&mut self) -> io::Result<bool> {
        loop {
            self.accept()?;
            // Programs are read in the order of their connections. Lines that a program wrote before it
            // started another program come before that program's lines.
            let mut place = 0;
            while let Some(program) = self.programs.get_mut(place) {
                match program.from.read(&mut self.buffer) {
                    Ok(0) => {
                        // A line without its end is one of a program that was killed.
                        self.programs.remove(place);
                    }
                    Ok(n) => {
                        program.take(&self.buffer[..n], &mut self.lines);
                        if !self.lines.is_empty() {
                            return Ok(true);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => place += 1,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                        self.programs.remove(place);
                    }
                    Err(error) => return Err(error),
                }
            }
            if !self.lines.is_empty() {
                return Ok(true);
            }
            if self.alive.is_none() && self.programs.is_empty() {
                // A program that ended by now may have connected after the last accept().
                self.accept()?;
                if self.programs.is_empty() {
                    return Ok(false);
                }
                continue;
            }
            self.wait()?;
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((from, _)) => {
                    from.set_nonblocking(true)?;
                    let number = self.count.fetch_add(1, Ordering::Relaxed);
                    if number >= MOST_PROGRAMS {
                        return Err(io::Error::other(format!("over {MOST_PROGRAMS} programs")));
                    }
                    self.programs.push(Program {
                        from,
                        number,
                        rest: Vec::new(),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until a program writes, a program connects, or all have ended.
    fn wait(&mut self) -> io::Result<()> {
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        let programs = self.programs.iter();
        fds.extend(programs.map(|it| PollFd::new(&it.from, PollFlags::IN)));
        let alive = fds.len();
        fds.extend(self.alive.iter().map(|it| PollFd::new(it, PollFlags::IN)));
        let output = fds.len();
        // Without events, poll(2) reports errors only: the reader of a pipe has gone.
        fds.extend(
            self.output
                .iter()
                .map(|it| PollFd::new(it, PollFlags::empty())),
        );
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let seen = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        if self.output.is_some() && seen(output) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let ended = self.alive.is_some() && seen(alive);
        drop(fds);
        if ended {
            self.alive = None;
        }
        Ok(())
    }
}

/// The stream, for its reader and for the one who drains it later.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Followed>>);

impl Shared {
    pub fn new(followed: Followed) -> Shared {
        Shared(Arc::new(Mutex::new(followed)))
    }

    /// The stream itself, while no one else reads it.
    pub fn lock(&self) -> MutexGuard<'_, Followed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Shared {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.lock().read(to)
    }
}

impl Read for Followed {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.lines.len() {
            self.lines.clear();
            self.at = 0;
            if !self.more()? {
                return Ok(0);
            }
        }
        let n = (&self.lines[self.at..]).read(to)?;
        self.at += n;
        Ok(n)
    }
}

impl Program {
    fn take(&mut self, mut bytes: &[u8], lines: &mut Vec<u8>) {
        while let Some(end) = bytes.iter().position(|&b| b == b'\n') {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            if self.rest.is_empty() {
                self.line(line, lines);
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                self.line(&whole, lines);
            }
        }
        self.rest.extend_from_slice(bytes);
    }

    /// Adds the program's number to a line `KIND ADDRESS,BYTES`. Other lines are passed on unchanged.
    fn line(&self, line: &[u8], lines: &mut Vec<u8>) {
        let address = || {
            let comma = line.iter().position(|&b| b == b',')?;
            let begin = line[..comma].iter().rposition(|&b| b == b' ')? + 1;
            let digits = comma - begin;
            // A longer address is the kernel's. All programs share its pages.
            (self.number > 0 && !line.starts_with(b"==") && digits <= DIGITS)
                .then_some((begin, digits))
        };
        match address() {
            None => lines.extend_from_slice(line),
            Some((begin, digits)) => {
                lines.extend_from_slice(&line[..begin]);
                // Writing to a Vec cannot fail.
                let _ = write!(lines, "{:x}", self.number);
                lines.extend(std::iter::repeat_n(b'0', DIGITS - digits));
                lines.extend_from_slice(&line[begin..]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_each_program_are_distinct_and_the_stream_ends_with_the_last_program() {
        let (alive, theirs) = io::pipe().unwrap();
        let mut followed = Followed::listen(alive, None).unwrap();
        let address = followed.address().unwrap();
        let count = followed.count();
        let thread = std::thread::spawn(move || {
            let mut first = TcpStream::connect(address).unwrap();
            first.write_all(b"I  04001000,3\n L 1ffef").unwrap();
            let mut second = TcpStream::connect(address).unwrap();
            second
                .write_all(b"I  04001000,3\n==7== Counted 3,4\n")
                .unwrap();
            second
                .write_all(b" L ffffffffff600000,8\n S 10,4\n S 20,")
                .unwrap();
            drop(second);
            first.write_all(b"ff000,8\n L 1").unwrap();
            drop((first, theirs));
        });
        let mut text = String::new();
        followed.read_to_string(&mut text).unwrap();
        thread.join().unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let wanted = [
            " L 1ffefff000,8",
            " L ffffffffff600000,8",
            " S 1000000000010,4",
            "==7== Counted 3,4",
            "I  04001000,3",
            "I  1000004001000,3",
        ];
        assert_eq!(lines, wanted);
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
