//! A campaign's folder: its name, and who works in it.
use anyhow::{bail, Result};
use campaign::engines::{Batch, Engine, Local};
use campaign::run::run;
use campaign::{Folder, Refused};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder with the file of a campaign.
fn dir() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    let text = "policies = [\"fifo\"]\nsizes = [\"10%\"]\n[[traces]]\n\
        generate = \"uniform,objects=100\"\ncount = 1000\n";
    fs::write(&file, text).unwrap();
    (dir, file)
}

#[test]
fn a_name_that_no_script_can_have_is_refused() {
    let (dir, file) = dir();
    let path = dir.path().join(OsStr::from_bytes(b"a\xff"));
    let wrong = Folder::begin(&path, &file, &|_| {}).err().unwrap();
    assert!(
        wrong.is::<Refused>() && wrong.to_string().contains("not UTF-8"),
        "{wrong}"
    );
    assert!(!path.exists());
}

#[test]
fn one_run_has_the_folder_while_others_look_at_it() {
    let (dir, file) = dir();
    let path = dir.path().join("out");
    let begin = || Folder::begin(&path, &file, &|_| {});
    let first = begin().unwrap();
    let wrong = begin().err().unwrap();
    assert!(wrong.is::<Refused>(), "{wrong}");
    assert!(wrong
        .to_string()
        .contains("another run works in this folder"));
    assert!(Folder::open(&path).is_ok());
    drop(first);
    assert!(begin().is_ok());
}

/// A program in place of hotset that says who it is and stays.
#[test]
fn processes_end_when_a_run_fails() {
    let (dir, file) = dir();
    let folder = Folder::begin(&dir.path().join("out"), &file, &|_| {}).unwrap();
    let (program, said) = (dir.path().join("stays"), dir.path().join("pid"));
    let script = format!("#!/bin/sh\necho $$ >{}\nexec sleep 100\n", said.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let read = || fs::read_to_string(&said).unwrap_or_default();
    let engine = Failing {
        local: Local { program, jobs: 1 },
        began: &|| read().ends_with('\n'),
    };
    assert!(run(&folder, &engine, &|_| {}).is_err());
    assert!(!Path::new("/proc").join(read().trim()).exists());
}

/// Local, whose watch fails as soon as something has begun.
struct Failing<'a> {
    local: Local,
    began: &'a dyn Fn() -> bool,
}

impl Engine for Failing<'_> {
    fn name(&self) -> &'static str {
        "failing"
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        bundle: f64,
        _watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        let watch = || match (self.began)() {
            true => bail!("the folder has gone"),
            false => Ok(()),
        };
        self.local.run(folder, batches, bundle, &watch)
    }
}
