//! `hotset lab league`, as far as it goes without guests.
use crate::bench::{err, out, output, status};
use std::fs;

#[test]
fn a_dry_run_names_the_challengers_of_each_scene_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let line = "lab league --dry-run --only nothing,swappiness-10,hotsetd --output";
    let planned = output(line, &[&dir.path().join("out")]);
    assert_eq!(status(&planned), 0, "{}", err(&planned));
    let text = out(&planned);
    assert_eq!(text.lines().count(), 9, "{text}");
    assert!(
        text.contains("desktop-zram: hotsetd, nothing, swappiness-10"),
        "{text}"
    );
    assert!(text.contains("storm-none: hotsetd, nothing\n"), "{text}");
    // Two scenes of three challengers and one of two, three times each, three workloads.
    assert!(err(&planned).contains("72 trials"), "{}", err(&planned));
    assert!(!dir.path().join("out").exists());
}

#[test]
fn the_small_preset_and_the_options_choose_a_part() {
    let small = output("lab league --dry-run --preset small --only nothing", &[]);
    assert_eq!(out(&small), "desktop-zram: nothing\n");
    assert!(
        err(&small).contains("1 trials, about 1 min"),
        "{}",
        err(&small)
    );
    let part = output(
        "lab league --dry-run --scene storm --swap disk,none --only nothing",
        &[],
    );
    assert_eq!(out(&part), "storm-disk: nothing\nstorm-none: nothing\n");
}

#[test]
fn a_challenger_of_the_user_is_entered_by_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    fs::write(&file, "[mine]\nknobs = { \"vm.swappiness\" = 1 }\n").unwrap();
    let line = "lab league --dry-run --preset small --only mine,nothing --challengers";
    let entered = output(line, &[&file]);
    assert_eq!(
        out(&entered),
        "desktop-zram: nothing, mine\n",
        "{}",
        err(&entered)
    );
    fs::write(&file, "[mine]\nknob = { \"vm.swappiness\" = 1 }\n").unwrap();
    let wrong = output(line, &[&file]);
    assert_eq!(status(&wrong), 2);
    let told = format!("{}:2: mine.knob: unknown field", file.display());
    assert!(err(&wrong).contains(&told), "{}", err(&wrong));
}

#[test]
fn what_is_not_there_is_usage_with_the_nearest_name() {
    for (line, told) in [
        ("lab league --only hotset", "did you mean hotsetd?"),
        ("lab league --without nothin", "did you mean nothing?"),
        ("lab league --scene desk", "desktop"),
        ("lab league --only swappiness-10 --swap none", "--swap"),
        ("lab league --resume", "--output"),
    ] {
        let wrong = output(line, &[]);
        assert_eq!(status(&wrong), 2, "{line}: {}", err(&wrong));
        assert!(err(&wrong).contains(told), "{line}: {}", err(&wrong));
    }
}

#[test]
fn a_missing_program_and_a_full_folder_are_refused_before_anything_is_built() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine.toml");
    let mine = "[mine]\ncommand = [\"no-such-daemon\"]\n";
    fs::write(&file, mine).unwrap();
    let line = "lab league --preset small --only mine --challengers";
    let missing = output(line, &[&file]);
    assert_eq!(status(&missing), 2);
    let told = err(&missing);
    assert!(
        told.contains("no-such-daemon") && told.contains("--without mine"),
        "{told}"
    );
    let full = output(
        "lab league --preset small --only nothing --output",
        &[dir.path()],
    );
    assert_eq!(status(&full), 2);
    assert!(err(&full).contains("not empty"), "{}", err(&full));
    assert!(file.is_file());
}
