//! Series: order, application with exact context, and errors that name the patch and the hunk.
use kbuild::patches::series::{id, load};
use kbuild::patches::Overlay;
use std::fs;
use std::path::{Path, PathBuf};

const ONE: &str = "Subject: [PATCH 1/3] mm: one\n\n--- a/mm/a.c\n+++ b/mm/a.c\n\
    @@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
const TWO: &str = "Subject: [PATCH 2/3] mm: two\n\n--- a/mm/a.c\n+++ b/mm/a.c\n\
    @@ -1,3 +1,4 @@\n a\n B\n+new\n c\n--- /dev/null\n+++ b/mm/made.sh\n@@ -0,0 +1 @@\n+made\n";
const THREE: &str = "Subject: [PATCH 3/3] mm: three\n\n--- a/mm/gone.c\n+++ /dev/null\n\
    @@ -1 +0,0 @@\n-x\n";

struct Fixture {
    _dir: tempfile::TempDir,
    tree: PathBuf,
    series: PathBuf,
}

fn fixture(patches: &[(&str, &str)]) -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let (tree, series) = (dir.path().join("tree"), dir.path().join("series"));
    fs::create_dir_all(tree.join("mm")).unwrap();
    fs::create_dir(&series).unwrap();
    fs::write(tree.join("mm/a.c"), "a\nb\nc\n").unwrap();
    fs::write(tree.join("mm/gone.c"), "x\n").unwrap();
    for (name, text) in patches {
        fs::write(series.join(name), text).unwrap();
    }
    Fixture {
        _dir: dir,
        tree,
        series,
    }
}

fn contents(overlay: &Overlay, file: &str) -> String {
    let place = overlay.look_up(Path::new(file)).unwrap().unwrap();
    fs::read_to_string(place).unwrap()
}

#[test]
fn patches_apply_in_the_order_of_their_numbers_and_leave_the_tree_alone() {
    let fixture = fixture(&[
        ("0003-three.patch", THREE),
        ("0001-one.patch", ONE),
        ("0000-cover-letter.patch", "Subject: [PATCH 0/3] words\n"),
        ("0002-two.patch", TWO),
        ("README", "not a patch"),
    ]);
    let patches = load(&fixture.series).unwrap();
    let names: Vec<_> = patches.iter().map(|patch| patch.name.as_str()).collect();
    assert_eq!(
        names,
        ["0001-one.patch", "0002-two.patch", "0003-three.patch"]
    );
    assert_eq!(patches[1].subject, "mm: two");
    let overlay = Overlay::of(&patches, &fixture.tree).unwrap();
    assert_eq!(contents(&overlay, "mm/a.c"), "a\nB\nnew\nc\n");
    assert_eq!(contents(&overlay, "mm/made.sh"), "made\n");
    assert_eq!(overlay.look_up(Path::new("mm/gone.c")), Some(None));
    assert_eq!(overlay.look_up(Path::new("mm/other.c")), None);
    assert_eq!(
        fs::read_to_string(fixture.tree.join("mm/a.c")).unwrap(),
        "a\nb\nc\n"
    );
    assert!(fixture.tree.join("mm/gone.c").exists());
}

#[test]
fn a_hunk_that_does_not_fit_is_named_with_patch_and_file() {
    // Patch two without patch one: its context "B" is missing. With fuzz the patch would apply.
    let fixture = fixture(&[("0002-two.patch", TWO)]);
    let error = Overlay::of(&load(&fixture.series).unwrap(), &fixture.tree)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("0002-two.patch does not apply"), "{error}");
    assert!(error.contains("mm/a.c: Hunk #1 FAILED at 1"), "{error}");
}

#[test]
fn a_patch_that_makes_a_file_that_is_there_is_refused() {
    let made_again = "--- /dev/null\n+++ b/mm/a.c\n@@ -0,0 +1 @@\n+x\n";
    let fixture = fixture(&[("0001-again.patch", made_again)]);
    let error = Overlay::of(&load(&fixture.series).unwrap(), &fixture.tree)
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("makes mm/a.c, which is there already"),
        "{error}"
    );
}

#[test]
fn patches_stay_inside_of_the_tree() {
    let outside = "--- a/../../etc/x\n+++ b/../../etc/x\n@@ -0,0 +1 @@\n+x\n";
    let fixture = fixture(&[("0001-out.patch", outside)]);
    let error = load(&fixture.series).unwrap_err().to_string();
    assert!(error.contains("outside of the tree"), "{error}");
}

#[test]
fn an_empty_or_ambiguous_series_is_an_error() {
    let empty = fixture(&[]);
    let error = load(&empty.series).unwrap_err().to_string();
    assert!(
        error.contains("no patch") && error.contains("--series-dir"),
        "{error}"
    );
    let error = format!("{:#}", load(Path::new("/no/such/series")).unwrap_err());
    assert!(error.contains("/no/such/series: no patch"), "{error}");
    let twice = fixture(&[("0001-one.patch", ONE), ("0001-two.patch", TWO)]);
    let error = load(&twice.series).unwrap_err().to_string();
    assert!(
        error.contains("0001-one.patch and 0001-two.patch"),
        "{error}"
    );
}

#[test]
fn a_series_id_changes_with_any_patch() {
    let a = fixture(&[("0001-one.patch", ONE)]);
    let b = fixture(&[("0001-one.patch", &ONE.replace("+B", "+D"))]);
    let (a, b) = (load(&a.series).unwrap(), load(&b.series).unwrap());
    assert_eq!(id(&a), id(&a.clone()));
    assert_ne!(id(&a), id(&b));
}

#[test]
fn a_patch_of_tests_or_documentation_is_no_part_of_an_image() {
    let apart = ONE
        .replace("a/", "a/tools/testing/x/")
        .replace("b/", "b/tools/testing/x/");
    let a = fixture(&[("0001-one.patch", ONE)]);
    let b = fixture(&[("0001-one.patch", ONE), ("0002-tests.patch", &apart)]);
    let (a, b) = (load(&a.series).unwrap(), load(&b.series).unwrap());
    assert!(!b[1].builds(), "{:?}", b[1].files);
    assert_eq!(id(&a), id(&b));
    // objtool, which goes over an x86_64 kernel's objects, is a tool as well.
    let tool = ONE
        .replace("a/", "a/tools/objtool/")
        .replace("b/", "b/tools/objtool/");
    let c = fixture(&[("0001-one.patch", ONE), ("0002-tool.patch", &tool)]);
    assert!(load(&c.series).unwrap()[1].builds());
}
