//! The command as a whole: help, versions, colours, and a standard output that is full.
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output};

fn hotset(dir: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command.current_dir(dir).args(line.split_whitespace());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"] {
        command.env_remove(variable);
    }
    command
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A part of a sweep.
fn part(dir: &Path) {
    fs::write(dir.join("t.txt"), "1\n2\n1\n").unwrap();
    let sweep = hotset(
        dir,
        "sim sweep t.txt --policy lru --size 1 --shard 1/1 --json",
    );
    let output = { sweep }.output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    fs::write(dir.join("part.json"), output.stdout).unwrap();
}

#[test]
fn a_full_standard_output_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    part(dir.path());
    for line in [
        "--help",
        "--version",
        "help sim run",
        "trace convert --help",
        "sim merge part.json",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = hotset(dir.path(), line).stdout(full).output().unwrap();
        let said = err(&output);
        assert_eq!(output.status.code(), Some(3), "{line}: {said}");
        assert!(said.starts_with("hotset: standard output"), "{said}");
    }
}

#[test]
fn a_chart_that_cannot_be_written_is_found_before_parts_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    part(dir.path());
    let output = hotset(dir.path(), "sim merge part.json --plot no/x.svg");
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", err(&output));
    assert!(err(&output).contains("no/x.svg"), "{}", err(&output));
    assert_eq!(output.stdout, b"");
}

#[test]
fn a_file_of_another_kind_is_named_in_plain_words() {
    let dir = tempfile::tempdir().unwrap();
    part(dir.path());
    let output = hotset(dir.path(), "sim merge t.txt").output().unwrap();
    let said = err(&output);
    assert!(said.contains("t.txt") && !said.contains("struct"), "{said}");
    assert_ne!(output.status.code(), Some(0));
}

#[test]
fn standard_output_is_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    for line in [
        "lab run three-workers --dry-run --output -",
        "lab league --dry-run --output -",
        "trial --output - -- true",
    ] {
        let output = hotset(dir.path(), line).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {}", err(&output));
        assert!(err(&output).contains("--output"), "{}", err(&output));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{line}");
    }
}

#[test]
fn help_obeys_color() {
    let dir = tempfile::tempdir().unwrap();
    let colours = |line: &str, force: bool| {
        let mut command = hotset(dir.path(), line);
        if force {
            command.env("CLICOLOR_FORCE", "1");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{line}: {}", err(&output));
        output.stdout.contains(&b'\x1b')
    };
    assert!(colours("--color always --help", false));
    assert!(colours("trace convert --color=always --help", false));
    assert!(colours("--help", true));
    assert!(!colours("--help", false));
    assert!(!colours("--color never --help", true));
}

/// The share that was given, not the binary fraction next to it.
#[test]
fn a_sampled_share_is_shown_as_given() {
    let dir = tempfile::tempdir().unwrap();
    let trace: String = (0..20_000).map(|n| format!("{}\n", n % 5000)).collect();
    fs::write(dir.path().join("t.txt"), trace).unwrap();
    for share in ["0.0001%", "7%", "33.3%"] {
        let line = format!("sim curve t.txt --size 100 --sample {share}");
        let output = hotset(dir.path(), &line).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(&format!(" {share} ")), "{share}: {text}");
    }
}
