//! A folder with a campaign's file and traces.
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Generated traces, a trace of a file by a pattern, and another by a list.
pub const FILE: &str = r#"
policies = ["fifo", "lru", "s3-fifo", "opt"]
sizes = ["1%", "10%", "64K"]

[[traces]]
generate = "zipf,objects=1e3,alpha=0.9"
count = 5e3
seeds = "1..4"

[[traces]]
generate = "mix,objects=2000"
count = 5000

[[traces]]
files = ["traces/*.txt"]
format = "text"

[[traces]]
list = "more.list"
count = 900
"#;

/// The campaign's rows: seven traces, four policies, three sizes.
pub const ROWS: u64 = 7 * 4 * 3;

pub fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    fs::create_dir(path.join("traces")).unwrap();
    let lines = |n: u64| -> String {
        let each = (0..n).map(|at| format!("{}\n", (at * at * 31 + at % 7) % (at % 90 + 40)));
        each.collect()
    };
    fs::write(path.join("traces/a.txt"), lines(3000)).unwrap();
    fs::write(path.join("b.csv"), format!("id\n{}", lines(1000))).unwrap();
    fs::write(path.join("more.list"), "# one more\nb.csv\n").unwrap();
    fs::write(path.join("c.toml"), FILE).unwrap();
    dir
}

pub fn campaign(dir: &Path, args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .args(["sim", "campaign"])
        .args(args.split_whitespace())
        .output()
        .unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The JSON document that a command prints, which must end with this status.
pub fn json(dir: &Path, args: &str, status: i32) -> serde_json::Value {
    let done = campaign(dir, &format!("{args} --json"));
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(status), "{args}: {said}");
    serde_json::from_slice(&done.stdout).expect(&said)
}
