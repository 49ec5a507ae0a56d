//! Debian's own kernel, unmodified: the drivers of disk and swap are modules, which the guest loads.
use crate::bench::{shown, Bench};
use protocol::record::Outcome;

/// Short: the guest has its disk and its swap, or fails at its beginning.
const SCENES: &str = "scenes=[{name='pressure',run=['probe'],seconds=1}]";

#[test]
#[ignore = "guest: boots Debian's kernel in QEMU; fetch it with `hotset kernel fetch 6.12 --debian-image`"]
fn a_kernel_of_debians_has_its_swap_and_its_disk() {
    let users = kbuild::cache::Cache::of_user().unwrap();
    let line = "6.12".parse().unwrap();
    let Some(image) = kbuild::fetch::debian::cached(&users, line) else {
        panic!("this test needs Debian's kernel: `hotset kernel fetch 6.12 --debian-image`");
    };
    let names: Vec<String> = image
        .modules(&["virtio_blk", "zram", "virtio_pci"])
        .unwrap()
        .into_iter()
        .map(|module| module.name)
        .collect();
    assert_eq!(names.first().unwrap(), "virtio_blk");
    assert_eq!(
        names.last().unwrap(),
        "zram",
        "the last module needs the others"
    );
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
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let trials = bench.trials();
    assert_eq!(trials.len(), 1);
    assert_eq!(trials[0].outcome, Outcome::Ok, "{}", shown(&output));
    let log = std::fs::read_to_string(bench.path("out/console/mglru-0.log")).unwrap();
    for sign in ["cloud-amd64", "/dev/zram0", "EXT4-fs (vda): mounted"] {
        assert!(log.contains(sign), "{sign}: {log}");
    }
}
