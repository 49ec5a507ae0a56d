//! The kernels and programs of guest tests, and the right to run guests.
use kbuild::{Built, Flavour};
use lab::guest::initramfs::Init;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

const PROGRAMS: [&str; 9] = [
    "build", "-q", "-p", "hotset", "-p", "guest", "-p", "database", "--bins",
];

/// The folder of this build's programs. `hotset` and the guests' programs in it are built first.
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

/// A User-Mode Linux kernel for tests: `HOTSET_TEST_KERNEL`, else one of the cache.
///
/// # Panics
/// When there is none.
pub fn kernel() -> PathBuf {
    let vanilla = |built: &Built| {
        let debians = built.tree.is_none() && built.flavour == Flavour::Vanilla;
        debians && built.version.starts_with("7.") && built.arch == "um"
    };
    let build = "hotset kernel build 7.3 --vanilla";
    find("HOTSET_TEST_KERNEL", build, vanilla)
}

/// A kernel for QEMU, of any version and with any patches: `HOTSET_TEST_KERNEL_X86`, else one of the
/// cache.
///
/// # Panics
/// When there is none.
pub fn kernel_x86() -> PathBuf {
    let build = "hotset kernel build 6.12 --arch x86_64";
    find("HOTSET_TEST_KERNEL_X86", build, |built| {
        built.arch == "x86_64" && built.variant.is_none()
    })
}

fn find(variable: &str, build: &str, fits: impl Fn(&Built) -> bool) -> PathBuf {
    if let Some(path) = std::env::var_os(variable).map(PathBuf::from) {
        let display = path.display();
        assert!(
            path.is_file(),
            "{variable}={display}: there is no such file"
        );
        return path;
    }
    let cache = kbuild::cache::Cache::of_user().unwrap();
    let found = kbuild::build::all(&cache).unwrap_or_default();
    match found.into_iter().rev().find(fits) {
        Some(built) => built.image,
        None => panic!("this test needs a kernel: `{build}`, or name one in {variable}"),
    }
}

static GUESTS: RwLock<()> = RwLock::new(());

/// The right to run guests while other tests run theirs.
pub fn beside_others() -> RwLockReadGuard<'static, ()> {
    GUESTS.read().unwrap_or_else(PoisonError::into_inner)
}

/// The right to run guests while no other test does.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    GUESTS.write().unwrap_or_else(PoisonError::into_inner)
}

/// `hotset-guest` of this build.
pub fn init() -> Init {
    Init::at(programs().join("hotset-guest")).unwrap()
}
