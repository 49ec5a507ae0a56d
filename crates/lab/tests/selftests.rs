//! The series' own selftests, built from its patch and run in a guest.
//!
//! User-Mode Linux runs 7.3's, whose kernel is built when it is not there. Others are run where the
//! cache has their kernel, and said to be left out where it has not.
mod common;

use common::{init, left_out, no_kernels};
use kbuild::cache::Cache;
use kbuild::series::Overlay;
use kbuild::{rooms, series, source, Flavour, Line, Request};
use lab::attend::{attend, Ending, Limits};
use lab::bed::{self, Boot, Image, Kind};
use lab::disk::Maker;
use lab::probe;
use lab::stop::Stop;
use raw::spec::{Disk, GuestSpec, Task};
use raw::wire::Line as Said;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TEST: &str = "tools/testing/selftests/mm/wsprot.c";

/// What the guest is given: the file has to be larger than the floor that the test sets.
struct Size {
    memory_mb: u64,
    file: u64,
    silent_s: u64,
}

const SMALL: Size = Size {
    memory_mb: 96,
    file: 64 << 20,
    silent_s: 300,
};
/// KASAN takes an eighth of memory and a quarantine, and is ten times as slow where QEMU emulates.
const DEBUG: Size = Size {
    memory_mb: 256,
    file: 128 << 20,
    silent_s: 1800,
};

/// The selftest of a line's series, static; none where the series has none.
fn build(line: Line, dir: &Path) -> Option<PathBuf> {
    let patches = rooms::series_dir(&rooms::kernel_dir().unwrap(), "series", line, None);
    let patches = series::load(&patches).unwrap();
    let cache = Cache::of_user().unwrap();
    let tree = source::cached(&cache, line).unwrap();
    let tree = tree.unwrap_or_else(|| panic!("no source of {line}: hotset kernel fetch {line}"));
    // Only the patch that makes it: the others take long to apply, and leave it alone.
    let patches: Vec<_> = patches
        .into_iter()
        .filter(|patch| patch.files.iter().any(|file| file == Path::new(TEST)))
        .collect();
    if patches.is_empty() {
        return None;
    }
    let overlay = Overlay::of(&patches, &tree.dir).unwrap();
    let program = dir.join("wsprot");
    let framework = tree.dir.join("tools/testing/selftests");
    let mut compiler = Command::new("gcc");
    compiler.args(["-static", "-O2", "-Wall", "-Wextra", "-Werror", "-I"]);
    compiler.arg(&framework).arg("-I").arg(framework.join("mm"));
    compiler.arg("-o").arg(&program);
    let output = compiler
        .arg(overlay.look_up(Path::new(TEST)).flatten().unwrap())
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {words}");
    Some(program)
}

/// Runs it on a kernel, and returns what it said, and all of the console.
fn run(kind: Kind, kernel: &Path, test: &Path, size: &Size) -> (Ending, Vec<String>, String) {
    let stop = Stop::new().unwrap();
    let mut bed = bed::open(kind, size.memory_mb, 1, false).unwrap();
    let init = init().with_selftest("wsprot", test).unwrap();
    probe::probe(bed.as_mut(), kernel, &init, 1, &stop).unwrap();
    let disks = Cache::of_user().unwrap().room("disk").unwrap();
    let maker = Maker {
        bed: bed.as_ref(),
        kernel,
        modules: &[],
        init: &init,
        stop: &stop,
        cache: disks,
    };
    let files = BTreeMap::from([("huge".to_string(), size.file)]);
    let disk = maker.image(&files, 1, &mut |_| {}).unwrap();
    let spec = GuestSpec {
        seed: 1,
        knobs: vec![],
        zram_mb: 32,
        disk: Disk {
            device: bed.device().into(),
            read_bps: 0,
            read_iops: 0,
        },
        scratch: None,
        daemon: None,
        sample_ms: 1000,
        trace: vec![],
        task: Task::Selftest {
            programs: vec!["wsprot".into()],
            file: Some("huge".into()),
        },
    };
    let mut guest = bed
        .start(&Boot {
            kernel,
            initramfs: &init.archive(&spec).unwrap(),
            disk: Some(Image {
                path: &disk,
                writable: false,
            }),
            memory_mb: size.memory_mb,
            cpus: 1,
            nodes_mb: &[],
            scratch_mb: 0,
            command_line: &[],
        })
        .unwrap();
    let limits = Limits {
        silent: Duration::from_secs(size.silent_s),
        total: Duration::from_secs(3 * size.silent_s),
    };
    let mut said = Vec::new();
    // Kept, for a look while it runs and after.
    let name = format!("selftests-{}.console", kernel_name(kernel));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut console = std::fs::File::create(&path).unwrap();
    let heard = attend(&mut guest, &mut console, limits, &stop, &mut |line| {
        if let Said::Event { name, detail, .. } = line {
            said.extend((name == "selftest").then_some(detail));
        }
        Ok(())
    });
    let console = std::fs::read(&path).unwrap();
    (
        heard.unwrap().ending,
        said,
        String::from_utf8_lossy(&console).into_owned(),
    )
}

/// The cache keeps each kernel in a directory of its own.
fn kernel_name(kernel: &Path) -> String {
    let dir = kernel.parent().and_then(Path::file_name);
    dir.unwrap_or_default().to_string_lossy().into_owned()
}

/// What lockdep, KASAN, the kernel's assertions and its watchdogs begin with.
const SPLATS: [&str; 5] = ["WARNING: ", "BUG: ", "INFO: task ", "INFO: rcu", "Oops"];

fn passes(kind: Kind, kernel: &Path, line: Line, size: &Size) {
    let dir = tempfile::tempdir().unwrap();
    let Some(test) = build(line, dir.path()) else {
        panic!("the series for {line} has no {TEST}");
    };
    let (ending, said, console) = run(kind, kernel, &test, size);
    let told = format!("{line}:\n{}\n{console}", said.join("\n"));
    assert_eq!(ending, Ending::Finished, "{told}");
    let passed = said.iter().filter(|line| line.starts_with("ok "));
    assert_eq!(passed.count(), 11, "{told}");
    // The guest has all that the tests ask for: what is left out here runs nowhere.
    assert!(!said.iter().any(|line| line.contains("# SKIP")), "{told}");
    let splat = console
        .lines()
        .find(|line| SPLATS.iter().any(|splat| line.contains(splat)));
    assert_eq!(splat, None, "{told}");
}

#[test]
fn selftests_pass_on_user_mode_linux() {
    if no_kernels("the series' selftests") {
        return;
    }
    let line: Line = "7.3".parse().unwrap();
    let kernel = match std::env::var_os("HOTSET_KERNEL_SERIES") {
        Some(given) => PathBuf::from(given),
        None => {
            let request = Request::new(line, Flavour::Series);
            kbuild::ensure(&request, &mut |_| {}).unwrap().image
        }
    };
    passes(Kind::Uml, &kernel, line, &SMALL);
}

#[test]
fn selftests_pass_where_there_is_another_kernel() {
    if no_kernels("the series' selftests on other kernels") {
        return;
    }
    for (line, arch) in [("6.12", "um"), ("7.3", "x86_64"), ("6.12", "x86_64")] {
        passes_if_built(line, arch, None, &SMALL);
    }
}

#[test]
fn selftests_pass_under_lockdep_and_kasan() {
    if no_kernels("the series' selftests under lockdep and KASAN") {
        return;
    }
    for line in ["7.3", "6.12"] {
        passes_if_built(line, "x86_64", Some("debug"), &DEBUG);
    }
}

/// On the kernel with the series as it is now, if it has been built.
fn passes_if_built(line: &str, arch: &str, variant: Option<&str>, size: &Size) {
    let mut request = Request::new(line.parse().unwrap(), Flavour::Series);
    request.arch = arch.into();
    request.variant = variant.map(Into::into);
    let built = kbuild::build::built_before(&request, &mut |_| {}).unwrap();
    match (built, Kind::of_arch(arch)) {
        (Some(built), Some(kind)) => passes(kind, &built.image, request.line, size),
        _ => {
            let variant = variant.map_or(String::new(), |name| format!(" --variant {name}"));
            left_out(&format!(
                "selftests of {line} on {arch}: hotset kernel build {line} --arch {arch}{variant}"
            ));
        }
    }
}
