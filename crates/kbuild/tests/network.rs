//! Debian's archive over the network.
use kbuild::cache::Cache;
use kbuild::fetch::source::{fetch, Fetch};

/// Takes 20 seconds and 2 GB of the disk with the target directory.
#[test]
#[ignore = "network: downloads 167 MB from Debian's archive"]
fn a_fetched_package_is_whole_and_needs_no_network_again() {
    // The cache is not in /tmp, which may be memory.
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
    // A refresh asks the mirror, which does not exist here.
    let refresh = Fetch {
        refresh: true,
        ..nowhere
    };
    assert!(fetch(&cache, &refresh, &mut |_| {}).is_err());
}
