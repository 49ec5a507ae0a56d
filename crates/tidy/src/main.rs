//! `cargo run -p tidy`: checks of the source tree that rustc and clippy do not make.
//!
//! Each check gives findings, one a line, with file and line. Exit status 1: at least one finding;
//! 2: the tree could not be read.
mod circles;
mod links;
mod prose;
mod references;
mod sizes;
mod tree;

use std::path::Path;
use std::process::ExitCode;

/// A check: its assertion, and the function that returns the violations.
type Check = (&'static str, fn(&tree::Tree) -> anyhow::Result<Vec<String>>);

const CHECKS: [Check; 6] = [
    ("no circles of files in a crate", circles::check),
    (
        "an impl stays in the room of its type",
        circles::check_impls,
    ),
    ("files and folders are small", sizes::check),
    ("sentences are short", prose::check),
    ("links lead somewhere", links::check),
    ("readers have what pages refer to", references::check),
];

fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    match run(Path::new(&root)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(findings) => {
            eprintln!("tidy: {findings} findings");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Findings of all checks, printed.
fn run(root: &Path) -> anyhow::Result<usize> {
    let tree = tree::Tree::read(root)?;
    let mut total = 0;
    for (name, check) in CHECKS {
        let findings = check(&tree)?;
        match findings.len() {
            0 => println!("tidy: {name}: ok"),
            count => println!("tidy: {name}: {count} findings"),
        }
        for finding in &findings {
            println!("  {finding}");
        }
        total += findings.len();
    }
    Ok(total)
}
