//! The kernels and programs of guest tests, and the right to run guests.
use kbuild::{Flavour, Request};
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

/// Vanilla Linux 7.3 of today's recipe for User-Mode Linux: `HOTSET_TEST_KERNEL`, else from the cache. The
/// newest of any recipe may lack the test bed's patches, and pages then have no accessed bits.
///
/// # Panics
/// When there is none.
pub fn kernel() -> PathBuf {
    given("HOTSET_TEST_KERNEL").unwrap_or_else(|| {
        let request = Request::new("7.3".parse().unwrap(), Flavour::Vanilla);
        let built = kbuild::build::built_before(&request, &mut |_| {}).unwrap();
        let missing = "this test needs a kernel: `hotset kernel build 7.3 --vanilla`, or name one in HOTSET_TEST_KERNEL";
        built.expect(missing).image
    })
}

/// A kernel for QEMU, of any version and with any patches: `HOTSET_TEST_KERNEL_X86`, else one of the
/// cache.
///
/// # Panics
/// When there is none.
pub fn kernel_x86() -> PathBuf {
    given("HOTSET_TEST_KERNEL_X86").unwrap_or_else(|| {
        let cache = kbuild::cache::Cache::of_user().unwrap();
        let mut found = kbuild::build::all(&cache).unwrap_or_default();
        found.retain(|built| built.arch == "x86_64" && built.variant.is_none());
        let missing = "this test needs a kernel: `hotset kernel build 6.12 --arch x86_64`, or name one in HOTSET_TEST_KERNEL_X86";
        found.pop().expect(missing).image
    })
}

/// The kernel that an environment variable names.
fn given(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    let display = path.display();
    assert!(
        path.is_file(),
        "{variable}={display}: there is no such file"
    );
    Some(path)
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
