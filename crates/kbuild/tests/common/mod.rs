//! A stand-in for a kernel tree. Its Makefile has kbuild's targets, so that everything around make is
//! tested in a thousandth of the time.
#![allow(dead_code)]
use kbuild::build::{ensure, Built};
use kbuild::cache::Cache;
use kbuild::{Flavour, Origin, Request};
use std::fs;
use std::path::PathBuf;

/// Builds `linux` out of mm/*.c, one object each; `error` in a file fails to compile, `warn` warns
/// with W=1. `runs` in the object directory counts the compilations.
pub const MAKEFILE: &str = r#"VERSION = 7
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

/// A directory with a stand-in tree, a kernel directory with one series, and a cache.
pub struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    pub fn new() -> Fixture {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Fixture { dir };
        for sub in [
            "tree/mm",
            "tree/scripts",
            "kernel/config",
            "kernel/series/7.3",
        ] {
            fs::create_dir_all(fixture.path(sub)).unwrap();
        }
        fixture.write("tree/Makefile", MAKEFILE);
        fixture.write("tree/scripts/checkpatch.pl", "exit 0;\n");
        fixture.write("tree/mm/a.c", "a\nb\nc\n");
        fixture.write("tree/mm/z.c", "z\n");
        fixture.write("kernel/config/um.config", "CONFIG_A=y\n");
        fixture.patch("0001-one", "-b\n+B\n");
        fixture
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn patch(&self, name: &str, change: &str) {
        let text = format!(
            "Subject: [PATCH] mm: {name}\n\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,3 +1,3 @@\n a\n{change} c\n"
        );
        self.write(&format!("kernel/series/7.3/{name}.patch"), &text);
    }

    pub fn request(&self, flavour: Flavour) -> Request {
        Request {
            origin: Origin::Tree(self.path("tree")),
            kernel_dir: Some(self.path("kernel")),
            cache: Some(Cache::at(self.path("cache"))),
            ..Request::new("7.3".parse().unwrap(), flavour)
        }
    }

    pub fn ensure(&self, flavour: Flavour) -> anyhow::Result<Built> {
        ensure(&self.request(flavour), &mut |_| {})
    }

    /// The stand-in for a kernel tree, as labels name it.
    pub fn tree(&self) -> PathBuf {
        fs::canonicalize(self.path("tree")).unwrap()
    }

    pub fn build_tree(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.path("cache/work")).unwrap().flatten();
        let found = entries.find(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        found.unwrap().path()
    }

    /// The files compiled since the last call.
    pub fn compiled(&self) -> Vec<String> {
        let runs = self.build_tree().join("obj/runs");
        let text = fs::read_to_string(&runs).unwrap_or_default();
        let _ = fs::remove_file(&runs);
        let mut names: Vec<String> = text.lines().map(Into::into).collect();
        names.sort();
        names
    }
}

/// The contents of an image.
pub fn image(built: &Built) -> String {
    fs::read_to_string(&built.image).unwrap()
}
