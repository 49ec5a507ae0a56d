//! The command, and results and traces to run it on.
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// `hotset` in the source tree, with the words of a line and paths behind them.
pub fn hotset(line: &str, paths: &[&Path]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command.args(line.split_whitespace()).args(paths);
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
        command.env_remove(variable);
    }
    command.current_dir(repository(""));
    command
}

pub fn output(line: &str, paths: &[&Path]) -> Output {
    hotset(line, paths).output().unwrap()
}

pub fn status(output: &Output) -> i32 {
    let code = output.status.code();
    code.unwrap_or_else(|| panic!("{} {}", output.status, err(output)))
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The results of a run with broken promises and a panic, in a folder of their own.
pub fn results() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let from = repository("crates/report/tests/fixtures");
    fs::copy(from.join("run.json"), dir.path().join("run.json")).unwrap();
    fs::create_dir(dir.path().join("trials")).unwrap();
    for entry in fs::read_dir(from.join("trials")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(
            entry.path(),
            dir.path().join("trials").join(entry.file_name()),
        )
        .unwrap();
    }
    dir
}

/// Changes a JSON file.
pub fn edit(path: &Path, change: impl Fn(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

/// A demand trace of a second.
pub fn demand(dir: &Path) -> PathBuf {
    let path = dir.join("short.csv");
    let mut text =
        String::from("# M=1000000 MIN=4000 F=500000 C=100000 PHI=0.1 RKS=1000 RDIR=100\n");
    for row in 0..10 {
        text += &format!("{},0,0,0,0\n", row * 100);
    }
    fs::write(&path, text).unwrap();
    path
}
