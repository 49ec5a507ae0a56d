//! Files appear whole or not at all, and nothing is replaced by mistake.
use outfile::{write, Error, OutFile, Rules};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};

const FORCE: Rules = Rules {
    force: true,
    inputs: &[],
};

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into())
        .collect()
}

#[test]
fn a_file_appears_when_it_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let mut file = OutFile::create(&path, Rules::default()).unwrap();
    file.write_all(b"one").unwrap();
    assert!(!path.exists());
    file.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(names(dir.path()), [Path::new("a")]);
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, "old").unwrap();
    let mut file = OutFile::create(&path, FORCE).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(dir.path()).len(), 1);
}

#[test]
fn a_file_is_replaced_by_force_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(
        write(&path, Rules::default(), "new"),
        Err(Error::Exists(_))
    ));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    write(&path, FORCE, "new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_file_that_appears_meanwhile_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let file = OutFile::create(&path, Rules::default()).unwrap();
    fs::write(&path, "theirs").unwrap();
    assert!(matches!(file.whole("ours"), Err(Error::Exists(_))));
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(dir.path()).len(), 1);
}

#[test]
fn an_input_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (path, link) = (dir.path().join("a"), dir.path().join("link"));
    fs::write(&path, "input").unwrap();
    symlink(&path, &link).unwrap();
    let hard = dir.path().join("hard");
    fs::hard_link(&path, &hard).unwrap();
    for output in [&path, &link, &hard] {
        let rules = Rules {
            force: true,
            inputs: &[&path],
        };
        assert!(matches!(
            write(output, rules, "new"),
            Err(Error::IsInput(_))
        ));
    }
    assert_eq!(fs::read(&path).unwrap(), b"input");
}

#[test]
fn a_link_stays_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (path, link) = (dir.path().join("a"), dir.path().join("link"));
    fs::write(&path, "old").unwrap();
    symlink("a", &link).unwrap();
    write(&link, FORCE, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn two_outputs_of_one_name_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let _first = OutFile::create(&path, Rules::default()).unwrap();
    assert!(matches!(
        OutFile::create(&path, Rules::default()),
        Err(Error::Twice(_))
    ));
}

#[test]
fn devices_are_written_and_a_full_one_is_an_error() {
    write(Path::new("/dev/null"), Rules::default(), "text").unwrap();
    let error = write(Path::new("/dev/full"), Rules::default(), "text").unwrap_err();
    assert!(!error.is_usage());
    assert!(error.to_string().contains("/dev/full"), "{error}");
    assert!(Path::new("/dev/null").exists());
}

#[test]
fn a_missing_folder_is_named_before_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("no/a");
    let error = OutFile::create(&path, Rules::default()).err().unwrap();
    assert!(error.to_string().contains("no/a"), "{error}");
    let error = OutFile::create(dir.path(), FORCE).err().unwrap();
    assert!(matches!(error, Error::Io { .. }), "{error}");
}
