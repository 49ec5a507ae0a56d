//! Building, with a stand-in for a kernel tree whose Makefile knows kbuild's targets: what is tested
//! is what hotset does around make, at a thousandth of the time.
use kbuild::build::{ensure, key, look_up, Built, Ingredients};
use kbuild::cache::Cache;
use kbuild::check::{check, BootInfo, Only, Plan, Verdict};
use kbuild::{Flavour, Origin, Request};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds `linux` out of mm/*.c, one object each; `error` in a file fails to compile, `warn` warns
/// with W=1. `runs` in the object directory counts the compilations.
const MAKEFILE: &str = r#"VERSION = 7
PATCHLEVEL = 3
SUBLEVEL = 4
EXTRAVERSION =
MAKEFLAGS += -r
objs := $(patsubst %.c,$(O)/%.o,$(wildcard mm/*.c))
allnoconfig:
	@grep -v GONE $(KCONFIG_ALLCONFIG) > $(O)/.config
linux: $(O)/linux
$(O)/linux: $(objs)
	@echo "  LD      linux"
	@mkdir -p $(O)/include/config
	@echo 7.3.4$(LOCALVERSION) > $(O)/include/config/kernel.release
	@cat $(objs) > $@
	@touch $(O)/vmlinux.o
$(O)/%.o: %.c
	@mkdir -p $(dir $@)
	@echo "  CC      $*.o"
	@echo $* >> $(O)/runs
	@if grep -n error $< > /dev/null; then echo "$<:1:1: error: no such thing" >&2; exit 1; fi
	@if [ -n "$(W)" ] && grep -q warn $<; then echo "$<:2:1: warning: odd" >&2; fi
	@cp $< $@
$(patsubst %.c,%.o,$(wildcard mm/*.c)): %.o: $(O)/%.o
	@true
.PHONY: allnoconfig linux
.DELETE_ON_ERROR:
"#;

struct Room {
    dir: tempfile::TempDir,
}

impl Room {
    fn new() -> Room {
        let dir = tempfile::tempdir().unwrap();
        let room = Room { dir };
        for sub in [
            "tree/mm",
            "tree/scripts",
            "kernel/config",
            "kernel/series/7.3",
        ] {
            fs::create_dir_all(room.path(sub)).unwrap();
        }
        room.write("tree/Makefile", MAKEFILE);
        room.write("tree/scripts/checkpatch.pl", "exit 0;\n");
        room.write("tree/mm/a.c", "a\nb\nc\n");
        room.write("tree/mm/z.c", "z\n");
        room.write("kernel/config/um.config", "CONFIG_A=y\n");
        room.patch("0001-one", "-b\n+B\n");
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn patch(&self, name: &str, change: &str) {
        let text = format!(
            "Subject: [PATCH] mm: {name}\n\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,3 +1,3 @@\n a\n{change} c\n"
        );
        self.write(&format!("kernel/series/7.3/{name}.patch"), &text);
    }

    fn request(&self, flavour: Flavour) -> Request {
        Request {
            origin: Origin::Tree(self.path("tree")),
            kernel_dir: Some(self.path("kernel")),
            cache: Some(Cache::at(self.path("cache"))),
            ..Request::new("7.3".parse().unwrap(), flavour)
        }
    }

    fn ensure(&self, flavour: Flavour) -> anyhow::Result<Built> {
        ensure(&self.request(flavour), &mut |_| {})
    }

    fn workshop(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.path("cache/work")).unwrap().flatten();
        let found = entries.find(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        found.unwrap().path()
    }

    /// The files compiled since the last time that this was asked.
    fn compiled(&self) -> Vec<String> {
        let runs = self.workshop().join("obj/runs");
        let text = fs::read_to_string(&runs).unwrap_or_default();
        let _ = fs::remove_file(&runs);
        let mut names: Vec<String> = text.lines().map(Into::into).collect();
        names.sort();
        names
    }
}

fn image(built: &Built) -> String {
    fs::read_to_string(&built.image).unwrap()
}

#[test]
fn both_flavours_are_built_once_and_the_second_goes_on_from_the_first() {
    let room = Room::new();
    let vanilla = room.ensure(Flavour::Vanilla).unwrap();
    assert_eq!(
        (vanilla.label.as_str(), vanilla.release.as_str()),
        ("7.3.4 vanilla", "7.3.4")
    );
    assert_eq!(image(&vanilla), "a\nb\nc\nz\n");
    assert_eq!(room.compiled(), ["mm/a", "mm/z"]);

    let series = room.ensure(Flavour::Series).unwrap();
    assert_eq!(series.label, "7.3.4 + hotset series");
    assert_eq!(series.release, "7.3.4-hotset");
    assert_eq!(series.patches, ["0001-one.patch"]);
    assert_eq!(image(&series), "a\nB\nc\nz\n");
    assert_eq!(room.compiled(), ["mm/a"], "only what the patch touches");

    assert_eq!(room.ensure(Flavour::Vanilla).unwrap(), vanilla);
    assert_eq!(room.ensure(Flavour::Series).unwrap(), series);
    assert!(
        room.compiled().is_empty(),
        "what is there is not built again"
    );
    assert!(fs::read_to_string(&series.log)
        .unwrap()
        .contains("CC      mm/a.o"));
    assert_eq!(fs::read_to_string(&series.config).unwrap(), "CONFIG_A=y\n");
    assert_eq!(
        fs::read_to_string(room.path("tree/mm/a.c")).unwrap(),
        "a\nb\nc\n",
        "the caller's tree is only read"
    );
}

#[test]
fn a_changed_patch_is_another_kernel() {
    let room = Room::new();
    let first = room.ensure(Flavour::Series).unwrap();
    room.patch("0001-one", "-b\n+C\n");
    let second = room.ensure(Flavour::Series).unwrap();
    assert_ne!(first.key, second.key);
    assert_ne!(first.series_id, second.series_id);
    assert_eq!(image(&second), "a\nC\nc\nz\n");
    // Back again, without the cached image: the objects of the second must not be taken.
    room.patch("0001-one", "-b\n+B\n");
    fs::remove_dir_all(first.image.parent().unwrap()).unwrap();
    assert_eq!(
        image(&room.ensure(Flavour::Series).unwrap()),
        image_of_first()
    );
}

fn image_of_first() -> String {
    "a\nB\nc\nz\n".into()
}

#[test]
fn a_damaged_image_is_built_again() {
    let room = Room::new();
    let built = room.ensure(Flavour::Vanilla).unwrap();
    fs::write(&built.image, "half").unwrap();
    assert!(look_up(built.image.parent().unwrap()).is_none());
    assert_eq!(
        image(&room.ensure(Flavour::Vanilla).unwrap()),
        "a\nb\nc\nz\n"
    );
}

#[test]
fn objects_of_a_build_that_was_cut_off_are_not_trusted() {
    let room = Room::new();
    let built = room.ensure(Flavour::Vanilla).unwrap();
    fs::remove_dir_all(built.image.parent().unwrap()).unwrap();
    let workshop = room.workshop();
    room.compiled();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    for (mark, compiled) in [
        // In the same session of the machine only what was written since is suspect,
        (boot.as_str(), vec!["mm/a"]),
        // after a power cut everything.
        ("another boot", vec!["mm/a", "mm/z"]),
    ] {
        std::thread::sleep(std::time::Duration::from_millis(30));
        fs::write(workshop.join("unclean"), mark).unwrap();
        // An object that looks newer than its source and is rubbish.
        fs::write(workshop.join("obj/mm/a.o"), "rubbish").unwrap();
        fs::remove_file(workshop.join("obj/linux")).unwrap();
        let again = room.ensure(Flavour::Vanilla).unwrap();
        assert_eq!(image(&again), "a\nb\nc\nz\n");
        assert_eq!(room.compiled(), compiled);
        assert!(!workshop.join("unclean").exists());
        fs::remove_dir_all(again.image.parent().unwrap()).unwrap();
    }
}

#[test]
fn a_failed_build_shows_the_compilers_words_and_the_log() {
    let room = Room::new();
    room.patch("0001-one", "-b\n+error\n");
    let error = room.ensure(Flavour::Series).unwrap_err().to_string();
    assert!(
        error.contains("mm/a.c:1:1: error: no such thing"),
        "{error}"
    );
    let log = error.split("The whole log: ").nth(1).unwrap();
    assert!(Path::new(log).is_file());
    let left: Vec<_> = fs::read_dir(room.path("cache/kernel")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // Mended, it builds without starting over.
    room.patch("0001-one", "-b\n+mended\n");
    assert_eq!(
        image(&room.ensure(Flavour::Series).unwrap()),
        "a\nmended\nc\nz\n"
    );
}

#[test]
fn a_configuration_line_without_effect_is_named() {
    let room = Room::new();
    room.write("kernel/config/um.config", "CONFIG_A=y\nCONFIG_GONE=y\n");
    let error = room.ensure(Flavour::Vanilla).unwrap_err().to_string();
    assert!(
        error.contains("um.config: these lines have no effect in Linux 7.3.4"),
        "{error}"
    );
    assert!(error.contains("line 2: CONFIG_GONE=y"), "{error}");
}

#[test]
fn a_tree_that_was_built_in_and_one_of_another_line_are_refused() {
    let room = Room::new();
    room.write("tree/.config", "");
    let error = room.ensure(Flavour::Vanilla).unwrap_err().to_string();
    assert!(error.contains("make mrproper"), "{error}");
    fs::remove_file(room.path("tree/.config")).unwrap();
    room.write(
        "tree/Makefile",
        &MAKEFILE.replace("PATCHLEVEL = 3", "PATCHLEVEL = 4"),
    );
    let error = room.ensure(Flavour::Vanilla).unwrap_err().to_string();
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
        // The same text, cut elsewhere.
        Ingredients {
            source: "deb:xu",
            arch: "m",
            ..base()
        },
    ] {
        assert_ne!(key(&other), first);
    }
}

fn verdicts(room: &Room, only: &str, boots: bool) -> Vec<(String, Vec<Verdict>)> {
    checked(room, Flavour::Series, only, boots, false)
}

fn checked(
    room: &Room,
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
    let report = check(&room.request(flavour), &plan, &mut |_| {}).unwrap();
    report
        .patches
        .into_iter()
        .map(|patch| (patch.patch, patch.verdicts))
        .collect()
}

#[test]
fn a_good_series_passes_every_test() {
    let room = Room::new();
    room.patch("0002-two", "-B\n+b\n");
    let all = verdicts(&room, "1..", true);
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
        verdicts(&room, "2", true).len(),
        1,
        "the first is laid, not checked"
    );
}

#[test]
fn a_series_is_checked_as_a_whole_and_leaves_its_kernel() {
    let room = Room::new();
    room.patch("0002-two", "-B\n+warn\n");
    room.patch("0003-three", "-warn\n+fine\n");
    let all = checked(&room, Flavour::Series, "1..", true, true);
    let ok = |verdict: &Verdict| matches!(verdict, Verdict::Ok { .. });
    let count = |patch: usize| all[patch].1.iter().filter(|it| ok(it)).count();
    // Applies and checkpatch; all but sparse.
    assert_eq!((count(0), count(1)), (2, 2), "{all:?}");
    assert!(count(2) >= 5, "{all:?}");
    room.compiled();
    let built = room.ensure(Flavour::Series).unwrap();
    assert_eq!(image(&built), "a\nfine\nc\nz\n");
    assert!(room.compiled().is_empty(), "the check built it");
    // What is left at the end is found.
    room.patch("0003-three", "-warn\n+warn, still\n");
    let all = checked(&room, Flavour::Series, "1..", true, true);
    assert!(all[2].1[2].is_failure(), "{all:?}");
    assert!(
        room.ensure(Flavour::Series).is_ok(),
        "a warning is no error"
    );
    assert!(!room.compiled().is_empty(), "what failed is not kept");
}

#[test]
fn a_second_series_stands_alone_and_on_the_first() {
    let room = Room::new();
    fs::create_dir_all(room.path("kernel/series/7.3-swappiness")).unwrap();
    let text = "Subject: [PATCH] mm: z\n\n--- a/mm/z.c\n+++ b/mm/z.c\n@@ -1 +1 @@\n-z\n+Z\n";
    room.write("kernel/series/7.3-swappiness/0001-z.patch", text);
    for (flavour, contents) in [
        (Flavour::Swappiness, "a\nb\nc\nZ\n"),
        (Flavour::Both, "a\nB\nc\nZ\n"),
    ] {
        let all = checked(&room, flavour, "1..", true, false);
        assert_eq!(all.len(), 1, "the first series is not checked again");
        assert!(!all[0].1.iter().any(Verdict::is_failure), "{all:?}");
        let built = room.ensure(flavour).unwrap();
        assert_eq!(image(&built), contents);
        assert_eq!(built.release, format!("7.3.4{}", flavour.suffix()));
    }
}

#[test]
fn patches_of_the_test_bed_are_built_and_checked_as_a_series_is() {
    let room = Room::new();
    fs::create_dir_all(room.path("kernel/testbed/7.3-generations")).unwrap();
    let text = "Subject: [PATCH] mm: z\n\n--- a/mm/z.c\n+++ b/mm/z.c\n@@ -1 +1 @@\n-z\n+Z\n";
    room.write("kernel/testbed/7.3-generations/0001-z.patch", text);
    let all = checked(&room, Flavour::Generations, "1..", true, false);
    assert!(!all[0].1.iter().any(Verdict::is_failure), "{all:?}");
    let built = room.ensure(Flavour::Generations).unwrap();
    assert_eq!(image(&built), "a\nb\nc\nZ\n");
    assert_eq!(built.release, "7.3.4-hotset-generations");
    let vanilla = room.ensure(Flavour::Vanilla).unwrap();
    assert_eq!(image(&vanilla), "a\nb\nc\nz\n");
}

#[test]
fn what_the_bed_needs_lies_under_every_flavour_of_its_architecture() {
    let room = Room::new();
    let plain = room.ensure(Flavour::Vanilla).unwrap();
    fs::create_dir_all(room.path("kernel/testbed/7.3-um")).unwrap();
    fs::create_dir_all(room.path("kernel/testbed/7.3-x86_64")).unwrap();
    let patch = |new: char| {
        format!("Subject: [PATCH] mm: z\n\n--- a/mm/z.c\n+++ b/mm/z.c\n@@ -1 +1 @@\n-z\n+{new}\n")
    };
    room.write("kernel/testbed/7.3-um/0001-z.patch", &patch('U'));
    room.write("kernel/testbed/7.3-x86_64/0001-z.patch", &patch('X'));

    let vanilla = room.ensure(Flavour::Vanilla).unwrap();
    assert_eq!(image(&vanilla), "a\nb\nc\nU\n");
    assert_ne!(vanilla.key, plain.key);
    assert_eq!(vanilla.bed, ["0001-z.patch"]);
    assert!(vanilla.patches.is_empty());

    let all = checked(&room, Flavour::Series, "1..", true, false);
    assert!(
        !all.iter().any(|(_, it)| it.iter().any(Verdict::is_failure)),
        "{all:?}"
    );
    assert!(
        all.iter().all(|(patch, _)| !patch.contains("-z")),
        "{all:?}"
    );
    assert_eq!(
        image(&room.ensure(Flavour::Series).unwrap()),
        "a\nB\nc\nU\n"
    );

    // A tree that has the change already, or another one there.
    room.write(
        "kernel/testbed/7.3-um/0001-z.patch",
        &patch('U').replace("-z", "-y"),
    );
    let error = format!("{:#}", room.ensure(Flavour::Vanilla).unwrap_err());
    assert!(
        error.contains("testbed/7.3-um: these patches lie under"),
        "{error}"
    );
    assert!(error.contains("0001-z.patch does not apply"), "{error}");
}

#[test]
fn only_what_is_touched_is_compiled_if_asked_for() {
    let room = Room::new();
    let results = || -> Vec<Verdict> {
        let plan = Plan {
            only: Only::ALL,
            at_end: false,
            touched_only: true,
            boot: None,
        };
        let report = check(&room.request(Flavour::Series), &plan, &mut |_| {}).unwrap();
        report.patches[0].verdicts.clone()
    };
    let good = results();
    assert!(!good.iter().any(Verdict::is_failure), "{good:?}");
    assert!(matches!(&good[2], Verdict::Ok { .. }), "{good:?}");
    // Once before and once behind the patch, and as often for sparse where that is installed.
    assert!(room.compiled().iter().all(|file| file == "mm/a"));
    assert!(!room.workshop().join("obj/linux").exists());
    let kept: Vec<_> = fs::read_dir(room.path("cache/kernel"))
        .into_iter()
        .collect();
    assert!(kept.is_empty(), "there is no kernel to keep");
    room.patch("0001-one", "-b\n+warn\n");
    assert!(results()[2].is_failure());
    room.patch("0001-one", "-b\n+error\n");
    assert!(results()[1].is_failure());
}

#[test]
fn what_a_build_that_was_cut_off_has_lost_is_compiled_all_the_same() {
    let room = Room::new();
    room.ensure(Flavour::Series).unwrap();
    room.patch("0001-one", "-b\n+warn\n");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    fs::write(room.workshop().join("unclean"), boot).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::write(room.workshop().join("obj/mm/a.o"), "half of it").unwrap();
    let plan = Plan {
        only: Only::ALL,
        at_end: false,
        touched_only: true,
        boot: None,
    };
    let report = check(&room.request(Flavour::Series), &plan, &mut |_| {}).unwrap();
    let verdicts = &report.patches[0].verdicts;
    // Left out, it would have passed for a file that is not configured.
    assert!(verdicts[2].is_failure(), "{verdicts:?}");
}

#[test]
fn each_kind_of_failure_is_found_at_its_patch() {
    let room = Room::new();
    room.patch("0002-two", "-B\n+warn\n");
    room.patch("0003-three", "-warn\n+error\n");
    room.patch("0004-four", "-error\n+fine\n");
    let all = verdicts(&room, "1..", true);
    assert_eq!(
        all.len(),
        3,
        "nothing stands on a patch that does not build"
    );
    assert!(!all[0].1.iter().any(Verdict::is_failure), "{:?}", all[0]);
    let Verdict::Failed { why } = &all[1].1[2] else {
        panic!("the warning of patch 2 went unseen: {:?}", all[1]);
    };
    assert!(why.contains("mm/a.c: odd"), "{why}");
    let Verdict::Failed { why } = &all[2].1[1] else {
        panic!("patch 3 built: {:?}", all[2]);
    };
    assert!(why.contains("no such thing"), "{why}");

    let all = verdicts(&room, "1", false);
    let Verdict::Failed { why } = &all[0].1[4] else {
        panic!("the boot did not fail: {:?}", all[0]);
    };
    assert!(why.contains("panic: no init"), "{why}");

    room.patch("0002-two", "-nowhere\n+x\n");
    let all = verdicts(&room, "2", true);
    let Verdict::Failed { why } = &all[0].1[0] else {
        panic!("patch 2 applied: {:?}", all[0]);
    };
    assert!(why.contains("0002-two.patch does not apply"), "{why}");

    room.write(
        "tree/scripts/checkpatch.pl",
        "print \"x:1: WARNING:TYPE: bad\\n\"; exit 1;\n",
    );
    let all = verdicts(&room, "1", true);
    assert_eq!(
        all[0].1[5],
        Verdict::Failed {
            why: "x:1: WARNING:TYPE: bad".into()
        }
    );
}
