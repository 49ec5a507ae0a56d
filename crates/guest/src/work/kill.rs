//! A worker that kills the daemon, and sees whether the next one puts all right.
use anyhow::{ensure, Context, Result};
use rustix::process::Signal;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{stopping, Random};
use crate::channel::{now_ms, Channel};
use crate::counters::read;
use crate::play::signal;

/// How long the second daemon runs before it is told to stop.
const SECOND_MS: u64 = 100;

/// How often, after how long, and what is looked at.
pub struct Plan<'a> {
    pub times: u32,
    pub wait_ms: (u64, u64),
    pub knobs: &'a [String],
    pub seed: u64,
}

/// Kills and looks, time after time.
pub fn daemon(worker: &str, command: &[String], plan: &Plan, channel: &Channel) -> Result<()> {
    let begin = now_ms();
    let mut random = Random::new(plan.seed);
    let originals = values(plan.knobs)?;
    let (mut killed, mut wrong, mut changed, mut bad_exit) = (0u32, 0u32, 0u32, 0u32);
    for time in 0..plan.times {
        if stopping() {
            break;
        }
        let mut first = start(command, Stdio::inherit())?;
        let (least, most) = plan.wait_ms;
        // To a tenth of a millisecond: a write takes less than one.
        let wait = least * 1000 + random.next() % ((most - least) * 1000 + 1);
        std::thread::sleep(Duration::from_micros(wait));
        ensure!(
            first.try_wait()?.is_none(),
            "time {time}: the daemon ended before it was killed; see the console"
        );
        first.kill().context("killing the daemon")?;
        first.wait()?;
        killed += 1;
        changed += u32::from(values(plan.knobs)? != originals);
        let mut second = start(command, Stdio::piped())?;
        first_word(&mut second)?;
        std::thread::sleep(Duration::from_millis(SECOND_MS));
        signal(second.id() as i32, Signal::TERM);
        bad_exit += u32::from(!second.wait()?.success());
        for ((knob, now), (_, original)) in values(plan.knobs)?.iter().zip(&originals) {
            if now != original {
                wrong += 1;
                let words = format!("time {time}: {knob} is {now:?}, was {original:?}");
                channel.event("knob-not-given-back", words);
            }
        }
    }
    for (name, value) in [
        ("killed", killed),
        ("wrong", wrong),
        ("changed", changed),
        ("bad_exit", bad_exit),
    ] {
        channel.observe(format!("{worker}.{name}"), begin, f64::from(value));
    }
    Ok(())
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

fn values(knobs: &[String]) -> Result<Vec<(String, String)>> {
    let value = |knob: &String| Ok((knob.clone(), read(knob)?.trim().to_string()));
    knobs.iter().map(value).collect()
}
