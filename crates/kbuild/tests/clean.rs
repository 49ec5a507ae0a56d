//! `hotset kernel clean`: the entries that it removes, and those that it keeps.
use kbuild::cache::{self, Cache};
use kbuild::clean::{plan, remove};
use std::fs;
use std::path::{Path, PathBuf};

struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture {
            dir: tempfile::tempdir().unwrap(),
        };
        for dir in ["kernel/config", "kernel/series/7.3"] {
            fs::create_dir_all(fixture.path(dir)).unwrap();
        }
        fixture.write("kernel/config/um.config", "CONFIG_A=y\n");
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        fixture.write("kernel/series/7.3/0001-x.patch", patch);
        for patch in [3, 4] {
            let tree = format!("cache/source/linux-7.3.{patch}");
            let version = format!("VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = {patch}\n");
            fixture.write(&format!("{tree}/Makefile"), &version);
            let note = format!(r#"{{"package":"p","version":"7.3.{patch}-1","sha256":""}}"#);
            fixture.write(&format!("{tree}/.hotset-source.json"), &note);
        }
        fixture.write("cache/kernel/0123/linux", "an image of another day");
        fixture.write("cache/kernel/.partial-0123-x/linux", "half an image");
        fixture.write("cache/work/7.3-um-0123456789/obj/x.o", "objects");
        fixture.write("cache/disk/1-1mb.ext4", "a data disk");
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn cache(&self) -> Cache {
        Cache::at(self.path("cache"))
    }

    fn plan(&self, all: bool) -> Vec<kbuild::clean::Item> {
        plan(&self.cache(), Some(&self.path("kernel")), all).unwrap()
    }

    fn names(&self, all: bool) -> Vec<String> {
        let root = self.path("cache");
        let short = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
        self.plan(all).iter().map(|it| short(&it.path)).collect()
    }
}

#[test]
fn sources_and_objects_that_todays_kernels_need_stay() {
    let fixture = Fixture::new();
    // A tree by hard links frees nothing while the other is there.
    let tree = "cache/work/7.3-um-0123456789/src";
    fs::create_dir_all(fixture.path(tree)).unwrap();
    fixture.write("cache/source/linux-7.3.4/big", &"x".repeat(1 << 20));
    let big = fixture.path("cache/source/linux-7.3.4/big");
    fs::hard_link(big, fixture.path(&format!("{tree}/big"))).unwrap();

    let gone = [
        "kernel/0123",
        "source/linux-7.3.3",
        "work/7.3-um-0123456789",
    ];
    assert_eq!(fixture.names(false), gone);
    let items = fixture.plan(false);
    assert!(items.iter().all(|item| item.bytes > 0));
    assert!(items.iter().all(|item| item.bytes < 1 << 20), "{items:?}");
    assert!(
        fixture.path("cache/kernel/0123").exists(),
        "a plan does nothing"
    );
    remove(&fixture.cache(), &items).unwrap();
    assert!(fixture.names(false).is_empty());
    assert!(fixture.path("cache/source/linux-7.3.4/Makefile").exists());
    assert!(fixture.path("cache/disk/1-1mb.ext4").exists());
    // A process may still be working on this entry.
    assert!(fixture.path("cache/kernel/.partial-0123-x").exists());

    remove(&fixture.cache(), &fixture.plan(true)).unwrap();
    for left in [
        "source/linux-7.3.4",
        "kernel/.partial-0123-x",
        "disk/1-1mb.ext4",
    ] {
        assert!(!fixture.path("cache").join(left).exists(), "{left}");
    }
}

#[test]
fn nothing_is_removed_while_another_process_holds_a_lock() {
    let fixture = Fixture::new();
    let work = fixture.path("cache/work");
    let lock = cache::try_lock(&work, "7.3-um").unwrap();
    assert!(lock.is_some() && cache::try_lock(&work, "7.3-um").unwrap().is_none());
    let items = fixture.plan(false);
    let error = remove(&fixture.cache(), &items).unwrap_err().to_string();
    assert!(
        error.contains("another hotset is working on 7.3-um"),
        "{error}"
    );
    assert!(items.iter().all(|item| item.path.exists()));
    drop(lock);
    remove(&fixture.cache(), &items).unwrap();
}

#[test]
fn a_released_lock_is_free_even_while_children_are_being_started() {
    let fixture = Fixture::new();
    let work = fixture.path("cache/work");
    let done = std::sync::atomic::AtomicBool::new(false);
    let over = || done.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        // Between fork and exec a child has all that this process has open.
        scope.spawn(|| {
            while !over() {
                std::process::Command::new("true").status().unwrap();
            }
        });
        let refused = (0..2000)
            .filter(|_| cache::try_lock(&work, "7.3-um").unwrap().is_none())
            .count();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(refused, 0);
    });
}
