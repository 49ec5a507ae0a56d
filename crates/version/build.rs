//! Finds the commit, the target and the kernels of the series, for `--version`.
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo:rerun-if-env-changed=HOTSET_COMMIT");
    println!("cargo:rustc-env=VERSION_COMMIT={}", commit(&root));
    println!(
        "cargo:rustc-env=VERSION_TARGET={}",
        std::env::var("TARGET").unwrap_or_default()
    );
    println!("cargo:rustc-env=VERSION_KERNELS={}", kernels(&root));
}

/// A packager says the commit by HOTSET_COMMIT, since its tree has no git.
fn commit(root: &Path) -> String {
    if let Ok(given) = std::env::var("HOTSET_COMMIT") {
        return given;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(arguments)
            .output();
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.trim().to_string())
    };
    // The program is built again when HEAD moves, not at each build.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            let path: PathBuf = root.join(path);
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into())
}

/// The kernels that there are patches for: `kernel/series` has a folder for each.
fn kernels(root: &Path) -> String {
    let series = root.join("kernel/series");
    println!("cargo:rerun-if-changed={}", series.display());
    let folders = std::fs::read_dir(&series).into_iter().flatten().flatten();
    let names = folders.filter_map(|folder| folder.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| name.starts_with(|c: char| c.is_ascii_digit()) && !name.contains('-'))
        .collect();
    names.sort_by_key(|name| {
        let parts = name.split('.').filter_map(|part| part.parse::<u32>().ok());
        parts.collect::<Vec<_>>()
    });
    names.join(", ")
}
