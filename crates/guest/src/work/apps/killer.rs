//! Kills by lmkd's rules, from a thread that is never late.
use anyhow::{Context, Result};
use raw::apps::Killer;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{pidfd_open, pidfd_send_signal, Pid, PidfdFlags, Signal};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use super::book::{Book, Who};
use super::lmkd::{Rules, Sight};
use crate::channel::{now_ms, Channel};
use crate::counters::{read, vmstat_field};

const PRESSURE: &str = "/proc/pressure/memory";
const WINDOW_MS: u64 = 1000;
/// How often it looks for a second after a trigger: seldom, and often when swap is low or after a kill.
const LONG_MS: f64 = 100.0;
const SHORT_MS: f64 = 10.0;
/// How long it waits for a process to be gone (`ro.lmk.kill_timeout_ms`).
const KILL_MS: f64 = 100.0;

/// Starts the killer's thread.
///
/// # Errors
/// When the kernel takes no pressure triggers.
pub fn start(settings: &Killer, book: Arc<Book>, channel: Channel) -> Result<()> {
    let trigger = |kind: &str, stall_ms: u64| -> Result<File> {
        let file = File::options().read(true).write(true).open(PRESSURE);
        let mut file = file.with_context(|| format!("opening {PRESSURE}"))?;
        let text = format!("{kind} {} {}\0", stall_ms * 1000, WINDOW_MS * 1000);
        file.write_all(text.as_bytes())
            .with_context(|| format!("writing {text:?} to {PRESSURE}"))?;
        Ok(file)
    };
    let partial = trigger("some", settings.psi_partial_stall_ms)?;
    let complete = trigger("full", settings.psi_complete_stall_ms)?;
    let rules = Rules::new(settings, &sight(false, false)?);
    std::thread::spawn(move || {
        crate::watch::realtime(1);
        if let Err(error) = watch(&partial, &complete, rules, &book, &channel) {
            channel.event("worker-error", format!("lmkd: {error:#}"));
        }
    });
    Ok(())
}

fn watch(
    partial: &File,
    complete: &File,
    mut rules: Rules,
    book: &Book,
    channel: &Channel,
) -> Result<()> {
    // Until when it looks on without a trigger, and how often.
    let mut until = 0.0;
    let mut period = LONG_MS;
    let mut dying: Option<(OwnedFd, f64)> = None;
    loop {
        let (some, full) = wait(partial, complete, (now_ms() < until).then_some(period))?;
        let now = now_ms();
        let mut after_kill = false;
        if let Some((process, since)) = &dying {
            if !gone(process.as_fd())? && now - since < KILL_MS {
                continue;
            }
            dying = None;
            after_kill = true;
        }
        let found = rules.look(&sight(full, after_kill)?);
        let mut killed = false;
        if let Some(kill) = found.kill {
            if let Some(victim) = book.oldest(kill.least_adj, Who::Lmkd) {
                dying = end(victim.pid)?.map(|process| (process, now));
                killed = true;
                let (app, adj) = (victim.app, victim.adj);
                channel.event("app-kill", format!("lmkd {app} adj {adj} {}", kill.reason));
            }
        }
        // On while someone dies or reclaims for himself; kswapd may go on for long without harm.
        if some || full || killed || found.direct_reclaim {
            until = now + WINDOW_MS as f64;
        }
        let often = found.swap_is_low || killed || dying.is_some();
        period = if often { SHORT_MS } else { LONG_MS };
    }
}

/// Waits for a trigger, without end or for a period; which of them fired.
fn wait(partial: &File, complete: &File, period: Option<f64>) -> Result<(bool, bool)> {
    let mut fds = [
        PollFd::new(partial, PollFlags::PRI),
        PollFd::new(complete, PollFlags::PRI),
    ];
    let timeout = period.map(|ms| Timespec {
        tv_sec: 0,
        tv_nsec: (ms * 1e6) as i64,
    });
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error).context("waiting for memory pressure"),
    }
    let fired = |at: usize| fds[at].revents().contains(PollFlags::PRI);
    Ok((fired(0), fired(1)))
}

fn gone(process: std::os::fd::BorrowedFd<'_>) -> Result<bool> {
    let mut fds = [PollFd::new(&process, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    Ok(poll(&mut fds, Some(&now)).context("looking whether a process is gone")? > 0)
}

/// Kills, and gives the memory back at once; none where the process is gone already.
pub fn end(pid: i32) -> Result<Option<OwnedFd>> {
    let process = match pidfd_open(Pid::from_raw(pid).context("no pid")?, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(rustix::io::Errno::SRCH) => return Ok(None),
        Err(error) => return Err(error).context("pidfd_open"),
    };
    match pidfd_send_signal(&process, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => return Err(error).context("pidfd_send_signal"),
    }
    // What it cannot have the process frees itself: nothing to do about an error.
    // SAFETY: process_mrelease(2) takes a descriptor, which lives through the call, and flags.
    unsafe { libc::syscall(libc::SYS_process_mrelease, process.as_raw_fd(), 0) };
    Ok(Some(process))
}

fn sight(critical: bool, after_kill: bool) -> Result<Sight> {
    let vmstat = read("/proc/vmstat")?;
    let get = |name| vmstat_field(&vmstat, name).unwrap_or(0);
    let zones = read("/proc/zoneinfo")?;
    let (mut min, mut low, mut high) = (0, 0, 0);
    for line in zones.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(value)) = (words.next(), words.next()) else {
            continue;
        };
        let value = value.parse::<u64>().unwrap_or(0);
        match name {
            "min" => min += value,
            "low" => low += value,
            "high" => high += value,
            _ => {}
        }
    }
    let info = rustix::system::sysinfo();
    let unit = u64::from(info.mem_unit.max(1));
    Ok(Sight {
        now_ms: now_ms(),
        free: get("nr_free_pages"),
        min,
        low,
        high,
        file_lru: get("nr_inactive_file") + get("nr_active_file"),
        refault_file: get("workingset_refault_file"),
        pgscan_kswapd: get("pgscan_kswapd"),
        pgscan_direct: get("pgscan_direct"),
        swap_total: info.totalswap as u64 * unit / 4096,
        swap_free: info.freeswap as u64 * unit / 4096,
        critical,
        after_kill,
    })
}
