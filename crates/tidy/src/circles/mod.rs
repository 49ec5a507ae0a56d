//! Circles: files of a crate that use each other, directly or through others.
//!
//! A name is followed through `use` to the file that defines it. A file that only declares modules and
//! re-exports names is therefore no part of a circle. Tests (`#[cfg(test)]`) do not count.
mod cycles;
mod modules;
mod resolve;
mod uses;

use crate::tree::Tree;
use anyhow::Result;
use cycles::Edges;
use modules::Crate;
use std::path::{Path, PathBuf};

pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for root in roots(tree) {
        let krate = Crate::read(&tree.root, &root)?;
        let edges = edges(&krate);
        for circle in cycles::cycles(&edges) {
            findings.push(describe(&circle, &edges));
        }
    }
    Ok(findings)
}

/// Inherent impls that stand in another folder than their type, or above it.
pub fn check_impls(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for root in roots(tree) {
        let krate = Crate::read(&tree.root, &root)?;
        for module in krate.modules() {
            for path in &module.uses.impls {
                let Some(definition) = resolve::definition(&krate, module, path) else {
                    continue;
                };
                let room = definition.parent().unwrap_or(Path::new(""));
                if !module.file.starts_with(room) {
                    findings.push(format!(
                        "{}: impl {} stands apart from {}",
                        module.file.display(),
                        path.join("::"),
                        definition.display()
                    ));
                }
            }
        }
    }
    Ok(findings)
}

/// The root files of all crates: `lib.rs` and `main.rs`.
fn roots(tree: &Tree) -> Vec<PathBuf> {
    tree.files
        .iter()
        .filter(|file| {
            let parts: Vec<_> = file.iter().filter_map(|part| part.to_str()).collect();
            matches!(parts[..], ["crates", _, "src", "lib.rs" | "main.rs"])
        })
        .cloned()
        .collect()
}

fn edges(krate: &Crate) -> Edges {
    let mut edges = Edges::new();
    for module in krate.modules() {
        for path in &module.uses.paths {
            let Some(definition) = resolve::definition(krate, module, path) else {
                continue;
            };
            if definition != module.file {
                let name = path.last().cloned().unwrap_or_default();
                let names = edges.entry(module.file.clone()).or_default();
                names.entry(definition).or_default().insert(name);
            }
        }
    }
    edges
}

/// A circle with the names that tie it.
fn describe(circle: &[PathBuf], edges: &Edges) -> String {
    let mut ties = Vec::new();
    for from in circle {
        for (to, names) in edges.get(from).into_iter().flatten() {
            if circle.contains(to) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                ties.push(format!(
                    "    {} -> {}: {}",
                    from.display(),
                    to.display(),
                    names.join(", ")
                ));
            }
        }
    }
    format!("{} files\n{}", circle.len(), ties.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Findings in a crate of these files.
    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join("crates/x/src").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let krate = Crate::read(dir.path(), Path::new("crates/x/src/lib.rs")).unwrap();
        let edges = edges(&krate);
        let circles = cycles::cycles(&edges);
        circles
            .iter()
            .map(|circle| describe(circle, &edges))
            .collect()
    }

    #[test]
    fn two_files_that_use_each_other_are_a_circle() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "pub struct B; fn f() { let _ = super::a::A; }"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains("a.rs -> crates/x/src/b.rs: B"),
            "{found:?}"
        );
    }

    #[test]
    fn names_are_followed_through_re_exports_to_their_file() {
        let found = circles_of(&[
            ("lib.rs", "mod m; pub use m::A; mod c;"),
            ("m/mod.rs", "mod a; pub use a::A; pub mod d;"),
            ("m/a.rs", "use crate::c::C; pub struct A(C);"),
            ("m/d.rs", "pub struct D(super::A);"),
            ("c.rs", "pub struct C(Option<Box<crate::A>>);"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(!found[0].contains("d.rs"), "{found:?}");
    }

    #[test]
    fn tests_and_re_exports_make_no_circle() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b; pub use a::A; pub struct Root;"),
            (
                "a.rs",
                "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("b.rs", "pub struct B(crate::a::A, crate::Root);"),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn names_in_macros_and_globs_count() {
        let found = circles_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use super::b::*; pub fn a() { b(); }"),
            ("b.rs", "pub fn b() { println!(\"{}\", crate::a::a()); }"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
