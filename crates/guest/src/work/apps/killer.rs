//! Kills by lmkd's rules, from a real-time thread.
use anyhow::{Context, Result};
use protocol::work::apps::Killer;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{pidfd_open, pidfd_send_signal, Pid, PidfdFlags, Signal};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use super::book::{Book, KilledBy};
use super::lmkd::{Rules, Snapshot};
use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, vmstat_field};

const PRESSURE: &str = "/proc/pressure/memory";
const WINDOW_MS: u64 = 1000;
/// Milliseconds between two samples in the second after a trigger: long, or short when swap is low
/// or after a kill.
const LONG_MS: f64 = 100.0;
const SHORT_MS: f64 = 10.0;
/// Milliseconds that it waits for a process to end (`ro.lmk.kill_timeout_ms`).
const KILL_MS: f64 = 100.0;

/// Starts the killer's thread.
///
/// # Errors
/// When the kernel accepts no pressure triggers.
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
    let rules = Rules::new(settings, &snapshot(false, false)?);
    std::thread::spawn(move || {
        crate::observe::watch::realtime(1);
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
    // The time until which it samples without a trigger, and the period, in milliseconds.
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
        let decision = rules.decide(&snapshot(full, after_kill)?);
        let mut killed = false;
        if let Some(kill) = decision.kill {
            if let Some(victim) = book.oldest(kill.least_adj, KilledBy::Lmkd) {
                dying = end(victim.pid)?.map(|process| (process, now));
                killed = true;
                let (app, adj) = (victim.app, victim.adj);
                channel.event("app-kill", format!("lmkd {app} adj {adj} {}", kill.reason));
            }
        }
        // Go on while a process dies or reclaims directly. kswapd may run for long without harm.
        if some || full || killed || decision.direct_reclaim {
            until = now + WINDOW_MS as f64;
        }
        let often = decision.swap_is_low || killed || dying.is_some();
        period = if often { SHORT_MS } else { LONG_MS };
    }
}

/// Waits for a trigger, for ever or for a period; returns which of the two fired.
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
    Ok(poll(&mut fds, Some(&now)).context("polling a process's end")? > 0)
}

/// Kills a process, and has its memory freed at once; none if it has ended already.
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
    // An error is ignored: the process then frees its memory itself.
    // SAFETY: process_mrelease(2) takes a descriptor, which lives through the call, and flags.
    unsafe { libc::syscall(libc::SYS_process_mrelease, process.as_raw_fd(), 0) };
    Ok(Some(process))
}

fn snapshot(critical: bool, after_kill: bool) -> Result<Snapshot> {
    let vmstat = read("/proc/vmstat")?;
    let get = |name| vmstat_field(&vmstat, name).unwrap_or(0);
    let zones = read("/proc/zoneinfo")?;
    let (mut min, mut low, mut high) = (0, 0, 0);
    for line in zones.lines() {
        let mut fields = line.split_whitespace();
        let (Some(name), Some(value)) = (fields.next(), fields.next()) else {
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
    Ok(Snapshot {
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
