//! Lackey's lines of a command and of the programs that it starts, as one stream.
//!
//! Each program that is executed connects to us anew, so that we know whose line is whose. The number
//! of a program stands above the address, which has 48 bits: no two programs share pages.
use anyhow::{Context, Result};
use rustix::event::{poll, PollFd, PollFlags};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Hexadecimal digits of an address, and with a program's number above it.
const DIGITS: usize = 12;
const MOST_PROGRAMS: u64 = 1 << 16;

/// The stream. It ends when all programs have.
pub struct Followed {
    listener: TcpListener,
    /// All processes have the other end: its end is theirs.
    alive: Option<io::PipeReader>,
    programs: Vec<Program>,
    count: Arc<AtomicU64>,
    buffer: Vec<u8>,
    /// Lines to be read, and how much of them was.
    lines: Vec<u8>,
    at: usize,
}

struct Program {
    from: TcpStream,
    number: u64,
    /// The begin of a line.
    rest: Vec<u8>,
}

impl Followed {
    /// Listens, for this machine alone. `alive` is the reading end of a pipe that all processes have
    /// open for writing.
    ///
    /// # Errors
    /// When there is no loopback.
    pub fn listen(alive: io::PipeReader) -> Result<Followed> {
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(here).context("listening for valgrind")?;
        listener.set_nonblocking(true)?;
        Ok(Followed {
            listener,
            alive: Some(alive),
            programs: Vec::new(),
            count: Arc::default(),
            buffer: vec![0; 64 << 10],
            lines: Vec::new(),
            at: 0,
        })
    }

    /// Where valgrind is to connect to.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// How many programs there were; for when the stream is gone.
    pub fn count(&self) -> Arc<AtomicU64> {
        self.count.clone()
    }

    /// Waits for lines. False when there will be none.
    fn more(&mut self) -> io::Result<bool> {
        loop {
            self.accept()?;
            // Programs that came first go first: what one said before it started another comes before
            // the other's.
            let mut place = 0;
            while let Some(program) = self.programs.get_mut(place) {
                match program.from.read(&mut self.buffer) {
                    Ok(0) => {
                        program.end(&mut self.lines);
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
                    Err(error) => return Err(error),
                }
            }
            if !self.lines.is_empty() {
                return Ok(true);
            }
            if self.alive.is_none() && self.programs.is_empty() {
                // Who ended before we looked may have connected before that.
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

    /// Until a program says something, one connects, or all have ended.
    fn wait(&mut self) -> io::Result<()> {
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        let programs = self.programs.iter();
        fds.extend(programs.map(|it| PollFd::new(&it.from, PollFlags::IN)));
        if let Some(alive) = &self.alive {
            fds.push(PollFd::new(alive, PollFlags::IN));
        }
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ended = self.alive.is_some() && fds.last().is_some_and(|fd| !fd.revents().is_empty());
        drop(fds);
        if ended {
            self.alive = None;
        }
        Ok(())
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

    /// The last line may have no end.
    fn end(&mut self, lines: &mut Vec<u8>) {
        let mut rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            rest.push(b'\n');
            self.line(&rest, lines);
        }
    }

    /// `KIND ADDRESS,BYTES`; others are passed on as they are.
    fn line(&self, line: &[u8], lines: &mut Vec<u8>) {
        let address = || {
            let comma = line.iter().position(|&b| b == b',')?;
            let begin = line[..comma].iter().rposition(|&b| b == b' ')? + 1;
            let digits = comma - begin;
            // A longer address is the kernel's, whose page all programs share.
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

/// Ends a process and all that it has started.
pub fn end(process: u32) {
    let mut all = vec![process];
    let mut next = 0;
    while let Some(parent) = all.get(next) {
        // Each thread has a list of the processes that it started.
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
        for task in tasks.into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children"));
            let children = children.unwrap_or_default();
            all.extend(
                children
                    .split_whitespace()
                    .filter_map(|pid| pid.parse::<u32>().ok()),
            );
        }
        next += 1;
    }
    // From the first on: who is gone starts nobody.
    for process in all {
        if let Some(pid) = rustix::process::Pid::from_raw(process as i32) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_each_program_are_told_apart_and_the_end_is_that_of_all() {
        let (alive, theirs) = io::pipe().unwrap();
        let mut followed = Followed::listen(alive).unwrap();
        let address = followed.address().unwrap();
        let count = followed.count();
        let thread = std::thread::spawn(move || {
            let mut first = TcpStream::connect(address).unwrap();
            first.write_all(b"I  04001000,3\n L 1ffef").unwrap();
            let mut second = TcpStream::connect(address).unwrap();
            second
                .write_all(b"I  04001000,3\n==7== Counted 3,4\n")
                .unwrap();
            second.write_all(b" L ffffffffff600000,8\n S 10,4").unwrap();
            drop(second);
            first.write_all(b"ff000,8\n").unwrap();
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
