//! What `hotset kernel clean` takes, and what it must leave.
use kbuild::cache::{self, Cache};
use kbuild::clean::{plan, remove};
use std::fs;
use std::path::{Path, PathBuf};

struct Room {
    dir: tempfile::TempDir,
}

impl Room {
    fn new() -> Room {
        let room = Room {
            dir: tempfile::tempdir().unwrap(),
        };
        for dir in ["kernel/config", "kernel/series/7.3"] {
            fs::create_dir_all(room.path(dir)).unwrap();
        }
        room.write("kernel/config/um.config", "CONFIG_A=y\n");
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
        room.write("kernel/series/7.3/0001-x.patch", patch);
        for patch in [3, 4] {
            let tree = format!("cache/source/linux-7.3.{patch}");
            let version = format!("VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = {patch}\n");
            room.write(&format!("{tree}/Makefile"), &version);
            let note = format!(r#"{{"package":"p","version":"7.3.{patch}-1","sha256":""}}"#);
            room.write(&format!("{tree}/.hotset-source.json"), &note);
        }
        room.write("cache/kernel/0123/linux", "an image of another day");
        room.write("cache/kernel/.partial-0123-x/linux", "half an image");
        room.write("cache/work/7.3-um-0123456789/obj/x.o", "objects");
        room.write("cache/disk/1-1mb.ext4", "a data disk");
        room
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
fn what_today_needs_stays_and_the_rest_goes() {
    let room = Room::new();
    // A tree by hard links frees nothing while the other is there.
    let tree = "cache/work/7.3-um-0123456789/src";
    fs::create_dir_all(room.path(tree)).unwrap();
    room.write("cache/source/linux-7.3.4/big", &"x".repeat(1 << 20));
    let big = room.path("cache/source/linux-7.3.4/big");
    fs::hard_link(big, room.path(&format!("{tree}/big"))).unwrap();

    let gone = [
        "kernel/0123",
        "source/linux-7.3.3",
        "work/7.3-um-0123456789",
    ];
    assert_eq!(room.names(false), gone);
    let items = room.plan(false);
    assert!(items.iter().all(|item| item.bytes > 0));
    assert!(items.iter().all(|item| item.bytes < 1 << 20), "{items:?}");
    assert!(
        room.path("cache/kernel/0123").exists(),
        "a plan does nothing"
    );
    remove(&room.cache(), &items).unwrap();
    assert!(room.names(false).is_empty());
    assert!(room.path("cache/source/linux-7.3.4/Makefile").exists());
    assert!(room.path("cache/disk/1-1mb.ext4").exists());
    // A process may still be at it.
    assert!(room.path("cache/kernel/.partial-0123-x").exists());

    remove(&room.cache(), &room.plan(true)).unwrap();
    for left in [
        "source/linux-7.3.4",
        "kernel/.partial-0123-x",
        "disk/1-1mb.ext4",
    ] {
        assert!(!room.path("cache").join(left).exists(), "{left}");
    }
}

#[test]
fn nothing_goes_while_another_hotset_works() {
    let room = Room::new();
    let work = room.path("cache/work");
    let lock = cache::try_lock(&work, "7.3-um").unwrap();
    assert!(lock.is_some() && cache::try_lock(&work, "7.3-um").unwrap().is_none());
    let items = room.plan(false);
    let error = remove(&room.cache(), &items).unwrap_err().to_string();
    assert!(
        error.contains("another hotset is working on 7.3-um"),
        "{error}"
    );
    assert!(items.iter().all(|item| item.path.exists()));
    drop(lock);
    remove(&room.cache(), &items).unwrap();
}

#[test]
fn a_lock_that_was_given_back_is_free_whatever_is_being_started() {
    let room = Room::new();
    let work = room.path("cache/work");
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
