//! Real kernels, built from Debian's source.
use kbuild::cache::Cache;
use kbuild::fetch::source::{fetch, Fetch};
use kbuild::{ensure, Flavour, Request};
use std::fs;

/// Uses the sources and objects in the user's cache, but keeps its images elsewhere: the images there
/// must not be lost.
#[test]
#[ignore = "long: builds three kernels from Debian's source in the cache, minutes each"]
fn an_image_built_on_another_kernels_objects_is_the_same() {
    let line = "7.3".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let users = Cache::of_user().unwrap();
    for folder in ["source", "work", "apt"] {
        std::os::unix::fs::symlink(users.folder(folder).unwrap(), dir.path().join(folder)).unwrap();
    }
    let source = fetch(&users, &Fetch::new(line), &mut |_| {}).unwrap();
    let mut request = Request::new(line, Flavour::Vanilla);
    request.cache = Some(Cache::at(dir.path()));
    let first = ensure(&request, &mut |_| {}).unwrap();
    assert!(first.image.starts_with(dir.path()));

    let file = fs::read_to_string(source.dir.join("mm/oom_kill.c")).unwrap();
    let changed = file.replacen("Out of memory", "Out of all memory", 1);
    assert_ne!(file, changed);
    let series = dir.path().join("series");
    fs::create_dir(&series).unwrap();
    fs::write(
        series.join("0001-message.patch"),
        diff("mm/oom_kill.c", &file, &changed),
    )
    .unwrap();
    request.flavour = Flavour::Series;
    request.series_dir = Some(series);
    let patched = ensure(&request, &mut |_| {}).unwrap();
    assert_ne!(patched.image_sha256, first.image_sha256);

    // Back to vanilla, out of the patched kernel's objects.
    fs::remove_dir_all(first.image.parent().unwrap()).unwrap();
    request.flavour = Flavour::Vanilla;
    request.series_dir = None;
    let again = ensure(&request, &mut |_| {}).unwrap();
    assert_eq!(again.image_sha256, first.image_sha256);
}

/// A unified diff of one changed line.
fn diff(name: &str, old: &str, new: &str) -> String {
    let at = old
        .lines()
        .zip(new.lines())
        .position(|(a, b)| a != b)
        .unwrap();
    let (a, b) = (old.lines().nth(at).unwrap(), new.lines().nth(at).unwrap());
    let context = |from: usize| -> String {
        old.lines()
            .skip(from)
            .take(3)
            .map(|line| format!(" {line}\n"))
            .collect()
    };
    format!(
        "--- a/{name}\n+++ b/{name}\n@@ -{0},7 +{0},7 @@\n{1}-{a}\n+{b}\n{2}",
        at - 2,
        context(at - 3),
        context(at + 1)
    )
}
