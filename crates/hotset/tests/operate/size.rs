//! `hotset size` as a program, where it watches nothing.
use std::process::{Command, Output};

fn size(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command.arg("size").args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_folder_that_is_no_run_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    let output = size(&["--validate", name]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains(name), "{}", said(&output));
}

#[test]
fn to_validate_is_not_to_watch() {
    for more in [&["--for", "10"][..], &["--", "true"], &["--cgroup", "a"]] {
        let arguments = [&["--validate", "x"], more].concat();
        let output = size(&arguments);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    }
}

#[test]
fn a_command_that_is_not_there_fails() {
    let output = size(&["--", "/no/such/program"]);
    assert_eq!(output.status.code(), Some(3));
    // Without the kernel's tracing, that is said first.
    let said = said(&output);
    assert!(
        said.contains("/no/such/program") || said.contains("trac"),
        "{said}"
    );
}

#[test]
fn a_cgroup_that_is_not_there_is_named() {
    let output = size(&["--cgroup", "no-such.slice"]);
    assert_eq!(output.status.code(), Some(3));
    let said = said(&output);
    assert!(said.contains("/sys/fs/cgroup"), "{said}");
}
