//! The series' own selftests, built from its patch and run in a guest.
use crate::kernels::{beside_others, init};
use kbuild::cache::Cache;
use kbuild::fetch::source;
use kbuild::patches::series;
use kbuild::patches::Overlay;
use kbuild::{layout, Flavour, Line, Request};
use lab::bed::{self, Boot, Image, Kind};
use lab::guest::monitor::{listen, Ending, Limits};
use lab::guest::probe;
use lab::host::stop::Stop;
use lab::inputs::data_disk::Maker;
use protocol::spec::{Disk, GuestSpec, Task};
use protocol::wire::Line as Sent;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TEST: &str = "tools/testing/selftests/mm/wsprot.c";

/// The guest's size. The file must be larger than the floor that the test sets.
struct Size {
    memory_mb: u64,
    cpus: u32,
    /// [`Boot::in_turn`].
    in_turn: bool,
    /// Megabytes of each node; none: one node.
    nodes_mb: &'static [u64],
    file: u64,
    silent_s: u64,
}

const SMALL: Size = Size {
    memory_mb: 96,
    cpus: 1,
    in_turn: false,
    nodes_mb: &[],
    file: 64 << 20,
    silent_s: 300,
};
/// Reclaimers on several CPUs and nodes, in turn: the test switches static branches ([`Boot::in_turn`]). From 6.16 on a folio
/// of ext4 has up to 2 MB, a twentieth of the floor that the test sets.
const NODES: Size = Size {
    memory_mb: 384,
    cpus: 4,
    in_turn: true,
    nodes_mb: &[192, 192],
    file: 256 << 20,
    silent_s: 600,
};
/// About as much memory as `NODES` has, once KASAN and lockdep have taken theirs (343 of 374 MB are left). KASAN is ten
/// times as slow where QEMU emulates.
const DEBUG: Size = Size {
    memory_mb: 480,
    cpus: 4,
    in_turn: true,
    nodes_mb: &[240, 240],
    file: 256 << 20,
    silent_s: 1800,
};

/// The selftest of a line's series, static; none where the series has none.
fn build(line: Line, dir: &Path) -> Option<PathBuf> {
    let patches = layout::series_dir(&layout::kernel_dir().unwrap(), "series", line, None);
    let patches = series::load(&patches).unwrap();
    let cache = Cache::of_user().unwrap();
    let tree = source::cached(&cache, line).unwrap();
    let tree = tree.unwrap_or_else(|| panic!("no source of {line}: hotset kernel fetch {line}"));
    // Only the patch that makes the selftest. The others take long to apply and do not change it.
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
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {message}");
    Some(program)
}

fn spec(device: &str) -> GuestSpec {
    GuestSpec {
        seed: 1,
        knobs: vec![],
        zram_mb: 32,
        disk: Disk {
            device: device.into(),
            read_bps: 0,
            read_iops: 0,
        },
        scratch: None,
        root: None,
        daemon: None,
        sample_ms: 1000,
        trace: vec![],
        task: Task::Selftest {
            programs: vec!["wsprot".into()],
            file: Some("huge".into()),
        },
    }
}

/// Runs the selftest on a kernel. Returns the ending, the results and the console.
fn run(kind: Kind, kernel: &Path, test: &Path, size: &Size) -> (Ending, Vec<String>, String) {
    let _turn = beside_others();
    let stop = Stop::new().unwrap();
    let mut bed = bed::open(kind, size.memory_mb, 1, false).unwrap();
    let init = init().with_selftest("wsprot", test).unwrap();
    probe::probe(bed.as_mut(), kernel, &init, 1, &stop).unwrap();
    let disks = Cache::of_user().unwrap().folder("disk").unwrap();
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
    let spec = spec(bed.device());
    let mut guest = bed
        .start(&Boot {
            kernel,
            initramfs: &init.archive(&spec).unwrap(),
            disk: Some(Image {
                path: disk.path(),
                writable: false,
            }),
            memory_mb: size.memory_mb,
            cpus: size.cpus,
            in_turn: size.in_turn,
            nodes_mb: size.nodes_mb,
            scratch_mb: 0,
            keep: &[],
            root: None,
            command_line: &[],
        })
        .unwrap();
    let limits = Limits {
        silent: Duration::from_secs(size.silent_s),
        total: Duration::from_secs(3 * size.silent_s),
    };
    let mut results = Vec::new();
    // The file is kept for the reader, while the test runs and after.
    let name = format!("selftests-{}.console", kernel_name(kernel));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut console = std::fs::File::create(&path).unwrap();
    let heard = listen(&mut guest, &mut console, limits, &stop, &mut |line| {
        if let Sent::Event { name, detail, .. } = line {
            results.extend((name == "selftest").then_some(detail));
        }
        Ok(())
    });
    let console = std::fs::read(&path).unwrap();
    (
        heard.unwrap().ending,
        results,
        String::from_utf8_lossy(&console).into_owned(),
    )
}

/// The cache keeps each kernel in a directory of its own.
fn kernel_name(kernel: &Path) -> String {
    let dir = kernel.parent().and_then(Path::file_name);
    dir.unwrap_or_default().to_string_lossy().into_owned()
}

/// The beginnings of the messages of lockdep, KASAN, the kernel's assertions and its watchdogs.
const SPLATS: [&str; 5] = ["WARNING: ", "BUG: ", "INFO: task ", "INFO: rcu", "Oops"];

fn passes(kind: Kind, kernel: &Path, line: Line, size: &Size) {
    let dir = tempfile::tempdir().unwrap();
    let Some(test) = build(line, dir.path()) else {
        panic!("the series for {line} has no {TEST}");
    };
    let (ending, results, console) = run(kind, kernel, &test, size);
    let shown = format!("{line}:\n{}\n{console}", results.join("\n"));
    // With --nocapture the shares are seen of a test that passes, too.
    println!("{}", results.join("\n"));
    assert_eq!(ending, Ending::Finished, "{shown}");
    let passed = results.iter().filter(|line| line.starts_with("ok "));
    assert_eq!(passed.count(), 11, "{shown}");
    // The guest has all that the tests need, so that no test may skip.
    assert!(
        !results.iter().any(|line| line.contains("# SKIP")),
        "{shown}"
    );
    let splat = console
        .lines()
        .find(|line| SPLATS.iter().any(|splat| line.contains(splat)));
    assert_eq!(splat, None, "{shown}");
}

/// Runs the selftests on the kernel with the series as it is now.
///
/// # Panics
/// When that kernel has not been built.
fn pass_on(line: &str, arch: &str, variant: Option<&str>, size: &Size) {
    let mut request = Request::new(line.parse().unwrap(), Flavour::Series);
    request.arch = arch.into();
    request.variant = variant.map(Into::into);
    let built = kbuild::build::built_before(&request, &mut |_| {}).unwrap();
    let variant = variant.map_or(String::new(), |name| format!(" --variant {name}"));
    let Some(built) = built else {
        panic!("this test needs a kernel: `hotset kernel build {line} --arch {arch}{variant}`");
    };
    let kind = Kind::of_arch(arch).unwrap();
    passes(kind, &built.image, request.line, size);
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3 with the series; build it with `hotset kernel build 7.3`"]
fn selftests_pass_on_user_mode_linux_7_3() {
    pass_on("7.3", "um", None, &SMALL);
}

/// With folios of up to 2 MB in the page cache.
#[test]
#[ignore = "guest: boots Linux 7.3 in QEMU with the series; build it with `hotset kernel build 7.3 --arch x86_64`"]
fn selftests_pass_on_qemu_7_3() {
    pass_on("7.3", "x86_64", None, &NODES);
}

#[test]
#[ignore = "guest: boots Linux 6.12 in QEMU with the series; build it with `hotset kernel build 6.12 --arch x86_64`"]
fn selftests_pass_on_qemu_6_12() {
    pass_on("6.12", "x86_64", None, &NODES);
}

/// Kernels that only `script/test --long` builds.
mod long {
    use super::{pass_on, DEBUG, SMALL};

    #[test]
    #[ignore = "long: boots User-Mode Linux 6.12 with the series; build it with `hotset kernel build 6.12`"]
    fn selftests_pass_on_user_mode_linux_6_12() {
        pass_on("6.12", "um", None, &SMALL);
    }

    #[test]
    #[ignore = "long: boots Linux 7.3 in QEMU with the series; build it with `hotset kernel build 7.3 --arch x86_64 --variant debug`"]
    fn selftests_pass_on_qemu_7_3_under_lockdep_and_kasan() {
        pass_on("7.3", "x86_64", Some("debug"), &DEBUG);
    }

    #[test]
    #[ignore = "long: boots Linux 6.12 in QEMU with the series; build it with `hotset kernel build 6.12 --arch x86_64 --variant debug`"]
    fn selftests_pass_on_qemu_6_12_under_lockdep_and_kasan() {
        pass_on("6.12", "x86_64", Some("debug"), &DEBUG);
    }
}
