//! The apps' processes: started, given orders, ranked and reaped.
use anyhow::{bail, Context, Result};
use protocol::work::apps::AppCycle;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command as Program, Stdio};
use std::sync::Arc;

use super::book::{Book, KilledBy};
use super::killer;
use super::order::{Command, Order};
use super::tally::{Kills, Start};
use crate::channel::Channel;
use crate::kernel_files::write;

/// `oom_score_adj` as Android ranks apps: the app in front, the previous one, and cached apps from
/// 900 on.
const FRONT: i32 = 0;
const PREVIOUS: i32 = 700;
const CACHED: i32 = 900;
const CACHED_MOST: i32 = 999;
const SYSTEM: i32 = -900;

struct Process {
    child: Child,
    orders: ChildStdin,
    answers: ChildStdout,
    lost_interface: bool,
}

/// The processes of all apps.
pub struct Fleet<'a> {
    worker: &'a str,
    spec: &'a AppCycle,
    book: Arc<Book>,
    apps: Vec<Option<Process>>,
    system: Process,
    /// Living apps, the one in front first.
    recent: Vec<usize>,
    kills: Kills,
}

impl<'a> Fleet<'a> {
    /// Starts the system process.
    pub fn new(worker: &'a str, spec: &'a AppCycle, book: Arc<Book>) -> Result<Fleet<'a>> {
        let mut system = launch(worker, "system")?;
        rank(&system.child, SYSTEM)?;
        if !order(&mut system, Command::Cold, 0)? {
            bail!("the system process did not start; see the console");
        }
        Ok(Fleet {
            worker,
            spec,
            book,
            apps: (0..spec.apps).map(|_| None).collect(),
            system,
            recent: Vec::new(),
            kills: Kills::default(),
        })
    }

    /// Brings an app to the front. Returns the kind of start, and whether the app survived it.
    pub fn start(&mut self, app: usize, turn: u32) -> Result<(Start, bool)> {
        self.bury()?;
        // The system process takes part in every start.
        if !order(&mut self.system, Command::Burst, turn)? {
            bail!("the system process is gone");
        }
        let start = match &mut self.apps[app] {
            None => Start::Cold,
            Some(process) => match std::mem::take(&mut process.lost_interface) {
                true => Start::Warm,
                false => Start::Hot,
            },
        };
        self.recent.retain(|other| *other != app);
        self.recent.insert(0, app);
        let command = match start {
            Start::Cold => {
                let process = launch(self.worker, &app.to_string())?;
                self.book.enter(app, process.child.id() as i32);
                // The new process starts with the harness's own rank.
                rank(&process.child, FRONT)?;
                self.apps[app] = Some(process);
                Command::Cold
            }
            Start::Warm => Command::Warm,
            Start::Hot => Command::Hot,
        };
        self.rank()?;
        Ok((start, self.order(app, command, turn)?))
    }

    /// Gives an app an order. Returns false if the app died while carrying it out, or before.
    pub fn order(&mut self, app: usize, command: Command, turn: u32) -> Result<bool> {
        match &mut self.apps[app] {
            Some(process) => order(process, command, turn),
            None => Ok(false),
        }
    }

    /// Moves an app from the front to the background, and kills the oldest cached app above the cap.
    pub fn leave(
        &mut self,
        app: usize,
        loses_interface: bool,
        turn: u32,
        channel: &Channel,
    ) -> Result<()> {
        if loses_interface && self.order(app, Command::Background, turn)? {
            if let Some(process) = &mut self.apps[app] {
                process.lost_interface = true;
            }
        }
        self.report_deaths(channel)?;
        let cap = self.spec.cached_cap as usize;
        while cap > 0 && self.cached() > cap {
            let Some(victim) = self.book.oldest(CACHED, KilledBy::Ams) else {
                break;
            };
            killer::end(victim.pid)?;
            let adj = victim.adj;
            channel.event("app-kill", format!("ams {} adj {adj} cap", victim.app));
            self.wait(victim.app)?;
        }
        Ok(())
    }

    /// Living apps except the one in front.
    pub fn cached(&self) -> usize {
        self.recent.len().saturating_sub(1)
    }

    /// Reaps dead apps, and reports those that the kernel or a daemon killed.
    pub fn report_deaths(&mut self, channel: &Channel) -> Result<()> {
        for app in self.bury()? {
            channel.event("app-kill", format!("kernel or daemon {app}"));
        }
        Ok(())
    }

    /// Kills since the last call.
    pub fn take_kills(&mut self) -> Kills {
        std::mem::take(&mut self.kills)
    }

    /// Ends all apps, so that the next scene has the machine to itself.
    pub fn end(mut self) -> Result<()> {
        let apps = self.apps.iter_mut().flatten();
        for process in apps.chain([&mut self.system]) {
            // A process that is dead already is no error.
            let _ = process.child.kill();
            process.child.wait().context("waiting for an app's end")?;
        }
        Ok(())
    }

    /// Writes each app's rank, in the order in which they would be killed.
    fn rank(&mut self) -> Result<()> {
        for (place, app) in self.recent.iter().enumerate() {
            let adj = match place {
                0 => FRONT,
                1 => PREVIOUS,
                n => (CACHED - 2 + n as i32).min(CACHED_MOST),
            };
            if self.book.rank(*app, adj) {
                if let Some(process) = &self.apps[*app] {
                    rank(&process.child, adj)?;
                }
            }
        }
        Ok(())
    }

    fn wait(&mut self, app: usize) -> Result<()> {
        if let Some(process) = &mut self.apps[app] {
            process.child.wait().context("waiting for an app's end")?;
        }
        self.bury().map(drop)
    }

    /// Reaps processes that have ended; returns those that the kernel or a daemon killed.
    fn bury(&mut self) -> Result<Vec<usize>> {
        let mut killed = Vec::new();
        for app in 0..self.apps.len() {
            let Some(process) = &mut self.apps[app] else {
                continue;
            };
            let Some(status) = process.child.try_wait().context("waiting for an app")? else {
                continue;
            };
            self.apps[app] = None;
            let entry = self.book.strike(app);
            let by = match entry.and_then(|entry| entry.by) {
                Some(who) => who,
                None if status.signal() == Some(libc::SIGKILL) => {
                    killed.push(app);
                    KilledBy::Oom
                }
                None => bail!("app {app} ended with {status}; see the console"),
            };
            *self.kills.by.entry(by).or_default() += 1;
            if self.recent.first() == Some(&app) {
                self.kills.front += 1;
            }
            self.recent.retain(|other| *other != app);
        }
        Ok(killed)
    }
}

fn launch(worker: &str, unit: &str) -> Result<Process> {
    let mut child = Program::new("/init")
        .args(["work", worker, unit])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {unit}"))?;
    let orders = child
        .stdin
        .take()
        .context("an app without a pipe for orders")?;
    let answers = child
        .stdout
        .take()
        .context("an app without a pipe for answers")?;
    Ok(Process {
        child,
        orders,
        answers,
        lost_interface: false,
    })
}

/// Sends one order and waits for the answer; false if the process has ended.
fn order(process: &mut Process, command: Command, turn: u32) -> Result<bool> {
    let order = Order { command, turn };
    match process.orders.write_all(&order.to_bytes()) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(false),
        Err(error) => return Err(error).context("sending an order to an app"),
    }
    let mut answer = [0];
    loop {
        match process.answers.read(&mut answer) {
            Ok(n) => return Ok(n == 1),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("reading an app's answer"),
        }
    }
}

fn rank(child: &Child, adj: i32) -> Result<()> {
    let path = format!("/proc/{}/oom_score_adj", child.id());
    match write(&path, &adj.to_string()) {
        Err(error) => match error.downcast_ref::<std::io::Error>() {
            // A dead process has no rank.
            Some(why) if why.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            Some(why) if why.kind() == ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        },
        done => done,
    }
}
