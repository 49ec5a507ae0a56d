//! The text of each recorded machine.
use kernfs::Root;
use std::path::Path;
use support::{machine, text, Names};

#[test]
fn every_recorded_kernel_gives_a_text_of_bounded_length() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernfs");
    let mut machines = 0;
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        machines += 1;
        let root = Root::new(&path);
        let all = text(&machine::sections(&root), &Names::of(&root));
        let lines = all.lines().count();
        assert!((100..3000).contains(&lines), "{path:?}: {lines} lines");
        assert!(
            all.contains("\nnr_free_pages ") && all.contains("MemTotal"),
            "{path:?}"
        );
        assert!(
            !all.contains("pagesets") && all.contains("  min "),
            "{path:?}"
        );
    }
    assert!(machines > 8);
}
