//! Images: built once, from exactly their ingredients, on a stand-in for a kernel tree.
mod common;

use common::{image, Fixture, MAKEFILE};
use kbuild::build::{key, look_up, Built, Ingredients};
use kbuild::{Flavour, Request};
use std::fs;
use std::path::Path;

#[test]
fn each_flavour_is_built_once_and_the_second_compiles_only_what_its_patch_touches() {
    let fixture = Fixture::new();
    let vanilla = fixture.ensure(Flavour::Vanilla).unwrap();
    let tree = fixture.tree().display().to_string();
    assert_eq!(
        (vanilla.label, vanilla.release.as_str()),
        (format!("7.3.4 of {tree}"), "7.3.4"),
        "a tree of the caller is not called vanilla"
    );
    let vanilla = fixture.ensure(Flavour::Vanilla).unwrap();
    assert_eq!(image(&vanilla), "a\nb\nc\nz\n");
    assert_eq!(fixture.compiled(), ["mm/a", "mm/z"]);

    let series = fixture.ensure(Flavour::Series).unwrap();
    assert_eq!(series.label, format!("7.3.4 of {tree} + hotset series"));
    assert_eq!(series.release, "7.3.4-hotset");
    assert_eq!(series.patches, ["0001-one.patch"]);
    assert_eq!(image(&series), "a\nB\nc\nz\n");
    assert_eq!(
        fixture.compiled(),
        ["mm/a"],
        "only the file that the patch touches is compiled"
    );

    assert_eq!(fixture.ensure(Flavour::Vanilla).unwrap(), vanilla);
    assert_eq!(fixture.ensure(Flavour::Series).unwrap(), series);
    assert!(
        fixture.compiled().is_empty(),
        "a kernel in the cache is not built again"
    );
    assert!(fs::read_to_string(&series.log)
        .unwrap()
        .contains("CC      mm/a.o"));
    assert_eq!(fs::read_to_string(&series.config).unwrap(), "CONFIG_A=y\n");
    assert_eq!(
        fs::read_to_string(fixture.path("tree/mm/a.c")).unwrap(),
        "a\nb\nc\n",
        "the caller's tree is only read"
    );
}

/// The patches decide what a kernel is called, not the option that named their folder.
#[test]
fn only_our_own_patches_are_called_our_series() {
    let fixture = Fixture::new();
    let of = |folder: &str| Request {
        series_dir: Some(fixture.path(folder)),
        ..fixture.request(Flavour::Series)
    };
    let build = |request: &Request| kbuild::ensure(request, &mut |_| {}).unwrap();
    let today = |built: &Built| built.clone().today(Some(&fixture.path("kernel")));
    let of_tree = format!("7.3.4 of {}", fixture.tree().display());
    fs::create_dir(fixture.path("other")).unwrap();
    let text = fs::read_to_string(fixture.path("kernel/series/7.3/0001-one.patch")).unwrap();
    fixture.write("other/0001-le9uo.patch", &text.replace("+B", "+L"));
    let other = build(&of("other"));
    assert_eq!(other.release, "7.3.4-foreign", "uname -r");
    for built in [&other, &today(&other)] {
        let label = &built.label;
        assert!(!label.contains("hotset series"), "{label}");
        assert!(label.contains("1 patch"), "{label}");
        let folder = fixture.path("other").display().to_string();
        assert!(label.contains(&folder), "{label}");
        assert_eq!(built.flavour, Flavour::Foreign);
    }
    // Kernels of earlier versions have no note of the folder, and were called ours.
    let earlier = today(&Built {
        label: "7.3.4 + hotset series".into(),
        flavour: Flavour::Series,
        series_dir: None,
        ..other
    });
    let label = &earlier.label;
    assert!(!label.contains("hotset series"), "{label}");
    assert!(label.contains("0001-le9uo.patch"), "{label}");
    assert_eq!(earlier.flavour, Flavour::Foreign);
    // Our patches are ours in any folder.
    let ours = build(&of("kernel/series/7.3"));
    assert_eq!(ours.release, "7.3.4-hotset");
    assert_eq!(ours.flavour, Flavour::Series);
    assert_eq!(today(&ours).label, format!("{of_tree} + hotset series"));
    // Once the series has changed, its kernel is no longer of the series.
    fixture.patch("0001-one", "-b\n+D\n");
    assert_ne!(today(&ours).label, format!("{of_tree} + hotset series"));
    let vanilla = fixture.ensure(Flavour::Vanilla).unwrap();
    assert_eq!(today(&vanilla).label, of_tree);
    // The same kernel of Debian's source.
    let debians = Built {
        tree: None,
        ..vanilla
    };
    assert_eq!(today(&debians).label, "7.3.4 vanilla");
}

#[test]
fn a_changed_patch_gives_another_key_and_image() {
    let fixture = Fixture::new();
    let first = fixture.ensure(Flavour::Series).unwrap();
    fixture.patch("0001-one", "-b\n+C\n");
    let second = fixture.ensure(Flavour::Series).unwrap();
    assert_ne!(first.key, second.key);
    assert_ne!(first.series_id, second.series_id);
    assert_eq!(image(&second), "a\nC\nc\nz\n");
    // The first patch returns, without the cached image. The objects of the second must not be taken.
    fixture.patch("0001-one", "-b\n+B\n");
    fs::remove_dir_all(first.image.parent().unwrap()).unwrap();
    assert_eq!(
        image(&fixture.ensure(Flavour::Series).unwrap()),
        "a\nB\nc\nz\n"
    );
}

#[test]
fn a_damaged_image_is_built_again() {
    let fixture = Fixture::new();
    let built = fixture.ensure(Flavour::Vanilla).unwrap();
    fs::write(&built.image, "half").unwrap();
    assert!(look_up(built.image.parent().unwrap()).is_none());
    assert_eq!(
        image(&fixture.ensure(Flavour::Vanilla).unwrap()),
        "a\nb\nc\nz\n"
    );
}

#[test]
fn objects_of_an_interrupted_build_are_compiled_again() {
    let fixture = Fixture::new();
    let built = fixture.ensure(Flavour::Vanilla).unwrap();
    fs::remove_dir_all(built.image.parent().unwrap()).unwrap();
    let build_tree = fixture.build_tree();
    fixture.compiled();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for (mark, compiled) in [
        // Without a restart of the machine only later writes are suspect,
        (boot.as_str(), vec!["mm/a"]),
        // after a power cut everything.
        ("another boot", vec!["mm/a", "mm/z"]),
    ] {
        std::thread::sleep(std::time::Duration::from_millis(30));
        fs::write(build_tree.join("unclean"), mark).unwrap();
        // An object that is newer than its source, and rubbish.
        fs::write(build_tree.join("obj/mm/a.o"), "rubbish").unwrap();
        fs::remove_file(build_tree.join("obj/linux")).unwrap();
        let again = fixture.ensure(Flavour::Vanilla).unwrap();
        assert_eq!(image(&again), "a\nb\nc\nz\n");
        assert_eq!(fixture.compiled(), compiled);
        assert!(!build_tree.join("unclean").exists());
        fs::remove_dir_all(again.image.parent().unwrap()).unwrap();
    }
}

#[test]
fn a_failed_build_shows_the_compilers_error_and_the_log_and_keeps_no_image() {
    let fixture = Fixture::new();
    fixture.patch("0001-one", "-b\n+error\n");
    let error = fixture.ensure(Flavour::Series).unwrap_err().to_string();
    assert!(
        error.contains("mm/a.c:1:1: error: no such thing"),
        "{error}"
    );
    let log = error.split("The whole log: ").nth(1).unwrap();
    assert!(Path::new(log).is_file());
    let left: Vec<_> = fs::read_dir(fixture.path("cache/kernel"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
    // The mended patch builds without starting over.
    fixture.patch("0001-one", "-b\n+mended\n");
    assert_eq!(
        image(&fixture.ensure(Flavour::Series).unwrap()),
        "a\nmended\nc\nz\n"
    );
}

#[test]
fn a_configuration_line_without_effect_is_named() {
    let fixture = Fixture::new();
    fixture.write("kernel/config/um.config", "CONFIG_A=y\nCONFIG_GONE=y\n");
    let error = fixture.ensure(Flavour::Vanilla).unwrap_err().to_string();
    assert!(
        error.contains("um.config: these lines have no effect in Linux 7.3.4"),
        "{error}"
    );
    assert!(error.contains("line 2: CONFIG_GONE=y"), "{error}");
}

#[test]
fn a_tree_that_was_built_in_and_one_of_another_line_are_refused() {
    let fixture = Fixture::new();
    fixture.write("tree/.config", "");
    let error = fixture.ensure(Flavour::Vanilla).unwrap_err().to_string();
    assert!(error.contains("make mrproper"), "{error}");
    fs::remove_file(fixture.path("tree/.config")).unwrap();
    fixture.write(
        "tree/Makefile",
        &MAKEFILE.replace("PATCHLEVEL = 3", "PATCHLEVEL = 4"),
    );
    let error = fixture.ensure(Flavour::Vanilla).unwrap_err().to_string();
    assert!(error.contains("holds Linux 7.4.4, not 7.3"), "{error}");
}

#[test]
fn a_key_is_stable_and_changes_with_every_ingredient() {
    let base = || Ingredients {
        source: "deb:x",
        arch: "um",
        variant: None,
        fragment: "CONFIG_A=y",
        suffix: "",
        bed: &[],
        patches: &[],
        compiler: "gcc 12",
    };
    let first = key(&base());
    // A fixed value: a key that changed from build to build of hotset would void every cache.
    assert_eq!(first, "fb37c57c8ee5845a67010886");
    for other in [
        Ingredients {
            source: "deb:y",
            ..base()
        },
        Ingredients {
            arch: "x86_64",
            ..base()
        },
        Ingredients {
            variant: Some("debug"),
            ..base()
        },
        Ingredients {
            suffix: "-hotset",
            ..base()
        },
        Ingredients {
            fragment: "CONFIG_B=y",
            ..base()
        },
        Ingredients {
            compiler: "gcc 13",
            ..base()
        },
        // The same text, divided elsewhere.
        Ingredients {
            source: "deb:xu",
            arch: "m",
            ..base()
        },
    ] {
        assert_ne!(key(&other), first);
    }
}
