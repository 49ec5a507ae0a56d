//! A worker that kills the daemon, and checks that the next daemon restores the knobs.
use anyhow::{bail, Context, Result};
use protocol::work::KillDaemon;
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, vmstat_field};
use crate::process::signal;
use crate::work::stop::stopping;
use crate::xorshift::Random;

/// Milliseconds that the second daemon runs before SIGTERM.
const SECOND_MS: u64 = 100;

/// Counts over all times.
#[derive(Default)]
struct Tally {
    killed: u32,
    wrong: u32,
    changed: u32,
    bad_exit: u32,
    stopped: u32,
    changed_while_stopped: u32,
    locked_mb: f64,
    swapped_kb: f64,
}

/// Kills the daemon and compares the knobs, time after time.
pub fn daemon(
    worker: &str,
    command: &[String],
    plan: &KillDaemon,
    seed: u64,
    channel: &Channel,
) -> Result<()> {
    let begin = now_ms();
    let mut random = Random::new(seed);
    let originals = values(&plan.knobs)?;
    let mut tally = Tally::default();
    for time in 0..plan.times {
        if stopping() {
            break;
        }
        let mut first = start(command, Stdio::inherit())?;
        let (least, most) = (plan.least_ms, plan.most_ms);
        // The wait is drawn to a microsecond: a write takes less than a millisecond.
        let wait = least * 1000 + random.next() % ((most - least) * 1000 + 1);
        std::thread::sleep(Duration::from_micros(wait));
        if let Some(status) = first.try_wait()? {
            bail!("time {time}: the daemon ended before it was killed: {status}; see the console");
        }
        if plan.stopped_ms > 0 {
            stop(&first, plan, &originals, &mut tally)?;
        }
        if plan.stopped_ms > 0 && time % 2 == 0 {
            // The daemon goes on as if it had not been stopped.
            signal(first.id() as i32, Signal::CONT);
            std::thread::sleep(Duration::from_millis(SECOND_MS));
            signal(first.id() as i32, Signal::TERM);
            tally.bad_exit += u32::from(!first.wait()?.success());
        } else {
            first.kill().context("killing the daemon")?;
            first.wait()?;
            tally.killed += 1;
            tally.changed += u32::from(values(&plan.knobs)? != originals);
            match plan.stopped_ms {
                0 => tally.bad_exit += u32::from(!run_again(command)?),
                _ => tally.bad_exit += u32::from(!restore(command)?),
            }
        }
        for ((knob, now), (_, original)) in values(&plan.knobs)?.iter().zip(&originals) {
            if now != original {
                tally.wrong += 1;
                let detail = format!("time {time}: {knob} is {now:?}, was {original:?}");
                channel.event("knob-not-given-back", detail);
            }
        }
    }
    let observe = |name, value| channel.observe(format!("{worker}.{name}"), begin, value);
    observe("killed", f64::from(tally.killed));
    observe("wrong", f64::from(tally.wrong));
    observe("changed", f64::from(tally.changed));
    observe("bad_exit", f64::from(tally.bad_exit));
    if plan.stopped_ms > 0 {
        observe("stopped", f64::from(tally.stopped));
        let changed = f64::from(tally.changed_while_stopped);
        observe("changed_while_stopped", changed);
        observe("locked_mb", tally.locked_mb);
        observe("swapped_kb", tally.swapped_kb);
    }
    Ok(())
}

/// Stops the daemon with SIGSTOP, and measures the memory that it holds.
fn stop(daemon: &Child, plan: &KillDaemon, originals: &Values, tally: &mut Tally) -> Result<()> {
    signal(daemon.id() as i32, Signal::STOP);
    std::thread::sleep(Duration::from_millis(plan.stopped_ms));
    tally.stopped += 1;
    tally.changed_while_stopped += u32::from(values(&plan.knobs)? != *originals);
    let locked = vmstat_field(&read("/proc/vmstat")?, "nr_mlock").unwrap_or(0);
    tally.locked_mb = tally.locked_mb.max(locked as f64 / 256.0);
    let status = read(&format!("/proc/{}/status", daemon.id()))?;
    let swap = { status.lines() }.find_map(|line| line.strip_prefix("VmSwap:"));
    let kb = swap.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    tally.swapped_kb = tally.swapped_kb.max(kb.unwrap_or(0.0));
    Ok(())
}

/// Starts a second daemon, which restores the knobs that the first has left. Returns whether the second
/// ends well.
fn run_again(command: &[String]) -> Result<bool> {
    let mut second = start(command, Stdio::piped())?;
    wait_for_log(&mut second)?;
    std::thread::sleep(Duration::from_millis(SECOND_MS));
    signal(second.id() as i32, Signal::TERM);
    Ok(second.wait()?.success())
}

/// Restores the knobs with `--restore`. Returns whether the command ends well.
fn restore(command: &[String]) -> Result<bool> {
    let mut command = command.to_vec();
    command.push("--restore".into());
    Ok(start(&command, Stdio::inherit())?.wait()?.success())
}

/// Waits for the first line of the log: an earlier SIGTERM may find a program without a handler.
/// The log goes on to the console.
fn wait_for_log(daemon: &mut Child) -> Result<()> {
    let log = daemon.stderr.take().context("the daemon has no log")?;
    let mut log = BufReader::new(log);
    let mut line = Vec::new();
    log.read_until(b'\n', &mut line)
        .context("reading the daemon's log")?;
    eprint!("{}", String::from_utf8_lossy(&line));
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::stderr()));
    Ok(())
}

fn start(command: &[String], log: Stdio) -> Result<Child> {
    let (program, arguments) = command.split_first().context("the daemon has no program")?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .with_context(|| format!("starting {program}"))
}

type Values = Vec<(String, String)>;

fn values(knobs: &[String]) -> Result<Values> {
    let value = |knob: &String| Ok((knob.clone(), read(knob)?.trim().to_string()));
    knobs.iter().map(value).collect()
}
