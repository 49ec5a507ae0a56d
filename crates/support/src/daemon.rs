//! hotsetd: its configuration, its journal of originals, and what the system's journal has of it.
use crate::files::file;
use crate::Section;
use hotsetd::config::file::{read, Place};
use hotsetd::config::summary::summary;
use kernfs::Root;
use std::process::{Command, Stdio};

/// Commands whose output a report needs. Each writes nothing.
const COMMANDS: &[(&[&str], bool)] = &[
    (&["systemctl", "--no-pager", "status", "hotsetd"], false),
    (&["systemctl", "--no-pager", "cat", "hotsetd"], false),
    (
        &[
            "journalctl",
            "--no-pager",
            "-o",
            "short-iso",
            "-n",
            "300",
            "-u",
            "hotsetd",
        ],
        true,
    ),
    (
        &[
            "journalctl",
            "--no-pager",
            "-o",
            "short-iso",
            "-n",
            "300",
            "-k",
            "-g",
            "oom|out of memory|page allocation",
        ],
        true,
    ),
];

/// The findings of `hotset doctor`, the configuration, and the files that hotsetd keeps.
#[must_use]
pub fn sections(root: &Root) -> Vec<Section> {
    let findings = doctor::examine(root);
    let lines = findings
        .iter()
        .map(|one| format!("{:?}: {}: {}", one.state, one.subject, one.seen));
    let findings = lines.collect::<Vec<_>>().join("\n");
    let place = Place::usual(root.directory());
    let configuration = match read(&place) {
        Ok((_, layers)) => summary(&layers, &[]),
        Err(problems) => problems
            .iter()
            .map(|problem| format!("{problem}\n"))
            .collect(),
    };
    vec![
        Section::new("hotset doctor", findings),
        Section::new("hotsetd --check-config", configuration),
        file(root, "/run/hotset/journal"),
        file(root, "/var/lib/hotset/learned"),
    ]
}

/// The output of the system's commands about hotsetd. They speak of the machine that runs, so only of `/`.
#[must_use]
pub fn commands() -> Vec<Section> {
    COMMANDS
        .iter()
        .map(|(words, is_log)| output(words, *is_log))
        .collect()
}

fn output(words: &[&str], is_log: bool) -> Section {
    let (program, arguments) = words.split_first().unwrap_or((&"true", &[]));
    let done = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    let text = match done {
        Ok(done) => {
            let mut text = String::from_utf8_lossy(&done.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&done.stderr));
            text
        }
        Err(error) => format!("(cannot be run: {})", names::io_error(&error)),
    };
    Section {
        is_log,
        ..Section::new(words.join(" "), text)
    }
}
