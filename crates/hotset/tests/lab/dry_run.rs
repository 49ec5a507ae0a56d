//! `hotset lab run --dry-run`, and what a run says before its first guest.
use crate::bench::{err, hotset, out, output, repository, status};
use std::fs;
use std::path::Path;
use std::process::Output;

const TINY: &str = include_str!("tiny.toml");

/// A dry run of an experiment in a folder of its own.
fn dry_run(dir: &Path, text: &str, options: &[&str]) -> Output {
    let file = dir.join("tiny.toml");
    fs::write(&file, text).unwrap();
    let mut command = hotset("lab run --dry-run", &[&file]);
    command.args(options).output().unwrap()
}

#[test]
fn a_dry_run_names_the_trials_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out_dir = dir.path().join("a/b");
    let good = dry_run(dir.path(), TINY, &["-o", out_dir.to_str().unwrap()]);
    assert_eq!(status(&good), 0, "{}", err(&good));
    assert_eq!(out(&good), "vanilla: 1 trial\nprotected: 1 trial\n");
    assert!(err(&good).contains("2 trials,"), "{}", err(&good));
    assert!(!err(&good).contains("note:"), "{}", err(&good));
    assert!(!out_dir.exists());
}

#[test]
fn a_cluster_without_its_programs_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let line = "lab run trap-asked --on slurm --output";
    let ran = hotset(line, &[&out]).env("PATH", dir.path()).output();
    let ran = ran.unwrap();
    assert_eq!(status(&ran), 2, "{}", err(&ran));
    let said = "--on slurm: there is no program scontrol here";
    assert!(err(&ran).contains(said), "{}", err(&ran));
    assert!(!out.exists());
    // All hosts write into one folder, so it is named.
    let without = output("lab run trap-asked --on slurm", &[]);
    assert_eq!(status(&without), 2);
    assert!(
        err(&without).contains("--output <FOLDER>"),
        "{}",
        err(&without)
    );
}

#[test]
fn a_dry_run_checks_output_source_and_series() {
    let dir = tempfile::tempdir().unwrap();
    let here = |name: &str| dir.path().join(name).display().to_string();
    fs::write(here("file"), "x").unwrap();
    fs::create_dir_all(here("full")).unwrap();
    fs::write(here("full/run.json"), "{\"schema\": 1, \"exper").unwrap();
    fs::create_dir_all(here("tree")).unwrap();
    fs::write(here("tree/Makefile"), "VERSION = 7\nPATCHLEVEL = 4\n").unwrap();
    let generations = TINY.replace("kernel = \"series\"", "kernel = \"generations\"");
    let generations = generations.replace("knobs = { \"vm.workingset_protection\" = 1 }", "");
    for (text, options, part) in [
        (TINY, vec!["-o", &here("file")], "it is no folder"),
        (TINY, vec!["-o", &here("file/below")], "it is no folder"),
        (TINY, vec!["-o", &here("full")], "the folder is not empty"),
        (
            TINY,
            vec!["--resume", "-o", &here("full")],
            "the file is cut off",
        ),
        (
            TINY,
            vec!["--resume", "-o", &here("none")],
            "there is no run to continue",
        ),
        (
            TINY,
            vec!["--tree", &here("none")],
            "is this a kernel source tree?",
        ),
        (
            TINY,
            vec!["--tree", &here("tree")],
            "holds Linux 7.4.0, not 7.3",
        ),
        (TINY, vec!["--kernel", "6.12.5"], "write 6.12,"),
        (
            &generations,
            vec!["--kernel", "6.12"],
            "no series \"generations\" for Linux 6.12; there is one for 7.3",
        ),
    ] {
        let output = dry_run(dir.path(), text, &options);
        assert_eq!(status(&output), 2, "{options:?}: {}", err(&output));
        assert!(err(&output).contains(part), "{options:?}: {}", err(&output));
        assert_eq!(out(&output), "");
    }
}

#[test]
fn what_arms_lose_by_a_selection_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let alone = dry_run(dir.path(), TINY, &["--arm", "protected"]);
    assert_eq!(status(&alone), 0, "{}", err(&alone));
    for part in ["without its baseline vanilla", "1 of 2 promises"] {
        assert!(err(&alone).contains(part), "{}", err(&alone));
    }
    let quiet = dry_run(dir.path(), TINY, &["--arm", "protected", "-q"]);
    assert_eq!(err(&quiet), "");
}

#[test]
fn text_without_effect_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let text = TINY.replace("[files]", "[files]\nother = \"1MiB\"");
    let noted = dry_run(dir.path(), &text, &[]);
    assert_eq!(status(&noted), 0);
    let said = err(&noted);
    assert!(
        said.contains("files.other: no worker reads this file"),
        "{said}"
    );
}

/// A program of Debian's finds every file in /data, by whatever name it has in a script.
#[test]
fn a_file_for_a_program_is_not_noted() {
    let file = repository("experiments/programs/fio.toml");
    let dry = hotset("lab run --dry-run", &[&file]).output().unwrap();
    assert_eq!(status(&dry), 0, "{}", err(&dry));
    assert!(!err(&dry).contains("note:"), "{}", err(&dry));
}

#[test]
fn a_file_in_the_current_folder_is_offered_and_a_folder_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mine.toml"), TINY).unwrap();
    let mut command = hotset("lab run mine --dry-run", &[]);
    let wrong = command.current_dir(dir.path()).output().unwrap();
    assert_eq!(status(&wrong), 2);
    assert!(err(&wrong).contains("./mine.toml"), "{}", err(&wrong));
    let folder = output("lab run", &[dir.path()]);
    assert_eq!(status(&folder), 2);
    assert!(err(&folder).contains("it is a folder"), "{}", err(&folder));
}

#[test]
fn a_broken_preset_is_named_and_each_has_its_title() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tiny.toml");
    fs::write(&file, TINY.replace("memory_mb = 96", "memory_mb = 1")).unwrap();
    let wrong = output("lab list", &[&file]);
    assert_eq!(status(&wrong), 2);
    assert!(
        err(&wrong).contains("with --preset small"),
        "{}",
        err(&wrong)
    );
    let list = out(&output("lab list three-workers", &[]));
    assert!(list.contains("Three workers in QEMU"), "{list}");
}

#[test]
fn a_line_that_stops_before_its_command_gets_the_help() {
    for group in ["lab", "kernel"] {
        let help = output(group, &[]);
        assert_eq!(status(&help), 2);
        let text = err(&help);
        assert!(!text.starts_with("hotset:"), "{text}");
        assert!(text.contains(&format!("Usage: hotset {group}")), "{text}");
    }
}

/// The experiment of the guide is one that runs.
#[test]
fn the_experiment_of_the_guide_is_right() {
    let guide = fs::read_to_string(repository("docs/guide/lab.md")).unwrap();
    let begin = guide.find("```toml\n").unwrap() + "```toml\n".len();
    let text = &guide[begin..];
    let dir = tempfile::tempdir().unwrap();
    let good = dry_run(dir.path(), &text[..text.find("```").unwrap()], &[]);
    assert_eq!(status(&good), 0, "{}", err(&good));
    assert!(!err(&good).contains("note:"), "{}", err(&good));
}

#[test]
fn experiments_are_found_below_the_prefix_of_make_install() {
    let prefix = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for folder in ["bin", "share/hotset/experiments"] {
        fs::create_dir_all(prefix.path().join(folder)).unwrap();
    }
    let program = prefix.path().join("bin/hotset");
    fs::hard_link(env!("CARGO_BIN_EXE_hotset"), &program).unwrap();
    let file = prefix
        .path()
        .join("share/hotset/experiments/only-here.toml");
    fs::write(file, TINY).unwrap();
    let list = std::process::Command::new(program)
        .args(["lab", "list"])
        .current_dir("/")
        .output()
        .unwrap();
    assert!(
        out(&list).contains("only-here"),
        "{} {}",
        out(&list),
        err(&list)
    );
}
