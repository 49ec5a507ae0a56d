//! A worker that kills the daemon, and sees whether the next one puts all right.
use anyhow::{bail, Context, Result};
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{stopping, Random};
use crate::channel::{now_ms, Channel};
use crate::counters::{read, vmstat_field};
use crate::play::signal;

/// How long the second daemon runs before it is told to stop.
const SECOND_MS: u64 = 100;

/// How often, after how long, and what is looked at.
pub struct Plan<'a> {
    pub times: u32,
    pub wait_ms: (u64, u64),
    /// Stopped for so long before; 0: not at all.
    pub stopped_ms: u64,
    pub knobs: &'a [String],
    pub seed: u64,
}

/// What came of it.
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

/// Kills and looks, time after time.
pub fn daemon(worker: &str, command: &[String], plan: &Plan, channel: &Channel) -> Result<()> {
    let begin = now_ms();
    let mut random = Random::new(plan.seed);
    let originals = values(plan.knobs)?;
    let mut tally = Tally::default();
    for time in 0..plan.times {
        if stopping() {
            break;
        }
        let mut first = start(command, Stdio::inherit())?;
        let (least, most) = plan.wait_ms;
        // To a tenth of a millisecond: a write takes less than one.
        let wait = least * 1000 + random.next() % ((most - least) * 1000 + 1);
        std::thread::sleep(Duration::from_micros(wait));
        if let Some(status) = first.try_wait()? {
            bail!("time {time}: the daemon ended before it was killed: {status}; see the console");
        }
        if plan.stopped_ms > 0 {
            stop(&first, plan, &originals, &mut tally)?;
        }
        if plan.stopped_ms > 0 && time % 2 == 0 {
            // It goes on as if nothing had been.
            signal(first.id() as i32, Signal::CONT);
            std::thread::sleep(Duration::from_millis(SECOND_MS));
            signal(first.id() as i32, Signal::TERM);
            tally.bad_exit += u32::from(!first.wait()?.success());
        } else {
            first.kill().context("killing the daemon")?;
            first.wait()?;
            tally.killed += 1;
            tally.changed += u32::from(values(plan.knobs)? != originals);
            match plan.stopped_ms {
                0 => tally.bad_exit += u32::from(!run_again(command)?),
                _ => tally.bad_exit += u32::from(!restore(command)?),
            }
        }
        for ((knob, now), (_, original)) in values(plan.knobs)?.iter().zip(&originals) {
            if now != original {
                tally.wrong += 1;
                let words = format!("time {time}: {knob} is {now:?}, was {original:?}");
                channel.event("knob-not-given-back", words);
            }
        }
    }
    let tell = |name, value| channel.observe(format!("{worker}.{name}"), begin, value);
    tell("killed", f64::from(tally.killed));
    tell("wrong", f64::from(tally.wrong));
    tell("changed", f64::from(tally.changed));
    tell("bad_exit", f64::from(tally.bad_exit));
    if plan.stopped_ms > 0 {
        tell("stopped", f64::from(tally.stopped));
        let changed = f64::from(tally.changed_while_stopped);
        tell("changed_while_stopped", changed);
        tell("locked_mb", tally.locked_mb);
        tell("swapped_kb", tally.swapped_kb);
    }
    Ok(())
}

/// Stops the daemon, and looks at what it holds.
fn stop(daemon: &Child, plan: &Plan, originals: &Values, tally: &mut Tally) -> Result<()> {
    signal(daemon.id() as i32, Signal::STOP);
    std::thread::sleep(Duration::from_millis(plan.stopped_ms));
    tally.stopped += 1;
    tally.changed_while_stopped += u32::from(values(plan.knobs)? != *originals);
    let locked = vmstat_field(&read("/proc/vmstat")?, "nr_mlock").unwrap_or(0);
    tally.locked_mb = tally.locked_mb.max(locked as f64 / 256.0);
    let status = read(&format!("/proc/{}/status", daemon.id()))?;
    let swap = { status.lines() }.find_map(|line| line.strip_prefix("VmSwap:"));
    let kb = swap.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok());
    tally.swapped_kb = tally.swapped_kb.max(kb.unwrap_or(0.0));
    Ok(())
}

/// A second one puts right what the first has left, and ends well.
fn run_again(command: &[String]) -> Result<bool> {
    let mut second = start(command, Stdio::piped())?;
    first_word(&mut second)?;
    std::thread::sleep(Duration::from_millis(SECOND_MS));
    signal(second.id() as i32, Signal::TERM);
    Ok(second.wait()?.success())
}

/// `--restore` does.
fn restore(command: &[String]) -> Result<bool> {
    let mut command = command.to_vec();
    command.push("--restore".into());
    Ok(start(&command, Stdio::inherit())?.wait()?.success())
}

/// Waits until it says something: before that a SIGTERM may find a program that does not yet know
/// what to do with one. All that it says goes on to the console.
fn first_word(daemon: &mut Child) -> Result<()> {
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
