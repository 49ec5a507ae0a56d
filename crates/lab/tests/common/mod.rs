//! What tests of several concerns share.
#![allow(dead_code)]
pub mod bench;
pub mod wrong;

use kbuild::{Built, Flavour};
use lab::initramfs::Init;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// An experiment that is right in every respect; tests break it.
pub const GOOD: &str = include_str!("good.toml");

const PROGRAMS: [&str; 9] = [
    "build", "-q", "-p", "hotset", "-p", "guest", "-p", "database", "--bins",
];

/// The folder that this build's programs are in, with `hotset` and what guests have up to date.
pub fn programs() -> &'static PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        // target/TRIPLE/PROFILE/deps/THIS
        let own = std::env::current_exe().unwrap();
        let dir = own.parent().unwrap().parent().unwrap().to_path_buf();
        let target = dir.parent().unwrap().parent().unwrap();
        let release = dir.file_name().unwrap() == "release";
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(PROGRAMS);
        cargo.args(release.then_some("--release"));
        cargo
            .arg("--target-dir")
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(
            cargo.status().unwrap().success(),
            "hotset and the guests' programs do not build"
        );
        dir
    })
}

/// Says what a test leaves out, past the test harness, which swallows what passing tests print.
pub fn left_out(what: &str) {
    let _ = writeln!(std::io::stderr(), "LEFT OUT: {what}");
}

/// Whether `HOTSET_NO_KERNEL=1` says to leave out what needs a kernel; says what is left out.
pub fn no_kernels(test: &str) -> bool {
    let none = std::env::var_os("HOTSET_NO_KERNEL").is_some_and(|value| value == "1");
    if none {
        left_out(&format!("{test}, as HOTSET_NO_KERNEL=1 says"));
    }
    none
}

/// A User-Mode Linux kernel for tests: `HOTSET_TEST_KERNEL`, else one of the cache. None when
/// `HOTSET_NO_KERNEL=1` says to leave these tests out; a panic when there is no kernel and nobody
/// said so.
pub fn kernel(test: &str) -> Option<PathBuf> {
    let vanilla = |built: &Built| {
        built.flavour == Flavour::Vanilla && built.version.starts_with("7.") && built.arch == "um"
    };
    let how = "hotset kernel build 7.3 --vanilla";
    find(test, "HOTSET_TEST_KERNEL", how, vanilla)
}

/// The same for QEMU, of whatever version and patches: `HOTSET_TEST_KERNEL_X86`.
pub fn kernel_x86(test: &str) -> Option<PathBuf> {
    let how = "hotset kernel build 6.12 --arch x86_64";
    find(test, "HOTSET_TEST_KERNEL_X86", how, |built| {
        built.arch == "x86_64" && built.variant.is_none()
    })
}

fn find(test: &str, variable: &str, how: &str, fits: impl Fn(&Built) -> bool) -> Option<PathBuf> {
    if no_kernels(test) {
        return None;
    }
    if let Some(path) = std::env::var_os(variable).map(PathBuf::from) {
        assert!(
            path.is_file(),
            "{variable}={}: no such file",
            path.display()
        );
        return Some(path);
    }
    let cache = kbuild::cache::Cache::of_user().unwrap();
    let found = kbuild::build::all(&cache).unwrap_or_default();
    match found.into_iter().rev().find(fits) {
        Some(built) => Some(built.image),
        None => panic!(
            "{test} needs a kernel: `{how}`, or name one in {variable}; HOTSET_NO_KERNEL=1 leaves \
             out what needs one"
        ),
    }
}

/// `hotset-guest` of this build.
pub fn init() -> Init {
    Init::at(programs().join("hotset-guest")).unwrap()
}
