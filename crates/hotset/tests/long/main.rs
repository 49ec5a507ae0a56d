//! Every command line of README, guide, help texts and man pages runs as it stands.
//!
//! Lines that boot guests for minutes run with `--dry-run`, which checks all but the guests. plan.rs lists the lines
//! that change a machine, with what runs them instead.
mod collect;
mod inputs;
mod plan;

use collect::{Example, Page};
use plan::Run;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder of the programs: this one, and the daemon beside it.
fn programs() -> PathBuf {
    let hotset = Path::new(env!("CARGO_BIN_EXE_hotset"));
    let daemon = hotset.with_file_name("hotsetd");
    assert!(
        daemon.exists(),
        "{}: cargo build -p hotsetd",
        daemon.display()
    );
    hotset.parent().unwrap().to_path_buf()
}

/// Runs a line as a user types it.
fn shell(line: &str, folder: &Path) -> Output {
    let path = std::env::var("PATH").unwrap();
    Command::new("bash")
        .args(["-euc", line])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", programs().display()))
        // The lab finds its experiments in the tree; results and caches stay in the folder.
        .env("XDG_CACHE_HOME", folder.join(".cache"))
        .env("HOME", folder)
        .env("HOTSET_GUEST", "/bin/true")
        .env("ROOT", collect::root())
        // Simulator jobs of a cluster have it.
        .env("SLURM_ARRAY_TASK_ID", "1")
        .env("SLURM_CPUS_PER_TASK", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs the examples of a page in their order, in a folder of their own. Returns what went wrong, and the number of
/// lines that were run.
fn run(page: &Page) -> (Vec<String>, usize) {
    let dir = tempfile::tempdir().unwrap();
    // The guide runs the daemon from the folder of the build.
    let build = dir.path().join("target/x86_64-unknown-linux-gnu");
    std::fs::create_dir_all(&build).unwrap();
    std::os::unix::fs::symlink(programs(), build.join("release")).unwrap();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for example in &page.examples {
        let how = plan::of(&example.line);
        let line = match how {
            Run::Here => example.line.clone(),
            Run::UntilCtrlC => format!("timeout --preserve-status -s INT 2 {}", example.line),
            Run::CheckOnly if example.line.contains("--dry-run") => example.line.clone(),
            Run::CheckOnly => format!("{} --dry-run", example.line),
            Run::NoSource if example.line.contains("--tree ") => example.line.clone(),
            Run::NoSource => format!("{} --tree /nonexistent", example.line),
            Run::Elsewhere(_) => continue,
        };
        inputs::provide(&example.line, dir.path(), &|line| {
            let made = shell(line, dir.path());
            assert!(made.status.success(), "{line}: {}", message(&made));
        });
        let output = shell(&line, dir.path());
        ran += 1;
        let wanted: &[i32] = match how {
            Run::UntilCtrlC => &[0, 130],
            Run::NoSource => &[3],
            _ => &[0],
        };
        if !output
            .status
            .code()
            .is_some_and(|code| wanted.contains(&code))
        {
            wrong.push(format!(
                "{example}: {}\n{}",
                output.status,
                message(&output)
            ));
        }
    }
    (wrong, ran)
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn all_right(pages: &[Page]) {
    let mut wrong = Vec::new();
    let mut ran = 0;
    for page in pages {
        let (problems, lines) = run(page);
        wrong.extend(problems);
        ran += lines;
    }
    println!("{ran} examples of {} pages ran", pages.len());
    assert!(ran > 0, "no example was found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "long: runs all examples, two minutes"]
fn examples_of_pages_run() {
    all_right(&collect::markdown());
}

#[test]
#[ignore = "long: runs all examples, two minutes"]
fn examples_of_help_texts_run() {
    all_right(&collect::help(env!("CARGO_BIN_EXE_hotset")));
}

#[test]
#[ignore = "long: runs all examples, two minutes"]
fn examples_of_man_pages_run() {
    let pages = collect::man();
    // All lines of the man pages may change this machine.
    let lines: Vec<&Example> = pages.iter().flat_map(|page| &page.examples).collect();
    assert!(!lines.is_empty(), "no example was found");
    for page in &pages {
        let (wrong, _) = run(page);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// A rule that nobody prunes hides lines that nobody runs.
#[test]
fn every_rule_has_an_example() {
    let mut pages = collect::markdown();
    pages.extend(collect::help(env!("CARGO_BIN_EXE_hotset")));
    pages.extend(collect::man());
    let examples = pages.iter().flat_map(|page| &page.examples);
    let used: Vec<usize> = examples.filter_map(|it| plan::rule(&it.line)).collect();
    for (place, (begin, _)) in plan::RULES.iter().enumerate() {
        assert!(used.contains(&place), "no example begins with {begin:?}");
    }
}
