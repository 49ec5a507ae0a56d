//! Runs the kernel's own selftests, which speak TAP.
use anyhow::{bail, Context, Result};
use raw::spec::GuestSpec;
use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::time::Duration;

use crate::channel::Channel;
use crate::{setup, work};

/// Runs all of them, whatever one says.
///
/// # Errors
/// When one says `not ok`, says nothing of any test, or ends otherwise than with 0: the kselftest
/// framework's 4, "left out", is not well here, where the lab has given what they need.
pub fn run(
    spec: &GuestSpec,
    programs: &[String],
    file: Option<&str>,
    channel: &Channel,
) -> Result<()> {
    setup::shield()?;
    setup::settings(spec)?;
    setup::swap(spec.zram_mb)?;
    if file.is_some() {
        setup::disk(&spec.disk, true)?;
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

/// How often what a test has said is passed on.
const PERIOD: Duration = Duration::from_millis(50);

fn one(name: &str, file: Option<&str>, channel: &Channel) -> Result<()> {
    let path = format!("/hotset/selftests/{name}");
    // A file and not a pipe: a kernel as small as the test beds' does not have all that the
    // standard library wants for a pipe to a child.
    let said = format!("/tmp/selftest-{name}");
    let out = File::create(&said).with_context(|| format!("creating {said}"))?;
    let mut command = Command::new(&path);
    command.stdout(out);
    if let Some(file) = file {
        command.env("WSPROT_FILE", work::data_path(file));
    }
    let mut child = command
        .spawn()
        .with_context(|| format!("starting {path}"))?;
    let mut heard = File::open(&said).with_context(|| format!("opening {said}"))?;
    let mut tap = Tap::default();
    let status = loop {
        let ended = child.try_wait().context("waiting for it")?;
        let mut more = Vec::new();
        heard
            .read_to_end(&mut more)
            .with_context(|| format!("reading {said}"))?;
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

/// What a test said so far.
#[derive(Default)]
struct Tap {
    /// The beginning of a line whose end is still to come.
    rest: Vec<u8>,
    passed: u32,
    failed: Vec<String>,
}

impl Tap {
    /// The lines that are whole with what was read now.
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

/// Of a line of TAP: whether a test passed; none for what is no test's line.
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
    fn lines_that_come_in_pieces_are_put_together() {
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
    fn lines_of_tap() {
        assert_eq!(verdict("ok 1 defaults"), Some(true));
        assert_eq!(verdict("not ok 2 range"), Some(false));
        assert_eq!(verdict("# not ok"), None);
        assert_eq!(verdict("1..11"), None);
    }
}
