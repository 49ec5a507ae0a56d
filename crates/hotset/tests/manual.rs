//! `hotset manual` writes a page for each command, and completions: what `make install` installs.
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn hotset(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command.env("COLUMNS", "80").args(args).output().unwrap()
}

fn help(path: &[String]) -> String {
    let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let output = hotset(&words);
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names of the commands below one, from its help.
fn below(help: &str) -> Vec<String> {
    let Some((_, rest)) = help.split_once("\nCommands:\n") else {
        return Vec::new();
    };
    let lines = rest.lines().take_while(|line| !line.is_empty());
    // A name has two blanks before it; the lines of a long description have more.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.map(str::to_string).collect()
}

/// Checks the page of a command and of those below it. Returns the number of pages.
fn check(folder: &Path, path: &[String]) -> usize {
    let name = path
        .iter()
        .fold("hotset".to_string(), |name, part| name + "-" + part);
    let page = fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
    let page = page.replace("\\-", "-");
    let help = help(path);
    let options = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"));
    let letter = |letter: char| letter != '-' && !letter.is_ascii_lowercase();
    for option in options.map(|word| word.split(letter).next().unwrap()) {
        assert!(page.contains(option), "{name}.1 lacks {option}");
    }
    let leaf = below(&help).is_empty();
    assert_eq!(page.contains(".SH \"EXIT STATUS\""), leaf, "{name}");
    let mut pages = 1;
    for command in below(&help) {
        let mut path = path.to_vec();
        path.push(command);
        pages += check(folder, &path);
    }
    pages
}

#[test]
fn each_command_has_a_page_with_its_options_and_exit_statuses() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("out");
    let output = hotset(&["manual", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    let pages = check(&folder.join("man1"), &[]);
    assert_eq!(fs::read_dir(folder.join("man1")).unwrap().count(), pages);
    // What a user does not call has no page.
    assert!(!folder.join("man1/hotset-trace-record-guard.1").exists());
    let page = fs::read_to_string(folder.join("man1/hotset-sim-run.1")).unwrap();
    assert!(page.contains("\n.nf\n"), "examples keep their lines");
    for script in ["hotset.bash", "hotset.fish", "_hotset"] {
        let text = fs::read_to_string(folder.join("completions").join(script)).unwrap();
        assert!(text.contains("repetitions"), "{script}");
    }
}

#[test]
fn a_shell_gets_its_completions() {
    let output = hotset(&["completions", "bash"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("complete -F _hotset"));
    let output = hotset(&["completions", "tcsh"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("fish"), "{message}");
}
