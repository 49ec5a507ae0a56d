//! Fetching fails clearly, and whole or not at all.
use kbuild::cache::Cache;
use kbuild::fetch::source::{cached, fetch, Fetch};
use kbuild::fetch::unpack::untar;
use kbuild::Line;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn line() -> Line {
    "7.3".parse().unwrap()
}

/// An archive of one suite in a directory, unsigned.
fn archive(dir: &Path) -> String {
    let suite = dir.join("dists/trixie-backports");
    fs::create_dir_all(suite.join("main/binary-amd64")).unwrap();
    fs::write(
        suite.join("main/binary-amd64/Packages"),
        "Package: linux-source-7.3\nVersion: 7.3.9-1\nArchitecture: all\nSize: 1\n\
         Filename: x.deb\nSHA256: 00\n",
    )
    .unwrap();
    fs::write(
        suite.join("Release"),
        "Origin: Debian\nSuite: trixie-backports\nCodename: trixie-backports\n\
         Date: Sat, 01 Nov 2025 00:00:00 UTC\nArchitectures: amd64\nComponents: main\nSHA256:\n",
    )
    .unwrap();
    format!("file://{}", dir.display())
}

#[test]
fn an_unsigned_archive_is_refused_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mirror = archive(&dir.path().join("archive"));
    let keyring = dir.path().join("keyring.gpg");
    fs::write(&keyring, "").unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    let wanted = Fetch {
        mirror: Some(mirror),
        keyring,
        ..Fetch::new(line())
    };
    let error = fetch(&cache, &wanted, &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.contains("signature is missing or not by a key"),
        "{error}"
    );
    assert!(error.contains("--tree FOLDER"), "{error}");
    assert_eq!(
        cached(&cache, line()).unwrap().map(|source| source.dir),
        None
    );
}

#[test]
fn without_the_keyring_nothing_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let wanted = Fetch {
        mirror: Some("file:///nowhere".into()),
        keyring: "/no/such/keyring.gpg".into(),
        ..Fetch::new(line())
    };
    let error = fetch(&Cache::at(dir.path()), &wanted, &mut |_| {})
        .unwrap_err()
        .to_string();
    assert!(error.contains("debian-archive-keyring"), "{error}");
}

#[test]
fn a_mirror_without_the_suite_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mirror = format!("file://{}", dir.path().display());
    let keyring = dir.path().join("keyring.gpg");
    fs::write(&keyring, "").unwrap();
    let wanted = Fetch {
        mirror: Some(mirror),
        keyring,
        ..Fetch::new(line())
    };
    let error = fetch(&Cache::at(dir.path().join("cache")), &wanted, &mut |_| {})
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("trixie-backports of file://") && error.contains("does not carry"),
        "{error}"
    );
}

/// `dir/x.tar.xz` with some incompressible megabytes below one top directory.
fn tarball(dir: &Path) -> PathBuf {
    let top = dir.join("top");
    fs::create_dir(&top).unwrap();
    let mut state = 1u32;
    let noise: Vec<u8> = (0..3_000_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    fs::write(top.join("noise"), noise).unwrap();
    fs::write(top.join("Makefile"), "VERSION = 7\n").unwrap();
    let path = dir.join("x.tar.xz");
    let status = Command::new("tar")
        .arg("-cJf")
        .arg(&path)
        .arg("-C")
        .arg(dir)
        .arg("top")
        .status()
        .unwrap();
    assert!(status.success());
    path
}

#[test]
fn an_archive_that_is_cut_short_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = tarball(dir.path());
    let whole = dir.path().join("whole");
    fs::create_dir(&whole).unwrap();
    let mut steps = 0;
    untar(&path, &whole, "x", &mut |_| steps += 1).unwrap();
    assert!(whole.join("Makefile").is_file() && steps >= 3);

    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let half = dir.path().join("half");
    fs::create_dir(&half).unwrap();
    let error = untar(&path, &half, "x", &mut |_| {})
        .unwrap_err()
        .to_string();
    assert!(error.contains("tar failed"), "{error}");
}

#[test]
fn a_tree_without_its_note_or_in_the_making_is_not_taken_for_finished() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path());
    let makefile = "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\n";
    let note = r#"{"package":"linux-source-7.3","version":"7.3.4-1","sha256":"0"}"#;
    for (name, noted) in [(".partial-7.3-abc", true), ("linux-7.3.4", false)] {
        let tree = dir.path().join("source").join(name);
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join("Makefile"), makefile).unwrap();
        if noted {
            fs::write(tree.join(".hotset-source.json"), note).unwrap();
        }
    }
    assert!(cached(&cache, line()).unwrap().is_none());
    let tree = dir.path().join("source/linux-7.3.4");
    fs::write(tree.join(".hotset-source.json"), note).unwrap();
    let source = cached(&cache, line()).unwrap().unwrap();
    assert_eq!(source.identity, "deb:linux-source-7.3=7.3.4-1:0");
    assert!(cached(&cache, "6.12".parse().unwrap()).unwrap().is_none());
}
