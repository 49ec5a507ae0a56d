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
const MEMORY_MB: u64 = 96;

/// The selftest of a line's series, static; none where the series has none.
fn build(line: Line, dir: &Path) -> Option<PathBuf> {
    let patches = rooms::series_dir(&rooms::kernel_dir().unwrap(), line, None);
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

/// Runs it on a kernel, and returns what it said.
fn run(kind: Kind, kernel: &Path, test: &Path) -> (Ending, Vec<String>, Vec<String>) {
    let stop = Stop::new().unwrap();
    let mut bed = bed::open(kind, MEMORY_MB, 1, false).unwrap();
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
    let files = BTreeMap::from([("huge".to_string(), 64 << 20)]);
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
            memory_mb: MEMORY_MB,
            cpus: 1,
            nodes_mb: &[],
            scratch_mb: 0,
        })
        .unwrap();
    let limits = Limits {
        silent: Duration::from_secs(300),
        total: Duration::from_secs(900),
    };
    let mut said = Vec::new();
    let heard = attend(
        &mut guest,
        &mut std::io::sink(),
        limits,
        &stop,
        &mut |line| {
            if let Said::Event { name, detail, .. } = line {
                said.extend((name == "selftest").then_some(detail));
            }
            Ok(())
        },
    );
    let heard = heard.unwrap();
    (heard.ending, said, heard.tail)
}

fn passes(kind: Kind, kernel: &Path, line: Line) {
    let dir = tempfile::tempdir().unwrap();
    let Some(test) = build(line, dir.path()) else {
        panic!("the series for {line} has no {TEST}");
    };
    let (ending, said, tail) = run(kind, kernel, &test);
    let told = format!("{line}:\n{}\n{}", said.join("\n"), tail.join("\n"));
    assert_eq!(ending, Ending::Finished, "{told}");
    let passed = said.iter().filter(|line| line.starts_with("ok "));
    assert_eq!(passed.count(), 11, "{told}");
    // The guest has all that the tests ask for: what is left out here runs nowhere.
    assert!(!said.iter().any(|line| line.contains("# SKIP")), "{told}");
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
    passes(Kind::Uml, &kernel, line);
}

#[test]
fn selftests_pass_where_there_is_another_kernel() {
    if no_kernels("the series' selftests on other kernels") {
        return;
    }
    let cache = Cache::of_user().unwrap();
    let built = kbuild::build::all(&cache).unwrap_or_default();
    for (line, arch) in [("6.12", "um"), ("7.3", "x86_64"), ("6.12", "x86_64")] {
        let line: Line = line.parse().unwrap();
        let found = built.iter().rev().find(|built| {
            let series = built.flavour == Flavour::Series && built.variant.is_none();
            series && built.arch == arch && built.version.starts_with(&format!("{line}."))
        });
        match (found, Kind::of_arch(arch)) {
            (Some(built), Some(kind)) => passes(kind, &built.image, line),
            _ => left_out(&format!(
                "selftests of {line} on {arch}: hotset kernel build {line} --arch {arch}"
            )),
        }
    }
}
