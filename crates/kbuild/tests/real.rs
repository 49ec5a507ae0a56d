//! The real thing: Debian's archive over the network, and kernels built from it. Minutes, not
//! seconds, so these run only when asked for: `cargo test -p kbuild --test real -- --ignored`.
use kbuild::cache::Cache;
use kbuild::source::{fetch, Fetch};
use kbuild::{ensure, Flavour, Request};
use std::fs;

/// Needs the network, 20 seconds, 2 GB of the temporary directory's disk.
#[test]
#[ignore = "downloads 167 MB"]
fn the_package_is_fetched_whole_and_then_needs_no_network() {
    // Not /tmp, which may be memory.
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let cache = Cache::at(dir.path());
    let line = "7.3".parse().unwrap();
    let source = fetch(&cache, &Fetch::new(line), &mut |_| {}).unwrap();
    assert_eq!(source.version.line(), line);
    assert!(source.dir.join("mm/vmscan.c").is_file());
    assert!(source.identity.starts_with("deb:linux-source-7.3=7.3."));
    let nowhere = Fetch {
        mirror: Some("file:///nowhere".into()),
        ..Fetch::new(line)
    };
    let again = fetch(&cache, &nowhere, &mut |_| {}).unwrap();
    assert_eq!(again.identity, source.identity);
    // A refresh does look, and finds that nothing is there.
    let refresh = Fetch {
        refresh: true,
        ..nowhere
    };
    assert!(fetch(&cache, &refresh, &mut |_| {}).is_err());
}

/// Goes on from the sources and objects in the user's cache, but keeps its images elsewhere: one that
/// is there may have been built by other code, and is not to be lost.
#[test]
#[ignore = "builds kernels: minutes"]
fn going_on_from_other_objects_gives_the_same_image_as_before() {
    let line = "7.3".parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let users = Cache::of_user().unwrap();
    for room in ["source", "work", "apt"] {
        std::os::unix::fs::symlink(users.room(room).unwrap(), dir.path().join(room)).unwrap();
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
        series.join("0001-words.patch"),
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
