//! Follows docs/guide/adding-a-policy.md in a copy of this crate, with the code blocks of the page.
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

/// A workspace of this crate and the crates that it needs, without their tests and benchmarks.
fn copy_of_the_crate(root: &Path) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("adding-a-policy");
    let _ = std::fs::remove_dir_all(dir.join("crates"));
    for name in [
        "sim", "trace", "protocol", "units", "random", "names", "outfile",
    ] {
        let (from, to) = (
            root.join("crates").join(name),
            dir.join("crates").join(name),
        );
        copy(&from.join("src"), &to.join("src"));
        let manifest = std::fs::read_to_string(from.join("Cargo.toml")).expect("a manifest");
        let manifest = manifest.split("[[bench]]").next().unwrap_or_default();
        std::fs::write(to.join("Cargo.toml"), manifest).expect("a manifest");
    }
    for file in ["Cargo.toml", "Cargo.lock"] {
        std::fs::copy(root.join(file), dir.join(file)).expect("a copy");
    }
    dir
}

#[test]
#[ignore = "long: builds the simulator and its dependencies once more"]
fn the_page_works_as_it_stands() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let page =
        std::fs::read_to_string(root.join("docs/guide/adding-a-policy.md")).expect("the page");
    // The commands to build and test follow.
    let [code, line, module, ..] = &blocks(&page)[..] else {
        panic!("the page has fewer code blocks than three");
    };
    let dir = copy_of_the_crate(&root);

    let sim = dir.join("crates/sim/src");
    std::fs::write(sim.join("policies/recency/keep_first.rs"), code).expect("a file");
    insert_after(
        &sim.join("registry.rs"),
        "&[&Description] = &[",
        line.trim_end(),
    );
    insert_after(
        &sim.join("policies/recency/mod.rs"),
        "pub mod fifo;",
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
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    // 0 and 1 stay until 2 replaces 1; 3 replaces 2.
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "4");
}
