//! `hotset top`: memory as it is, as it was, and as it is forecast.
mod app;
mod cgroups;
mod moment;
mod source;
mod view;

use crate::shell::usage;
use anyhow::{Context, Result};
use app::App;
use clap::{Args, ValueHint};
use kernfs::Root;
use lab::host::stop::Stop;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::DefaultTerminal;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use signal_hook::consts::SIGINT;
use source::Live;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use view::Palette;

#[derive(Args)]
#[command(
    after_help = "Without a daemon, and in a recording, it shows what hotsetd would do. The last hour can be \
    looked back on.\n\n\
    Keys: left and right move in time, PgUp and PgDn by 60 samples, Home to the first, End to the newest. \
    Up and down choose an event, Enter explains it. Space holds. q quits.\n\n\
    Examples:\n  \
    hotset top\n  \
    hotset top evening.jsonl.zst"
)]
pub struct TopArgs {
    /// A file of `hotset record` to look at, in place of this machine
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    recording: Option<PathBuf>,
    /// Time from one look to the next, such as 0.5 or 2s
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = crate::record::interval, conflicts_with = "recording")]
    interval: Duration,
    /// The daemon's status socket
    #[arg(long, value_name = "FILE", default_value = "/run/hotset/status.sock")]
    socket: PathBuf,
}

/// Shows the screen until `q`.
///
/// # Errors
/// There is no terminal, or the recording cannot be read.
pub fn run(args: &TopArgs) -> Result<ExitCode> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(usage!(
            "top needs a terminal; for a file or a pipe: hotset status --watch"
        ));
    }
    let (mut app, mut live) = match &args.recording {
        Some(path) => {
            let (release, moments) = source::recorded(path)?;
            let name = path.file_name().map(Path::new).unwrap_or(path);
            let mut app = App::new(&release, Some(names::shown(name).to_string()));
            moments.into_iter().for_each(|moment| app.push(moment));
            (app, None)
        }
        None => {
            let live = Live::new(Root::default(), &args.socket);
            (App::new(live.release(), None), Some(live))
        }
    };
    let colors = anstream::stdout().current_choice() != anstream::ColorChoice::Never;
    let stop = Stop::on_signals()?;
    let mut terminal = ratatui::try_init().context("the terminal cannot be set up")?;
    let done = watch(
        &mut terminal,
        &mut app,
        live.as_mut(),
        args.interval,
        Palette { colors },
        &stop,
    );
    // Where the terminal has gone, nothing is left to restore.
    let _ = ratatui::try_restore();
    done?;
    // The terminal sends no signal for Ctrl-C while it hands over each key.
    let signal = stop.signal().or(app.interrupted.then_some(SIGINT as u8));
    Ok(signal.map_or(ExitCode::SUCCESS, |number| ExitCode::from(128 + number)))
}

/// Waits for a key. `false`: the terminal has gone. crossterm would wait for one without end, and without rest.
fn waited(most: Duration) -> Result<bool> {
    let input = io::stdin();
    let mut wanted = [PollFd::new(&input, PollFlags::IN)];
    let most = Timespec::try_from(most).map_err(io::Error::other)?;
    match poll(&mut wanted, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(errno).context("the terminal"),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    Ok(!wanted[0].revents().intersects(gone))
}

fn watch(
    terminal: &mut DefaultTerminal,
    app: &mut App,
    mut live: Option<&mut Live>,
    interval: Duration,
    palette: Palette,
    stop: &Stop,
) -> Result<()> {
    let mut due = Instant::now();
    while !app.over && !stop.asked() {
        if let Some(live) = live.as_mut().filter(|_| due <= Instant::now()) {
            app.push(live.look());
            due = Instant::now() + interval;
        }
        terminal
            .draw(|frame| view::draw(frame, app, palette))
            .context("the terminal")?;
        let wait = match live {
            Some(_) => due.saturating_duration_since(Instant::now()),
            None => Duration::from_secs(1),
        };
        if !waited(wait)? {
            return Ok(());
        }
        while event::poll(Duration::ZERO).context("the terminal")? {
            match event::read().context("the terminal")? {
                Event::Key(key) if key.kind == KeyEventKind::Press => app.key(key),
                _ => {}
            }
        }
    }
    Ok(())
}
