//! `hotset trace` as a program.
mod figures;
mod files;
mod reading;
mod recording;
#[path = "../common/signals.rs"]
mod signals;

use std::path::Path;
use std::process::{Command, Output};

pub fn hotset(dir: &Path, args: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command
        .current_dir(dir)
        .arg("trace")
        .args(args.split_whitespace());
    command.output().unwrap()
}

/// Standard output and standard error of a command that succeeds.
pub fn works(dir: &Path, args: &str) -> (String, String) {
    let out = hotset(dir, args);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(out.status.success(), "{args}: {}", text(&out.stderr));
    (text(&out.stdout), text(&out.stderr))
}

/// Standard error of a command that ends with this status.
pub fn fails(dir: &Path, args: &str, status: i32) -> String {
    let out = hotset(dir, args);
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(status), "{args}: {text}");
    text
}
