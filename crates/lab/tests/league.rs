//! Challengers as TOML, and the cells of the league that they play in.
use lab::experiment::league::{cells, own, parse, read, Challenger, Swap, Wanted, SCENES};
use std::path::Path;

fn wanted() -> Wanted {
    Wanted {
        scenes: SCENES.map(String::from).to_vec(),
        swaps: Swap::ALL.to_vec(),
        seconds: None,
        repetitions: None,
        seed: None,
    }
}

fn challengers() -> Vec<Challenger> {
    read(&own().unwrap()).unwrap_or_else(|broken| panic!("{broken}"))
}

#[test]
fn hotsets_own_challengers_play_in_every_scene() {
    let all = challengers();
    assert!(all.len() >= 12, "{} challengers", all.len());
    let cells = cells(&all, &wanted()).unwrap();
    assert_eq!(cells.len(), SCENES.len() * Swap::ALL.len());
    for cell in &cells {
        let swapless = cell.name.ends_with("-none");
        let arms = &cell.experiment.arms;
        assert_eq!(
            arms.iter().any(|arm| arm.name == "swappiness-10"),
            !swapless
        );
        for arm in arms.iter().filter(|arm| arm.name != "nothing") {
            assert_eq!(arm.baseline.as_deref(), Some("nothing"), "{}", arm.name);
        }
        assert_eq!(cell.seconds(), 60.0, "{}", cell.name);
        let machine = &cell.experiment.machine;
        let kinds = (machine.zram_mb > 0, machine.swap_mb > 0);
        let expected = match cell.name.rsplit_once('-').unwrap().1 {
            "zram" => (true, false),
            "disk" => (false, true),
            _ => (false, false),
        };
        assert_eq!(kinds, expected, "{}", cell.name);
    }
}

#[test]
fn a_challenger_is_one_table() {
    let text = "[le9uo]\nlabel = \"le9uo\"\nkernel = { image = \"Cargo.toml\" }\n\
                knobs = { \"vm.clean_min_ratio\" = 15 }\nswap = [\"disk\"]\n";
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entered = parse(&root.join("mine.toml"), text).unwrap();
    assert_eq!(entered[0].name(), "le9uo");
    let kernel = entered[0].arm.kernel.to_string();
    let image = root.join("Cargo.toml");
    assert_eq!(
        kernel,
        format!("image {}", image.display()),
        "beside the file"
    );
    let cells = cells(&entered, &wanted()).unwrap();
    let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names, ["desktop-disk", "storm-disk", "compile-disk"]);
    assert_eq!(
        cells[0].experiment.arms[0].baseline, None,
        "nothing does not play"
    );
}

#[test]
fn a_wrong_challenger_is_an_error_with_its_line() {
    for (text, line, message) in [
        ("[a]\nknob = {}\n", 2, "unknown field `knob`"),
        ("[a]\nlru = \"x\"\n", 2, "`classic` or `mglru`"),
        (
            "[a]\nknobs = { \"/etc/x\" = 1 }\n",
            2,
            "below /proc or /sys",
        ),
        ("[a]\nkernel = \"stock\"\n", 2, "unknown variant `stock`"),
        ("[a]\nkernel = { tree = \"/none\" }\n", 2, "/none"),
        ("[a]\ncommand = [\"x\"]\ndaemon = {}\n", 2, "one daemon"),
        ("[a]\npackages = [\"x\"]\n", 2, "there is no `command`"),
        (
            "[a]\nswap = [\"zswap\"]\n",
            2,
            "expected one of `zram`, `disk`, `none`",
        ),
        ("[\"a b\"]\n", 1, "letters, digits"),
        ("[a]\n[a]\n", 2, "duplicate key"),
    ] {
        let broken = parse(Path::new("mine.toml"), text).unwrap_err();
        assert_eq!(broken.line, line, "{broken}");
        let shown = broken.to_string();
        assert!(
            shown.contains(message) && shown.starts_with("mine.toml:"),
            "{shown}"
        );
    }
}

#[test]
fn a_program_that_is_not_there_is_told_and_one_of_packages_need_not_be() {
    let text = "[x]\ncommand = [\"no-such-daemon\", \"-r\"]\n";
    let entered = parse(Path::new("mine.toml"), text).unwrap();
    let why = entered[0].lacks().unwrap();
    for part in ["challenger x", "no-such-daemon", "packages", "--without x"] {
        assert!(why.contains(part), "{why}");
    }
    let there = parse(Path::new("mine.toml"), "[x]\ncommand = [\"sh\"]\n").unwrap();
    assert_eq!(there[0].lacks(), None);
    let packed = format!("{text}packages = [\"some-package\"]\n");
    let packed = parse(Path::new("mine.toml"), &packed).unwrap();
    assert_eq!(packed[0].lacks(), None);
}

/// All guests of a scene have the same root, with the packages of all who play there.
#[test]
fn the_packages_of_all_players_are_the_root() {
    let text = "[a]\ncommand = [\"a\"]\npackages = [\"a-bin\", \"libc6\"]\nswap = [\"zram\"]\n\
                [b]\ncommand = [\"b\"]\npackages = [\"libc6\", \"b-bin\"]\n[c]\n";
    let entered = parse(Path::new("mine.toml"), text).unwrap();
    let found = cells(&entered, &wanted()).unwrap();
    for (cell, wanted) in [
        ("desktop-zram", vec!["a-bin", "libc6", "b-bin"]),
        ("desktop-none", vec!["libc6", "b-bin"]),
    ] {
        let cell = found.iter().find(|one| one.name == cell).unwrap();
        let experiment = &cell.experiment;
        assert_eq!(experiment.root.as_ref().unwrap().packages, wanted);
        for arm in &experiment.arms {
            let in_root = arm.daemon.as_ref().map(|daemon| daemon.in_root);
            assert_eq!(in_root, (arm.name != "c").then_some(true), "{}", arm.name);
        }
    }
    let without = parse(Path::new("mine.toml"), "[c]\n").unwrap();
    let found = cells(&without, &wanted()).unwrap();
    assert_eq!(found[0].experiment.root, None);
}

#[test]
fn a_wrong_name_of_a_package_names_the_line_of_the_challenger() {
    let text = "[a]\ncommand = [\"a\"]\npackages = [\"a-bin\"]\n\
                [b]\ncommand = [\"b\"]\npackages = [\"B\"]\n";
    let entered = parse(Path::new("mine.toml"), text).unwrap();
    let error = cells(&entered, &wanted()).unwrap_err().to_string();
    let place = "mine.toml:6: b.packages[0]: expected the name of one of Debian's packages";
    assert!(error.starts_with(place), "{error}");
}
