//! What a terminal of 80 columns shows: no line of a table, a list or a help text is longer.
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn hotset(dir: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .args(line.split_whitespace())
        .current_dir(dir)
        .env("COLUMNS", "80")
        .output()
        .unwrap()
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    // Skewed, so that a zipf law fits.
    let ids = (1..20_000u64).map(|n| format!("{}\n", (n * n * 31 + n % 7) % (n % 900 + 40)));
    fs::write(dir.path().join("t.txt"), ids.collect::<String>()).unwrap();
    dir
}

#[test]
fn no_line_is_wider_than_80_columns() {
    let dir = folder();
    for line in [
        "",
        "kernel",
        "lab",
        "trace",
        "sim",
        "sim --help",
        "sim run --help",
        "sim curve --help",
        "sim reproduce --help",
        "sim bytes --help",
        "sim policies s4-fifo",
        "sim policies lhd",
        "trace record --help",
        "sim policies",
        "sim policies mglru",
        "sim policies 2q",
        "sim reproduce lru-k --repetitions 1",
        "sim reproduce arc --repetitions 1",
        "sim run t.txt --policy mglru --size 10%",
        "sim run t.txt --policy mglru --size 10% --verbose",
        "sim sweep t.txt --size 10%,50%",
        "sim sweep t.txt --size 5%..50%:20 --memory 64K --jobs 1",
        "sim compare t.txt",
        "sim compare t.txt --size 50% --memory 64K --jobs 1",
        "sim curve t.txt",
        "sim curve t.txt --sample 5%",
        "trace info t.txt",
    ] {
        let output = hotset(dir.path(), line);
        let mut text = String::from_utf8(output.stdout).unwrap();
        if text.is_empty() {
            // A command without what it needs explains itself there.
            text = String::from_utf8(output.stderr).unwrap();
        }
        assert!(text.lines().count() > 2, "{line}: {text}");
        let longest = text.lines().max_by_key(|line| line.chars().count());
        let longest = longest.unwrap();
        assert!(longest.chars().count() <= 80, "{line}: {longest:?}");
    }
}

#[test]
fn counters_are_shown_when_asked_for() {
    let dir = folder();
    let table = |more: &str| {
        let line = format!("sim run t.txt --policy mglru --size 10% {more}");
        String::from_utf8(hotset(dir.path(), &line).stdout).unwrap()
    };
    assert!(!table("").contains("workingset_refault"));
    assert!(table("--verbose").contains("workingset_refault"));
    assert!(table("--json").contains("workingset_refault"));
}
