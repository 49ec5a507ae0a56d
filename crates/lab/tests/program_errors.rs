//! Errors in workers that are programs, and in their root, that the experiment file alone shows.
use lab::experiment::{Changes, Experiment};
use std::path::Path;

const GOOD: &str = include_str!("data/program.toml");

fn load(set: &[&str]) -> Result<Experiment, String> {
    let changes = Changes {
        preset: None,
        set: set.iter().map(|set| set.to_string()).collect(),
    };
    Experiment::parse(Path::new("x.toml"), GOOD, &changes).map_err(|broken| broken.to_string())
}

#[test]
fn errors_of_programs_name_their_fields() {
    load(&[]).unwrap();
    let count = "workers.count.does.program";
    for (set, field, wanted) in [
        (
            format!("{count}.command=[]"),
            "command",
            "expected a program",
        ),
        (
            format!("{count}.command=\"make\""),
            "command",
            "expected a list",
        ),
        (format!("{count}.cwd=\"srv\""), "cwd", "a path from the top"),
        (format!("{count}.ready_s=0"), "ready_s", "at least 1"),
        (format!("{count}.ready=\"(\""), "ready", "does not compile"),
        (
            format!("{count}.measure.speed=\"[0-9+\""),
            "measure.speed",
            "does not compile",
        ),
        (
            format!("{count}.measure.speed=\"[0-9]+\""),
            "measure.speed",
            "one group",
        ),
        (
            format!("{count}.measure.speed=\"(a)(b)\""),
            "measure.speed",
            "not 2",
        ),
        (
            format!("{count}.measure.done_ms=\"(a)\""),
            "measure.done_ms",
            "choose another",
        ),
        (
            format!("{count}.measure={{ \"a b\" = \"(a)\" }}"),
            "measure.a b",
            "letters",
        ),
        (
            format!("{count}.comand=[\"x\"]"),
            "comand",
            "did you mean command?",
        ),
    ] {
        let error = load(&[&set]).expect_err(&set);
        assert!(error.starts_with("--set:1: "), "{set}: {error}");
        assert!(
            error.contains(&format!("{count}.{field}: ")),
            "{set}: {error}"
        );
        assert!(error.contains(wanted), "{set}: {error}");
    }
}

#[test]
fn errors_of_a_root_name_their_fields() {
    for (set, wanted) in [
        ("root.packages=[]", "root.packages: expected at least one"),
        (
            "root.packages=[\"gawk\", \"Make!\"]",
            "root.packages[1]: expected the name of one of Debian's packages",
        ),
        (
            "root.packages=[\"-o\"]",
            "root.packages[0]: expected the name",
        ),
        (
            "root.suite=\"book worm\"",
            "root.suite: expected the name of a release",
        ),
        ("root.free_mb=0", "root.free_mb: expected 1 to 65536"),
        ("root.package=[\"gawk\"]", "did you mean packages?"),
    ] {
        let error = load(&[set]).expect_err(set);
        assert!(error.contains(wanted), "{set}: {error}");
    }
    let without = GOOD.replace("[root]", "[presets.x.root]");
    let error = Experiment::parse(Path::new("x.toml"), &without, &Changes::default()).unwrap_err();
    assert_eq!(error.field, "workers.count.does.program");
    assert!(
        error.message.contains("add [root] with packages"),
        "{error}"
    );
}

/// What a guest or a run finds out names the file and the line of the field as well.
#[test]
fn a_failure_in_a_guest_gets_the_line_of_its_field() {
    let experiment = load(&["root.prepare=[\"true\", \"false\"]"]).unwrap();
    let line = |text: &str| 1 + GOOD.lines().position(|line| line.contains(text)).unwrap();
    let message =
        "workers.count.does.program.measure.speed: no line of sh matched x; it printed nothing";
    let speed = line("measure = { speed");
    assert_eq!(
        experiment.places.placed(message),
        format!("x.toml:{speed}: {message}")
    );
    let other = "mounting /dev/ubdc at /programs: Invalid argument";
    assert_eq!(experiment.places.placed(other), other);
    let broken = experiment
        .places
        .broken("root.packages[0]", "no such package");
    let packages = line("packages =");
    let expected = format!("x.toml:{packages}: root.packages[0]: no such package\n");
    assert!(broken.to_string().starts_with(&expected), "{broken}");
    let broken = experiment.places.broken("root.prepare[1]", "failed");
    assert!(
        broken
            .to_string()
            .starts_with("--set:1: root.prepare[1]: failed"),
        "{broken}"
    );
}

#[test]
fn a_daemon_of_a_root_needs_the_root_and_a_name() {
    let loaded = |text: &str, daemon: &str| {
        let arm = "kernel = \"vanilla\"";
        let daemon = format!("{arm}\ndaemon = {{ {daemon}, in_root = true }}");
        let text = text.replacen(arm, &daemon, 1);
        let loaded = Experiment::parse(Path::new("x.toml"), &text, &Changes::default());
        loaded.map(|_| ()).map_err(|broken| broken.to_string())
    };
    loaded(GOOD, "program = \"sh\"").unwrap();
    for (text, daemon, wanted) in [
        (GOOD, "config = {}", "goes with `program`"),
        (
            include_str!("data/good.toml"),
            "program = \"sh\"",
            "the experiment has no [root]",
        ),
    ] {
        let message = loaded(text, daemon).unwrap_err();
        let wanted = format!("arms[0].daemon.in_root: {wanted}");
        assert!(message.contains(&wanted), "{message}");
    }
}
