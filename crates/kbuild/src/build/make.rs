//! Runs kbuild's make, and reads its output.
use crate::build::objects::Unfinished;
use crate::process::{self, Event};
use anyhow::{bail, Context, Result};
use progress::{Progress, Step, Unit};
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

/// One run of make in a build tree.
pub(crate) struct Make {
    pub dir: PathBuf,
    pub tree: PathBuf,
    pub objects: PathBuf,
    pub log: PathBuf,
    pub arch: String,
    pub jobs: usize,
    pub unfinished: Unfinished,
}

/// The output of one run.
#[derive(Default)]
struct Transcript {
    /// Commands that make ran, without archiving: there are hundreds of archives, mostly empty and built
    /// in no time.
    commands: u64,
    lines: Vec<String>,
    /// The log could not be written.
    log_error: Option<std::io::Error>,
}

impl Make {
    /// Runs make, appending to the log. Returns how many commands it ran. `title` names the run in
    /// messages; `total` is the expected number of commands.
    ///
    /// # Errors
    /// When make fails: the compiler's lines and the log's path. When the disk is full.
    pub(crate) fn run(
        self,
        arguments: &[&str],
        title: &str,
        total: Option<u64>,
        progress: &mut Progress,
    ) -> Result<u64> {
        let mut log = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .with_context(|| self.log.display().to_string())?;
        progress(Step::Begin {
            title: title.into(),
            total,
            unit: Unit::Steps,
        });
        let mut transcript = Transcript::default();
        let status = process::run(&mut self.command(arguments), &mut |event| {
            let detail = transcript.take(&event, &mut log);
            progress(Step::Advance {
                done: transcript.commands,
                detail,
            });
        })?;
        let commands = transcript.commands;
        self.finish(status, transcript, title)?;
        progress(Step::End {
            text: format!("{title}: done"),
        });
        Ok(commands)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("make");
        command
            .arg("-C")
            .arg(&self.tree)
            .arg(format!("O={}", self.objects.display()))
            .arg(format!("ARCH={}", self.arch))
            .arg(format!("-j{}", self.jobs))
            // The same sources give the same image, whoever builds it, and when.
            .arg("KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970")
            .args(["KBUILD_BUILD_USER=hotset", "KBUILD_BUILD_HOST=hotset"])
            .arg("KBUILD_BUILD_VERSION=1")
            // rustc and pahole are not used, but their versions would go into the configuration.
            .args(["RUSTC=false", "PAHOLE=false"])
            .args(arguments)
            .env("LC_ALL", "C");
        forget_build_variables(&mut command);
        command
    }

    /// Finds out whether a run that has ended succeeded.
    fn finish(self, status: ExitStatus, transcript: Transcript, title: &str) -> Result<()> {
        let full = { transcript.lines.iter() }.any(|line| line.contains("No space left on device"));
        // A compile error leaves good objects behind; a kill or a full disk may not.
        if status.code().is_some() && !full && transcript.log_error.is_none() {
            self.unfinished.finish()?;
        }
        if full {
            bail!(
                "{title}: the disk of {} is full; a build needs about 300 MB",
                self.dir.display()
            );
        }
        if let Some(error) = transcript.log_error {
            bail!("{}: cannot write: {error}", self.log.display());
        }
        if !status.success() {
            let missing = match missing_programs(&transcript.lines).join(", ") {
                names if names.is_empty() => names,
                names => format!("\nscript/bootstrap installs what is missing: {names}"),
            };
            bail!(
                "{title} failed:\n{}\nThe whole log: {}{missing}",
                relevant(&transcript.lines),
                self.log.display()
            );
        }
        Ok(())
    }
}

impl Transcript {
    /// Takes one piece of output, and writes it to the log. Returns the command that it names, for a
    /// progress bar.
    fn take(&mut self, event: &Event, log: &mut File) -> String {
        let (line, step) = match event {
            Event::Stdout(line) => (*line, step_of(line)),
            Event::Stderr(line) => (*line, None),
            Event::Silence => return String::new(),
        };
        if step.as_ref().is_some_and(|step| !step.starts_with("AR ")) {
            self.commands += 1;
        }
        if !line.is_empty() {
            if let Err(error) = writeln!(log, "{line}") {
                self.log_error = Some(error);
            }
            self.lines.push(line.to_string());
        }
        step.unwrap_or_default()
    }
}

/// Removes the caller's own build settings, so that the same request gives the same image.
fn forget_build_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let ours = ["KBUILD_", "KCONFIG_", "MAKE"]
            .iter()
            .any(|prefix| text.starts_with(prefix));
        let named = [
            "ARCH",
            "CROSS_COMPILE",
            "O",
            "CC",
            "LD",
            "HOSTCC",
            "KCFLAGS",
            "KAFLAGS",
            "CFLAGS",
            "LDFLAGS",
            "LOCALVERSION",
            "LLVM",
            "MFLAGS",
            "V",
            "W",
            "C",
            "CF",
            "SUBARCH",
        ]
        .contains(&text.as_ref());
        if ours || named {
            command.env_remove(&name);
        }
    }
}

/// "CC mm/vmscan.o" of "  CC      mm/vmscan.o".
fn step_of(line: &str) -> Option<String> {
    let rest = line.strip_prefix("  ")?;
    let mut fields = rest.split_whitespace();
    let verb = fields.next()?;
    (rest.starts_with(verb)
        && verb
            .chars()
            .all(|c| c.is_ascii_uppercase() || "_0123456789".contains(c)))
    .then(|| format!("{verb} {}", fields.next().unwrap_or_default()))
}

/// Programs that the shell did not find: "flex" of "/bin/sh: 1: flex: not found", as dash says it.
fn missing_programs(lines: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = lines
        .iter()
        .filter_map(|line| {
            let rest = line.strip_prefix("/bin/sh: ")?.strip_suffix("not found")?;
            let rest = rest.strip_suffix("command ").unwrap_or(rest);
            rest.strip_suffix(": ")?.rsplit(": ").next()
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The lines of a failed build that give the cause: from the first error on, without make's echoes.
fn relevant(lines: &[String]) -> String {
    let noise = |line: &&String| step_of(line).is_none() && !line.contains("directory '");
    let cause = |line: &String| {
        ["error:", "undefined reference", "*** ", "Error ", "fatal:"]
            .iter()
            .any(|sign| line.contains(sign))
    };
    let first = lines
        .iter()
        .position(cause)
        .unwrap_or(lines.len().saturating_sub(20));
    // The line before an error names its function.
    lines[first.saturating_sub(2)..]
        .iter()
        .filter(noise)
        .take(25)
        .map(|line| format!("  {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kbuilds_own_lines_are_steps() {
        assert_eq!(step_of("  CC      mm/vmscan.o").unwrap(), "CC mm/vmscan.o");
        assert!(step_of("mm/vmscan.c:1:2: warning: x").is_none());
        assert!(step_of("make[1]: Entering directory '/x'").is_none());
        assert!(step_of("      |      ^~~").is_none());
    }

    #[test]
    fn a_failure_shows_the_compilers_lines_without_makes_steps() {
        let lines: Vec<String> = [
            "  CC      mm/a.o",
            "mm/b.c: In function 'f':",
            "mm/b.c:3:1: error: 'x' undeclared",
            "  CC      mm/c.o",
            "make[2]: *** [mm/b.o] Error 1",
        ]
        .map(Into::into)
        .into();
        let text = relevant(&lines);
        assert!(text.starts_with("  mm/b.c: In function 'f':"), "{text}");
        assert!(
            text.contains("'x' undeclared") && !text.contains("CC "),
            "{text}"
        );
    }

    #[test]
    fn missing_programs_have_a_cure() {
        let lines: Vec<String> = [
            "/bin/sh: 1: flex: not found",
            "/bin/sh: line 1: bison: command not found",
            "/bin/sh: 1: flex: not found",
            "mm/b.c:3: error: header not found",
        ]
        .map(Into::into)
        .into();
        assert_eq!(missing_programs(&lines), ["bison", "flex"]);
    }
}
