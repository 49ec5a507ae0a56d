//! Does what docs/adding-a-policy.md says, with its own words, in a copy of this crate.
use std::path::{Path, PathBuf};
use std::process::Command;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("a copy");
        }
    }
}

/// The page's code blocks, in order.
fn blocks(page: &str) -> Vec<String> {
    let parts = page.split("```").skip(1).step_by(2);
    let body = |part: &str| part.split_once('\n').map(|(_, body)| body.to_string());
    parts.filter_map(body).collect()
}

fn insert_after(file: &Path, mark: &str, line: &str) {
    let text = std::fs::read_to_string(file).expect("a file");
    let at = text.find(mark).expect("the mark") + mark.len();
    let text = format!("{}\n{line}{}", &text[..at], &text[at..]);
    std::fs::write(file, text).expect("a file");
}

#[test]
fn the_page_works_as_it_stands() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let page = std::fs::read_to_string(root.join("docs/adding-a-policy.md")).expect("the page");
    let [code, line, module] = &blocks(&page)[..] else {
        panic!("the page has another number of code blocks than three");
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adding-a-policy");
    let _ = std::fs::remove_dir_all(&dir);
    for part in ["crates/sim/src", "crates/trace/src", "crates/raw/src"] {
        copy(&root.join(part), &dir.join(part));
    }
    for file in [
        "Cargo.toml",
        "Cargo.lock",
        "crates/sim/Cargo.toml",
        "crates/trace/Cargo.toml",
        "crates/raw/Cargo.toml",
    ] {
        std::fs::copy(root.join(file), dir.join(file)).expect("a copy");
    }
    // Benchmarks are not copied along.
    for part in ["sim", "trace", "raw"] {
        let manifest = dir.join("crates").join(part).join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).expect("a manifest");
        let text = text.split("[[bench]]").next().unwrap_or_default();
        std::fs::write(&manifest, text).expect("a manifest");
    }

    let sim = dir.join("crates/sim/src");
    std::fs::write(sim.join("policies/keep_first.rs"), code).expect("a file");
    insert_after(
        &sim.join("registry.rs"),
        "&[&Description] = &[",
        line.trim_end(),
    );
    insert_after(
        &sim.join("policies/mod.rs"),
        "//! One policy a file.",
        module.trim_end(),
    );
    let example = "fn main() {
        let ids = [0, 1, 2, 0, 2, 3, 0];
        let input = sim::Input::new(&ids, 4).unwrap();
        let choice = sim::registry::Choice::parse(\"keep-first:spare=0\").unwrap();
        let mut policy = choice.build(&input, 2).unwrap();
        println!(\"{}\", sim::run(policy.as_mut(), &input, &mut |_| {}).misses);
    }";
    let examples = dir.join("crates/sim/examples");
    std::fs::create_dir_all(&examples).expect("a folder");
    std::fs::write(examples.join("count.rs"), example).expect("a file");
    let output = Command::new(env!("CARGO"))
        .args([
            "run",
            "--quiet",
            "--offline",
            "-p",
            "sim",
            "--example",
            "count",
        ])
        .current_dir(&dir)
        .env("CARGO_TARGET_DIR", dir.join("target"))
        .output()
        .expect("cargo");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    // 0 and 1 stay until 2 replaces 1; 3 replaces 2.
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "4");
}
