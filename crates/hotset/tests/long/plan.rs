//! How each example is run.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// As it stands.
    Here,
    /// It goes on until Ctrl-C, or for an hour.
    UntilCtrlC,
    /// It boots guests for minutes: with `--dry-run` all is checked, and nothing is booted.
    CheckOnly,
    /// It builds kernels for minutes: with a source that does not exist, all options are checked.
    NoSource,
    /// What runs it instead.
    Elsewhere(&'static str),
}

/// Beginnings of lines, and how they are run. The first that fits counts.
pub const RULES: &[(&str, Run)] = &[
    ("sudo systemctl", Run::Elsewhere("tests/systemd")),
    ("sudo mkdir", Run::Elsewhere("tests/systemd")),
    ("sudo ln", Run::Elsewhere("tests/systemd")),
    ("sudo sysctl", Run::Elsewhere("the series' tests in guests")),
    (
        "sudo make install",
        Run::Elsewhere("hotsetd's test of the installation"),
    ),
    ("make", Run::Elsewhere("hotsetd's test of the installation")),
    ("git am", Run::Elsewhere("hotset kernel check")),
    ("cargo", Run::Elsewhere("script/test")),
    ("script/", Run::Elsewhere("CI")),
    ("sudo apt-get", Run::Elsewhere("tests/packages")),
    (
        "sudo hotset top",
        Run::Elsewhere("tests/system/top.rs: it needs a terminal"),
    ),
    (
        "hotset top",
        Run::Elsewhere("tests/system/top.rs: it needs a terminal"),
    ),
    (
        "sudo hotset metrics",
        Run::Elsewhere("tests/operate: it needs a daemon"),
    ),
    (
        "sudo hotset support",
        Run::Elsewhere("tests/operate: it needs a terminal"),
    ),
    (
        "sudo hotset replay",
        Run::Elsewhere("tests/explain.rs: it needs hotsetd's record"),
    ),
    (
        "sudo hotset explain",
        Run::Elsewhere("tests/explain.rs: it needs hotsetd's record"),
    ),
    (
        "hotset explain",
        Run::Elsewhere("tests/explain.rs: it needs a freeze"),
    ),
    (
        "sudo hotset size",
        Run::Elsewhere("crates/lab's tests in guests: it needs the kernel's tracing"),
    ),
    (
        "hotset lab bisect",
        Run::Elsewhere("tests/lab/bisect.rs: it builds kernels"),
    ),
    (
        "hotset status",
        Run::Elsewhere("tests/status.rs: it needs a daemon"),
    ),
    (
        "hotset lab run three-workers --resume",
        Run::Elsewhere("tests in guests: it needs an interrupted run"),
    ),
    (
        "hotset lab league --resume",
        Run::Elsewhere("tests of lab run: it needs an interrupted run"),
    ),
    (
        "hotset lab report",
        Run::Elsewhere("tests of report: it needs a finished run"),
    ),
    (
        "hotset sim validate",
        Run::Elsewhere("script/test --long: it needs a finished run"),
    ),
    (
        "hotset trace info FOLDER/",
        Run::Elsewhere("script/test --long: it needs a finished run"),
    ),
    (
        "hotset kernel fetch 6.12 --",
        Run::Elsewhere("script/test: it needs a network"),
    ),
    (
        "hotset sim sweep /data/",
        Run::Elsewhere("the line before it, with the same options"),
    ),
    (
        "hotset sim campaign run campaign.toml -o study/ --on",
        Run::Elsewhere("tests/engines: it needs the engine"),
    ),
    (
        "hotset sim campaign run campaign.toml -o /data",
        Run::Elsewhere("tests/engines: it needs a cluster"),
    ),
    ("systemctl", Run::Elsewhere("tests/systemd")),
    (
        "hotsetd --import-config",
        Run::Elsewhere("tests of hotsetd: it writes to /etc"),
    ),
    (
        "hotset trial",
        Run::Elsewhere("tests/trial: it changes the machine"),
    ),
    (
        "sudo hotset trial",
        Run::Elsewhere("tests/trial: it changes the machine"),
    ),
    ("hotset kernel", Run::NoSource),
    (
        "hotset lab run three-workers --on slurm",
        Run::Elsewhere("tests/engines: it needs Slurm"),
    ),
    (
        "hotset lab run three-workers --repetitions 20 --on slurm",
        Run::Elsewhere("tests/engines: it needs Slurm"),
    ),
    ("hotset lab run", Run::CheckOnly),
    (
        "hotset lab league --challengers mine.toml",
        Run::Elsewhere("crates/lab/tests/league.rs: it needs patches of the user"),
    ),
    ("hotset lab league", Run::CheckOnly),
    ("hotset record --for", Run::UntilCtrlC),
    ("hotsetd --dry-run", Run::UntilCtrlC),
    (
        "target/x86_64-unknown-linux-gnu/release/hotsetd --dry-run",
        Run::UntilCtrlC,
    ),
];

/// The place of the rule for a line. None is a line that runs as it stands.
pub fn rule(line: &str) -> Option<usize> {
    RULES.iter().position(|(begin, _)| line.starts_with(begin))
}

pub fn of(line: &str) -> Run {
    match line {
        "hotset kernel list" => Run::Here,
        _ => rule(line).map_or(Run::Here, |place| RULES[place].1),
    }
}
