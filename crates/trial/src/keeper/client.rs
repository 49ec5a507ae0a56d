//! The keeper, as the trial sees it.
use super::knobs::recover;
use super::programs;
use super::wire::{Message, Order};
use anyhow::{anyhow, bail, Context, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::net::{send, SendFlags};
use std::collections::VecDeque;
use std::io::Read;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A keeper that runs. Dropped, it undoes all before the drop returns.
pub struct Keeper {
    child: Child,
    to: Option<UnixStream>,
    from: ChildStdout,
    bytes: Vec<u8>,
    /// Messages that came while an answer was waited for.
    events: VecDeque<Message>,
    root: PathBuf,
    folder: Option<PathBuf>,
}

impl Keeper {
    /// Starts `program`, which is to call [`super::serve`]. Returns the notes of its start, too.
    ///
    /// # Errors
    /// The program cannot be started, another trial runs, or what an earlier one left cannot be given back.
    pub fn start(
        mut program: Command,
        root: &Path,
        folder: Option<&Path>,
    ) -> Result<(Keeper, Vec<String>)> {
        // Where the keeper is killed, its programs become this process's, which then ends them.
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own)).context("adopting processes")?;
        let (to, theirs) = UnixStream::pair().context("making a socket pair")?;
        program.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped());
        let child = program.spawn();
        // The program has the other end alone, so that its death closes the pair.
        drop(program);
        let mut child = child.context("starting the keeper")?;
        let from = child.stdout.take().context("starting the keeper")?;
        let mut keeper = Keeper {
            child,
            to: Some(to),
            from,
            bytes: Vec::new(),
            events: VecDeque::new(),
            root: root.into(),
            folder: None,
        };
        let notes = keeper.answer()?;
        // Only now are the journals this trial's, and not another's that runs.
        keeper.folder = folder.map(Into::into);
        Ok((keeper, notes))
    }

    /// Has an order carried out. Returns the keeper's notes.
    ///
    /// # Errors
    /// The keeper cannot do it, or is gone.
    pub fn ask(&mut self, order: &Order) -> Result<Vec<String>> {
        let mut line = serde_json::to_vec(order).context("an order")?;
        line.push(b'\n');
        let to = self.to.as_mut().context("the keeper is closed")?;
        let mut rest = &line[..];
        while !rest.is_empty() {
            // A pipe's SIGPIPE would end the trial instead.
            match send(&*to, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Err(gone()),
            }
        }
        self.answer()
    }

    fn answer(&mut self) -> Result<Vec<String>> {
        loop {
            match self.read(None, None)? {
                Some(Message::Done { notes }) => return Ok(notes),
                Some(Message::Failed { why }) => bail!("{why}"),
                Some(event) => self.events.push_back(event),
                None => {}
            }
        }
    }

    /// Forgets events that nobody has taken: they are of a run that is over.
    pub fn forget(&mut self) {
        self.events.clear();
    }

    /// The next event. None: the time is over, or `stop` has something to read.
    ///
    /// # Errors
    /// The keeper is gone.
    pub fn event(&mut self, stop: BorrowedFd, wait: Duration) -> Result<Option<Message>> {
        match self.events.pop_front() {
            Some(event) => Ok(Some(event)),
            None => self.read(Some(stop), Some(wait)),
        }
    }

    fn read(
        &mut self,
        stop: Option<BorrowedFd>,
        wait: Option<Duration>,
    ) -> Result<Option<Message>> {
        loop {
            if let Some(end) = self.bytes.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.bytes.drain(..=end).collect();
                return Ok(Some(
                    serde_json::from_slice(&line).context("the keeper's answer")?,
                ));
            }
            let mut fds = vec![PollFd::new(&self.from, PollFlags::IN)];
            fds.extend(stop.map(|stop| PollFd::from_borrowed_fd(stop, PollFlags::IN)));
            let wait = wait.map(|wait| Timespec::try_from(wait).unwrap_or_default());
            match poll(&mut fds, wait.as_ref()) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error).context("waiting for the keeper"),
            }
            if fds[0].revents().is_empty() {
                return Ok(None);
            }
            let mut buffer = [0; 4096];
            match self
                .from
                .read(&mut buffer)
                .context("reading from the keeper")?
            {
                0 => return Err(gone()),
                taken => self.bytes.extend_from_slice(&buffer[..taken]),
            }
        }
    }

    /// Ends the keeper, which undoes all.
    ///
    /// # Errors
    /// Something could not be undone.
    pub fn close(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        if self.to.take().is_none() {
            return Ok(());
        }
        // What it still says must not fill the pipe.
        let mut rest = Vec::new();
        let _ = self.from.read_to_end(&mut rest);
        let status = self.child.wait().context("waiting for the keeper")?;
        if status.success() {
            return Ok(());
        }
        // It was killed, or failed: the journals have what is left to be given back.
        programs::end_others(None, |_, _| {}).map_err(anyhow::Error::msg)?;
        if let Some(folder) = &self.folder {
            recover(&self.root, folder)?;
        }
        Err(anyhow!(
            "the keeper of the trial ended with {status}; every knob is given back"
        ))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The trial has failed already, and its error is the one to report.
        let _ = self.end();
    }
}

fn gone() -> anyhow::Error {
    anyhow!("the keeper of the trial was ended by somebody else; the trial cannot go on")
}
