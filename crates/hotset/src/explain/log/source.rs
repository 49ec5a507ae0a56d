//! The lines of a kernel's log: a file, the journal, or the kernel's own buffer.
use super::time::unix_s;
use crate::shell::note;
use anyhow::{anyhow, Context, Result};
use explain::klog::gather::{Found, Gatherer};
use explain::klog::kills::KILLERS;
use explain::klog::stamp::Civil;
use names::shown;
use progress::{Delayed, Unit};
use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// A line goes on as another after so many bytes.
const LONGEST: u64 = 64 << 10;
/// Where syslogs write what the kernel says.
const FILES: [&str; 2] = ["/var/log/kern.log", "/var/log/messages"];
/// A record of /dev/kmsg is no longer than this.
const RECORD: usize = 8192;

/// A log that was read.
pub struct Log {
    /// The file, or the command.
    pub source: String,
    pub found: Found,
}

/// Reads a file, which may be packed.
///
/// # Errors
/// The file cannot be read, or is no log.
pub fn of_file(path: &Path) -> Result<Log> {
    let named = || shown(path).to_string();
    let file = trace::open_unpacked(path).with_context(named)?;
    let changed = std::fs::metadata(path).and_then(|found| found.modified());
    let found = read(file, changed.ok().map_or_else(now_s, since_1970)).with_context(named)?;
    let nothing = found.reports.is_empty() && found.kills.is_empty() && found.hung.is_empty();
    if nothing && found.stamped == 0 {
        return Err(anyhow!(
            "{}: it is neither a record of hotsetd or of `hotset record`, nor a kernel's log",
            shown(path)
        ));
    }
    Ok(Log {
        source: named(),
        found,
    })
}

/// Reads the log of this machine.
///
/// # Errors
/// None can be read.
pub fn of_machine() -> Result<Log> {
    let files = FILES.iter().filter_map(|path| {
        let log = of_file(Path::new(path)).ok()?;
        Some((log.source, log.found))
    });
    let journal = of_journal().map(|found| ("journalctl".to_string(), found));
    // Read only where the others say nothing.
    let kmsg = std::iter::once_with(of_kmsg).filter_map(Result::ok);
    let kmsg = kmsg.map(|found| ("/dev/kmsg".to_string(), found));
    let mut all = journal.into_iter().chain(files).chain(kmsg);
    let Some((source, found)) = all.find(|(_, found)| found.lines > 0) else {
        return Err(anyhow!(
            "there is no record of hotsetd (systemctl status hotsetd), and this user can read no log of the kernel; \
             try sudo, or name a file"
        ));
    };
    note(format!(
        "hotsetd has recorded nothing: the kernel's log is read ({source})"
    ));
    Ok(Log { source, found })
}

/// All boots. `None`: there is no journal, or nothing in it that this user may read.
fn of_journal() -> Option<Found> {
    let mut command = Command::new("journalctl");
    command.args([
        "--quiet",
        "--no-pager",
        "--output=short-unix",
        "_TRANSPORT=kernel",
    ]);
    // By their units: anybody may write under their names.
    for killer in KILLERS {
        command.args(["+".to_string(), format!("_SYSTEMD_UNIT={killer}.service")]);
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let found = read(BufReader::new(child.stdout.take()?), now_s()).ok();
    let ended = child.wait().ok()?;
    found.filter(|found| ended.success() && found.lines > 0)
}

/// The buffer of this boot. Each read gives one record, and the last one would wait.
fn of_kmsg() -> io::Result<Found> {
    let mut options = OpenOptions::new();
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
    let mut file = options.read(true).custom_flags(flags).open("/dev/kmsg")?;
    let uptime = std::fs::read_to_string("/proc/uptime")?;
    let up_s = uptime
        .split(' ')
        .next()
        .and_then(|up| up.parse::<f64>().ok());
    let clock = |civil: &Civil| unix_s(civil, now_s());
    let mut gatherer = Gatherer::new(&clock);
    if let Some(up_s) = up_s {
        gatherer.booted(now_s() - up_s);
    }
    let mut record = vec![0; RECORD];
    loop {
        match file.read(&mut record) {
            Ok(0) => break,
            Ok(got) => {
                let text = String::from_utf8_lossy(&record[..got]).into_owned();
                // Lines that follow name the device.
                gatherer.push(text.lines().next().unwrap_or_default());
            }
            // Overwritten since: the next read gives the oldest that is left.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(gatherer.finish())
}

/// `last_s`: of the last line, about, in seconds since 1970.
fn read(mut from: impl BufRead, last_s: f64) -> io::Result<Found> {
    let clock = |civil: &Civil| unix_s(civil, last_s);
    let mut gatherer = Gatherer::new(&clock);
    let progress = Delayed::new("Reading the kernel's log", None, Unit::Of("lines"));
    let mut line = Vec::new();
    for lines in 0.. {
        // A clock is read each time.
        if lines % 1000 == 0 {
            progress.advance(lines);
        }
        line.clear();
        if from.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        gatherer.push(&String::from_utf8_lossy(&line));
    }
    Ok(gatherer.finish())
}

fn now_s() -> f64 {
    since_1970(SystemTime::now())
}

fn since_1970(at: SystemTime) -> f64 {
    at.duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}
