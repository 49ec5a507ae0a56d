//! Runs the kernel's own selftests, which write TAP.
use anyhow::{bail, Context, Result};
use protocol::spec::GuestSpec;
use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::time::Duration;

use crate::boot::disks;
use crate::boot::settings;
use crate::channel::Channel;
use crate::paths::data_path;

/// Runs all selftests, even after one has failed.
///
/// # Errors
/// When a selftest reports `not ok`, reports no test, or ends with another status than 0. Status 4
/// of the kselftest framework ("skipped") is an error too, since the lab provides everything that
/// the tests need.
pub fn run(
    spec: &GuestSpec,
    programs: &[String],
    file: Option<&str>,
    channel: &Channel,
) -> Result<()> {
    settings::shield()?;
    settings::apply(spec)?;
    disks::zram_swap(spec.zram_mb)?;
    if file.is_some() {
        disks::mount_data(&spec.disk, true)?;
    }
    let mut wrong = Vec::new();
    for name in programs {
        if let Err(error) = one(name, file, channel) {
            wrong.push(format!("{name}: {error:#}"));
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("; "));
    }
    Ok(())
}

/// Time between two reads of a test's output.
const PERIOD: Duration = Duration::from_millis(50);

fn one(name: &str, file: Option<&str>, channel: &Channel) -> Result<()> {
    let path = format!("/hotset/selftests/{name}");
    // A file, not a pipe: a test bed's small kernel lacks calls that the standard library makes for
    // a pipe to a child.
    let path_out = format!("/tmp/selftest-{name}");
    let out = File::create(&path_out).with_context(|| format!("creating {path_out}"))?;
    let mut command = Command::new(&path);
    command.stdout(out);
    if let Some(file) = file {
        command.env("WSPROT_FILE", data_path(file));
    }
    let mut child = command
        .spawn()
        .with_context(|| format!("starting {path}"))?;
    let mut output = File::open(&path_out).with_context(|| format!("opening {path_out}"))?;
    let mut tap = Tap::default();
    let status = loop {
        let ended = child.try_wait().context("waiting for the selftest")?;
        let mut more = Vec::new();
        output
            .read_to_end(&mut more)
            .with_context(|| format!("reading {path_out}"))?;
        for line in tap.take(&more) {
            channel.event("selftest", line);
        }
        match ended {
            Some(status) => break status,
            None => std::thread::sleep(PERIOD),
        }
    };
    if !tap.failed.is_empty() {
        bail!("{}", tap.failed.join(", "));
    }
    if !status.success() || tap.passed == 0 {
        bail!("{status}, {} tests passed", tap.passed);
    }
    Ok(())
}

/// The output of a selftest so far.
#[derive(Default)]
struct Tap {
    /// The beginning of an unfinished line.
    rest: Vec<u8>,
    passed: u32,
    failed: Vec<String>,
}

impl Tap {
    /// Takes more output; returns the lines that it completes.
    fn take(&mut self, more: &[u8]) -> Vec<String> {
        self.rest.extend(more);
        let whole = self.rest.iter().rposition(|&b| b == b'\n');
        let rest = self.rest.split_off(whole.map_or(0, |at| at + 1));
        let text = std::mem::replace(&mut self.rest, rest);
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<String> = text.lines().map(String::from).collect();
        for line in &lines {
            match verdict(line) {
                Some(true) => self.passed += 1,
                Some(false) => self.failed.push(line.clone()),
                None => {}
            }
        }
        lines
    }
}

/// Whether a line of TAP reports a passed test; none for other lines.
fn verdict(line: &str) -> Option<bool> {
    if line.starts_with("not ok") {
        return Some(false);
    }
    line.starts_with("ok ").then_some(true)
}

#[cfg(test)]
mod tests {
    use super::{verdict, Tap};

    #[test]
    fn a_line_that_arrives_in_pieces_is_one_line() {
        let mut tap = Tap::default();
        assert_eq!(
            tap.take(b"TAP version 13\nok 1 a\nno"),
            ["TAP version 13", "ok 1 a"]
        );
        assert_eq!(tap.take(b"t ok"), [""; 0]);
        assert_eq!(tap.take(b" 2 b\n"), ["not ok 2 b"]);
        assert_eq!((tap.passed, tap.failed.len()), (1, 1));
    }

    #[test]
    fn only_ok_and_not_ok_at_the_start_of_a_line_are_results() {
        assert_eq!(verdict("ok 1 defaults"), Some(true));
        assert_eq!(verdict("not ok 2 range"), Some(false));
        assert_eq!(verdict("# not ok"), None);
        assert_eq!(verdict("1..11"), None);
    }
}
