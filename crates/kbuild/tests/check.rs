//! Checks of a series, patch by patch, on a stand-in for a kernel tree.
mod common;

use common::{image, Fixture};
use kbuild::check::{check, BootInfo, Only, Plan, Verdict};
use kbuild::Flavour;
use std::fs;
use std::path::Path;

fn verdicts(fixture: &Fixture, only: &str, boots: bool) -> Vec<(String, Vec<Verdict>)> {
    checked(fixture, Flavour::Series, only, boots, false)
}

fn checked(
    fixture: &Fixture,
    flavour: Flavour,
    only: &str,
    boots: bool,
    at_end: bool,
) -> Vec<(String, Vec<Verdict>)> {
    let boot = |image: &Path| {
        if boots && image.is_file() {
            Ok(BootInfo {
                release: format!("7.3.4{}", flavour.suffix()),
                seconds: 0.5,
            })
        } else {
            anyhow::bail!("panic: no init")
        }
    };
    let plan = Plan {
        only: only.parse::<Only>().unwrap(),
        at_end,
        touched_only: false,
        boot: Some(&boot),
    };
    let report = check(&fixture.request(flavour), &plan, &mut |_| {}).unwrap();
    report
        .patches
        .into_iter()
        .map(|patch| (patch.patch, patch.verdicts))
        .collect()
}

#[test]
fn a_good_series_passes_every_test() {
    let fixture = Fixture::new();
    fixture.patch("0002-two", "-B\n+b\n");
    let all = verdicts(&fixture, "1..", true);
    assert_eq!(all.len(), 2);
    for (patch, verdicts) in &all {
        for (index, verdict) in verdicts.iter().enumerate() {
            // sparse need not be installed, and would not understand the stand-in.
            if index != 3 {
                assert!(
                    matches!(verdict, Verdict::Ok { .. }),
                    "{patch} {index} {verdict:?}"
                );
            }
        }
    }
    assert_eq!(
        verdicts(&fixture, "2", true).len(),
        1,
        "the first is laid, not checked"
    );
}

#[test]
fn at_end_builds_once_and_keeps_the_kernel_of_a_good_series() {
    let fixture = Fixture::new();
    fixture.patch("0002-two", "-B\n+warn\n");
    fixture.patch("0003-three", "-warn\n+fine\n");
    let all = checked(&fixture, Flavour::Series, "1..", true, true);
    let ok = |verdict: &Verdict| matches!(verdict, Verdict::Ok { .. });
    let count = |patch: usize| all[patch].1.iter().filter(|it| ok(it)).count();
    // Applies and checkpatch; all but sparse.
    assert_eq!((count(0), count(1)), (2, 2), "{all:?}");
    assert!(count(2) >= 5, "{all:?}");
    fixture.compiled();
    let built = fixture.ensure(Flavour::Series).unwrap();
    assert_eq!(image(&built), "a\nfine\nc\nz\n");
    assert!(fixture.compiled().is_empty(), "the check built it");
    // A warning that is left at the end is found.
    fixture.patch("0003-three", "-warn\n+warn, still\n");
    let all = checked(&fixture, Flavour::Series, "1..", true, true);
    assert!(all[2].1[2].is_failure(), "{all:?}");
    assert!(
        fixture.ensure(Flavour::Series).is_ok(),
        "a warning is no error"
    );
    assert!(
        !fixture.compiled().is_empty(),
        "the kernel of a failed check is not kept"
    );
}

#[test]
fn a_second_series_stands_alone_and_on_the_first() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("kernel/series/7.3-swappiness")).unwrap();
    let text = "Subject: [PATCH] mm: z\n\n--- a/mm/z.c\n+++ b/mm/z.c\n@@ -1 +1 @@\n-z\n+Z\n";
    fixture.write("kernel/series/7.3-swappiness/0001-z.patch", text);
    for (flavour, contents) in [
        (Flavour::Swappiness, "a\nb\nc\nZ\n"),
        (Flavour::Both, "a\nB\nc\nZ\n"),
    ] {
        let all = checked(&fixture, flavour, "1..", true, false);
        assert_eq!(all.len(), 1, "the first series is not checked again");
        assert!(!all[0].1.iter().any(Verdict::is_failure), "{all:?}");
        let built = fixture.ensure(flavour).unwrap();
        assert_eq!(image(&built), contents);
        assert_eq!(built.release, format!("7.3.4{}", flavour.suffix()));
    }
}

#[test]
fn the_generations_of_the_test_bed_are_built_and_checked_as_a_series() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.path("kernel/testbed/7.3-generations")).unwrap();
    let text = "Subject: [PATCH] mm: z\n\n--- a/mm/z.c\n+++ b/mm/z.c\n@@ -1 +1 @@\n-z\n+Z\n";
    fixture.write("kernel/testbed/7.3-generations/0001-z.patch", text);
    let all = checked(&fixture, Flavour::Generations, "1..", true, false);
    assert!(!all[0].1.iter().any(Verdict::is_failure), "{all:?}");
    let built = fixture.ensure(Flavour::Generations).unwrap();
    assert_eq!(image(&built), "a\nb\nc\nZ\n");
    assert_eq!(built.release, "7.3.4-hotset-generations");
    let vanilla = fixture.ensure(Flavour::Vanilla).unwrap();
    assert_eq!(image(&vanilla), "a\nb\nc\nz\n");
}

#[test]
fn patches_of_the_test_bed_lie_under_every_flavour_of_their_architecture() {
    let fixture = Fixture::new();
    let plain = fixture.ensure(Flavour::Vanilla).unwrap();
    fs::create_dir_all(fixture.path("kernel/testbed/7.3-um")).unwrap();
    fs::create_dir_all(fixture.path("kernel/testbed/7.3-x86_64")).unwrap();
    let patch = |new: char| {
        format!("Subject: [PATCH] mm: z\n\n--- a/mm/z.c\n+++ b/mm/z.c\n@@ -1 +1 @@\n-z\n+{new}\n")
    };
    fixture.write("kernel/testbed/7.3-um/0001-z.patch", &patch('U'));
    fixture.write("kernel/testbed/7.3-x86_64/0001-z.patch", &patch('X'));

    let vanilla = fixture.ensure(Flavour::Vanilla).unwrap();
    assert_eq!(image(&vanilla), "a\nb\nc\nU\n");
    assert_ne!(vanilla.key, plain.key);
    assert_eq!(vanilla.bed, ["0001-z.patch"]);
    assert!(vanilla.patches.is_empty());

    let all = checked(&fixture, Flavour::Series, "1..", true, false);
    assert!(
        !all.iter().any(|(_, it)| it.iter().any(Verdict::is_failure)),
        "{all:?}"
    );
    assert!(
        all.iter().all(|(patch, _)| !patch.contains("-z")),
        "{all:?}"
    );
    assert_eq!(
        image(&fixture.ensure(Flavour::Series).unwrap()),
        "a\nB\nc\nU\n"
    );

    // A tree that has the change already, or another one there.
    fixture.write(
        "kernel/testbed/7.3-um/0001-z.patch",
        &patch('U').replace("-z", "-y"),
    );
    let error = format!("{:#}", fixture.ensure(Flavour::Vanilla).unwrap_err());
    assert!(
        error.contains("testbed/7.3-um: these patches lie under"),
        "{error}"
    );
    assert!(error.contains("0001-z.patch does not apply"), "{error}");
}

#[test]
fn touched_only_compiles_the_touched_files_and_keeps_no_kernel() {
    let fixture = Fixture::new();
    let results = || -> Vec<Verdict> {
        let plan = Plan {
            only: Only::ALL,
            at_end: false,
            touched_only: true,
            boot: None,
        };
        let report = check(&fixture.request(Flavour::Series), &plan, &mut |_| {}).unwrap();
        report.patches[0].verdicts.clone()
    };
    let good = results();
    assert!(!good.iter().any(Verdict::is_failure), "{good:?}");
    assert!(matches!(&good[2], Verdict::Ok { .. }), "{good:?}");
    // Once before and once behind the patch, and as often for sparse where that is installed.
    assert!(fixture.compiled().iter().all(|file| file == "mm/a"));
    assert!(!fixture.build_tree().join("obj/linux").exists());
    let kept: Vec<_> = fs::read_dir(fixture.path("cache/kernel"))
        .into_iter()
        .collect();
    assert!(kept.is_empty(), "there is no kernel to keep");
    fixture.patch("0001-one", "-b\n+warn\n");
    assert!(results()[2].is_failure());
    fixture.patch("0001-one", "-b\n+error\n");
    assert!(results()[1].is_failure());
}

#[test]
fn an_object_that_an_interrupted_build_lost_is_compiled_and_checked() {
    let fixture = Fixture::new();
    fixture.ensure(Flavour::Series).unwrap();
    fixture.patch("0001-one", "-b\n+warn\n");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    fs::write(fixture.build_tree().join("unclean"), boot).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::write(fixture.build_tree().join("obj/mm/a.o"), "half of it").unwrap();
    let plan = Plan {
        only: Only::ALL,
        at_end: false,
        touched_only: true,
        boot: None,
    };
    let report = check(&fixture.request(Flavour::Series), &plan, &mut |_| {}).unwrap();
    let verdicts = &report.patches[0].verdicts;
    // An object left out would pass for a file that is not configured.
    assert!(verdicts[2].is_failure(), "{verdicts:?}");
}

#[test]
fn each_kind_of_failure_is_reported_at_its_patch() {
    let fixture = Fixture::new();
    fixture.patch("0002-two", "-B\n+warn\n");
    fixture.patch("0003-three", "-warn\n+error\n");
    fixture.patch("0004-four", "-error\n+fine\n");
    let all = verdicts(&fixture, "1..", true);
    assert_eq!(
        all.len(),
        3,
        "the check ends at a patch that does not build"
    );
    assert!(!all[0].1.iter().any(Verdict::is_failure), "{:?}", all[0]);
    let Verdict::Failed { why } = &all[1].1[2] else {
        panic!("the warning of patch 2 is not reported: {:?}", all[1]);
    };
    assert!(why.contains("mm/a.c: odd"), "{why}");
    let Verdict::Failed { why } = &all[2].1[1] else {
        panic!("patch 3 built: {:?}", all[2]);
    };
    assert!(why.contains("no such thing"), "{why}");

    let all = verdicts(&fixture, "1", false);
    let Verdict::Failed { why } = &all[0].1[4] else {
        panic!("the boot did not fail: {:?}", all[0]);
    };
    assert!(why.contains("panic: no init"), "{why}");

    fixture.patch("0002-two", "-nowhere\n+x\n");
    let all = verdicts(&fixture, "2", true);
    let Verdict::Failed { why } = &all[0].1[0] else {
        panic!("patch 2 applied: {:?}", all[0]);
    };
    assert!(why.contains("0002-two.patch does not apply"), "{why}");

    fixture.write(
        "tree/scripts/checkpatch.pl",
        "print \"x:1: WARNING:TYPE: bad\\n\"; exit 1;\n",
    );
    let all = verdicts(&fixture, "1", true);
    assert_eq!(
        all[0].1[5],
        Verdict::Failed {
            why: "x:1: WARNING:TYPE: bad".into()
        }
    );
}
