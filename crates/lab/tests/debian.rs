//! Debian's own kernel, as it is: its disk and its swap are modules, which the guest loads.
mod common;

use common::bench::{said, Bench};
use raw::record::Outcome;

/// Short: the disk and the swap are there, or the guest says why not.
const SCENES: &str = "scenes=[{name='pressure',run=['probe'],seconds=1}]";

#[test]
fn a_kernel_of_debians_has_its_swap_and_its_disk() {
    if common::no_kernels("Debian's own kernel in QEMU") {
        return;
    }
    let users = kbuild::cache::Cache::of_user().unwrap();
    let line = "6.12".parse().unwrap();
    let Some(image) = kbuild::debian::cached(&users, line) else {
        panic!(
            "this needs Debian's kernel: `hotset kernel fetch 6.12 --debian-image`; \
             HOTSET_NO_KERNEL=1 leaves it out"
        );
    };
    let names: Vec<String> = image
        .modules(&["virtio_blk", "zram", "virtio_pci"])
        .unwrap()
        .into_iter()
        .map(|module| module.name)
        .collect();
    assert_eq!(names.first().unwrap(), "virtio_blk");
    assert_eq!(names.last().unwrap(), "zram", "behind what it needs");
    assert!(names.contains(&"zsmalloc".into()), "{names:?}");

    let bench = Bench::new("qemu", image.image.clone());
    let cache = bench.path("cache/hotset");
    std::fs::create_dir_all(&cache).unwrap();
    std::os::unix::fs::symlink(users.root().join("debian"), cache.join("debian")).unwrap();
    let text = std::fs::read_to_string(bench.path("good.toml")).unwrap();
    let text = text.replace("kernel = \"vanilla\"", "kernel = \"debian\"");
    std::fs::write(bench.path("good.toml"), text).unwrap();
    let output = bench
        .run(
            &[],
            &[
                "--kernel",
                "6.12",
                "--arm",
                "mglru",
                "--set",
                "repetitions=1",
                "--set",
                "machine.memory_mb=256",
                "--set",
                SCENES,
            ],
        )
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let trials = bench.trials();
    assert_eq!(trials.len(), 1);
    assert_eq!(trials[0].outcome, Outcome::Ok, "{}", said(&output));
    let log = std::fs::read_to_string(bench.path("out/console/mglru-0.log")).unwrap();
    for sign in ["cloud-amd64", "/dev/zram0", "EXT4-fs (vda): mounted"] {
        assert!(log.contains(sign), "{sign}: {log}");
    }
}
