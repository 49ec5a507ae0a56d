//! Names of a campaign's folder.
use campaign::{Folder, Refused};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

#[test]
fn a_name_that_no_script_can_have_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    let text = "policies = [\"fifo\"]\nsizes = [\"10%\"]\n[[traces]]\n\
        generate = \"uniform,objects=100\"\ncount = 1000\n";
    fs::write(&file, text).unwrap();
    let path = dir.path().join(OsStr::from_bytes(b"a\xff"));
    let wrong = Folder::begin(&path, &file, &|_, _| {}).err().unwrap();
    assert!(
        wrong.is::<Refused>() && wrong.to_string().contains("not UTF-8"),
        "{wrong}"
    );
    assert!(!path.exists());
}
