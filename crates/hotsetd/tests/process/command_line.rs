//! Options, what they print, and exit statuses.
use crate::common::FakeMachine;
use crate::process::PROGRAM;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// What a run without end would take. Every run here ends at once.
fn hotsetd(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("--root").arg(root).args(arguments);
    command.stdin(Stdio::null()).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output
        .status
        .code()
        .unwrap_or_else(|| panic!("{output:?}: ended by a signal"))
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

const THEIRS: &str = "VERBOSE = 2\n";

#[test]
fn a_full_standard_output_is_a_failure_with_a_message() {
    let machine = FakeMachine::new();
    machine.put("theirs", THEIRS);
    let theirs = machine.path("theirs");
    for option in ["--help", "--version", "--check-config", "--import-config"] {
        let mut command = Command::new(PROGRAM);
        command.arg("--root").arg(machine.root()).arg(option);
        if option == "--import-config" {
            command.arg(&theirs);
        }
        let done = command.stdout(full()).output().unwrap();
        assert_eq!(code(&done), 3, "{option}: {}", err(&done));
        assert!(err(&done).starts_with("hotsetd: standard output: "));
        assert!(!err(&done).contains("os error"), "{}", err(&done));
    }
}

#[test]
fn a_full_standard_error_changes_no_exit_status() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    for (option, wanted) in [("--agressiveness", 2), ("--import-config", 3)] {
        let mut command = Command::new(PROGRAM);
        command.arg(option).arg(&missing);
        let status = command.stdout(full()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(wanted), "{option}");
    }
}

#[test]
fn a_closed_pipe_ends_the_program_without_a_message() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("--help").stdout(writer);
    drop(command.output().unwrap());
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert!(text.contains("--dry-run"));

    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(PROGRAM);
    let done = command.arg("--help").stdout(writer).output().unwrap();
    assert_eq!((code(&done), err(&done).as_str()), (141, ""));
}

#[test]
fn the_help_has_every_exit_status_and_the_version_has_target_and_kernels() {
    let root = Path::new("/");
    let help = out(&hotsetd(root, &["--help"]));
    let statuses = help.split("Exit status:").nth(1).unwrap();
    let long: Vec<_> = help.lines().filter(|line| line.len() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
    for status in ["0", "2", "3", "141"] {
        let mut starts = statuses
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        assert!(starts.any(|first| first == status), "{status}: {help}");
    }
    let version = out(&hotsetd(root, &["--version"]));
    let target = std::env::consts::ARCH;
    for part in [env!("CARGO_PKG_VERSION"), version::COMMIT, target, "4.18"] {
        assert!(version.contains(part), "{part}: {version}");
    }
}

#[test]
fn a_root_that_is_no_machine_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    for mode in [&["--dry-run"][..], &[], &["--check-config"], &["--restore"]] {
        let done = hotsetd(&missing, mode);
        assert_eq!(code(&done), 3, "{mode:?}");
        assert!(
            err(&done).contains(missing.to_str().unwrap()),
            "{}",
            err(&done)
        );
        assert!(!missing.exists(), "{mode:?} made the root");
    }
    // A folder, but none with a kernel's files.
    let done = hotsetd(folder.path(), &["--dry-run"]);
    assert_eq!(code(&done), 3);
    assert!(err(&done).contains("proc/vmstat"), "{}", err(&done));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // A file.
    assert_eq!(
        code(&hotsetd(Path::new("/dev/null"), &["--check-config"])),
        3
    );
}

#[test]
fn a_file_that_cannot_be_read_is_3_and_a_wrong_one_is_2() {
    let machine = FakeMachine::new();
    machine.put("wrong", "AGGRESSIVENESS = 9\nagressiveness\n");
    let (missing, wrong) = (machine.path("missing"), machine.path("wrong"));
    let (missing, wrong) = (missing.to_str().unwrap(), wrong.to_str().unwrap());
    for option in ["--import-config", "--check-config"] {
        for (file, wanted) in [(missing, 3), ("/", 3), ("/dev/zero", 2), (wrong, 2)] {
            let arguments = match option {
                "--check-config" => vec![option, "--config", file],
                _ => vec![option, file],
            };
            let done = hotsetd(machine.root(), &arguments);
            assert_eq!(code(&done), wanted, "{arguments:?}: {}", err(&done));
            assert!(err(&done).contains(file), "{}", err(&done));
            assert!(!err(&done).contains("os error"), "{}", err(&done));
            assert_eq!(out(&done), "", "{arguments:?}");
        }
    }
}

#[test]
fn an_import_of_another_file_says_so_in_a_few_lines() {
    let machine = FakeMachine::new();
    machine.put("words", &"a word\n".repeat(10_000));
    machine.put("keys", &"ID = debian\n".repeat(10_000));
    for file in [
        Path::new(PROGRAM),
        &machine.path("words"),
        &machine.path("keys"),
    ] {
        let done = hotsetd(machine.root(), &["--import-config", file.to_str().unwrap()]);
        assert_eq!(code(&done), 2, "{file:?}");
        let lines = err(&done).lines().count();
        assert!((1..10).contains(&lines), "{file:?}: {lines} lines");
        assert_eq!(out(&done), "");
    }
    // One key is known: the rest is left out, and named as far as it helps.
    machine.put(
        "mixed",
        &(THEIRS.to_owned() + &"ID = debian\n".repeat(10_000)),
    );
    let mixed = machine.path("mixed");
    let done = hotsetd(
        machine.root(),
        &["--import-config", mixed.to_str().unwrap()],
    );
    assert_eq!(code(&done), 0);
    assert!(out(&done).contains("\nverbosity = 2\n"));
    assert!(err(&done).lines().count() < 10 && out(&done).lines().count() < 20);
}

#[test]
fn check_config_names_the_files_and_their_settings() {
    let machine = FakeMachine::new();
    machine.put(
        "etc/hotset/hotsetd.conf",
        "\naggressiveness = 1\n[sampling]\n",
    );
    machine.put(
        "etc/hotset/hotsetd.conf.d/mine.conf",
        "aggressiveness = 3\n[protect.kill]\nprotect = [\n  \"a\u{9b}\",\n  \"b\",\n]\n",
    );
    let done = hotsetd(machine.root(), &["--check-config"]);
    assert_eq!(code(&done), 0, "{}", err(&done));
    let text = out(&done);
    let at = |part: &str| {
        let found = text.lines().position(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("{part}: {text}"))
    };
    let order = [
        at("etc/hotset/hotsetd.conf: "),
        at("line 2: aggressiveness = 1 (replaced by "),
        at("mine.conf: "),
        at("line 1: aggressiveness = 3"),
        at("line 3: protect.kill.protect = [ \"a\\u{9b}\", \"b\", ]"),
    ];
    assert!(order.is_sorted(), "{text}");
    // Without a configuration all settings have their defaults.
    let bare = FakeMachine::new();
    let done = hotsetd(bare.root(), &["--check-config"]);
    assert_eq!(code(&done), 0);
    assert!(out(&done).contains("etc/hotset/hotsetd.conf: "));
}

#[test]
fn control_characters_of_names_do_not_reach_the_terminal() {
    let machine = FakeMachine::new();
    let evil = "evil\x1b[2J\u{9b}1m.conf";
    machine.put(evil, "[free_pages\u{1b}]\n");
    let path = machine.path(evil);
    let mut outputs = vec![
        hotsetd(
            machine.root(),
            &["--config", path.to_str().unwrap(), "--check-config"],
        ),
        hotsetd(machine.root(), &["--import-config", path.to_str().unwrap()]),
        hotsetd(machine.root(), &["--import-config", "/none\x1b[2J"]),
        hotsetd(machine.root(), &["--evil\x1b[2J"]),
        hotsetd(machine.root(), &["--verbosity=\x1b[2J"]),
        hotsetd(machine.root(), &["stray\x1b[2J"]),
        hotsetd(machine.root(), &["--log", "\x1b[2J"]),
    ];
    let mut command = Command::new(PROGRAM);
    let bytes = std::ffi::OsStr::from_bytes(b"\xff\x1b[2J");
    outputs.push(command.arg("--import-config").arg(bytes).output().unwrap());
    for done in outputs {
        assert_ne!(code(&done), 0);
        let text = err(&done);
        assert!(text.starts_with("hotsetd: "), "{text:?}");
        let controls = text.chars().filter(|&c| c != '\n' && c.is_control());
        assert_eq!(controls.count(), 0, "{text:?}");
    }
}
