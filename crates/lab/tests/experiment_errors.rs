//! Broken experiment files: the error names the file, the line, the field and the expected values.
//!
//! Each case changes one thing of the good file.
use lab::experiment::{Changes, Experiment};
use std::path::Path;

/// A valid experiment, which tests break.
const GOOD: &str = include_str!("data/good.toml");

/// A text to replace and its replacement; then a text of the reported line, the field, and a part of
/// the message.
struct Case {
    replace: &'static str,
    with: &'static str,
    line: &'static str,
    field: &'static str,
    message: &'static str,
}

macro_rules! case {
    ($replace:literal => $with:literal, at $line:literal, $field:literal, $message:literal) => {
        Case {
            replace: $replace,
            with: $with,
            line: $line,
            field: $field,
            message: $message,
        }
    };
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    // TOML's grammar.
    case!("cpus = 1" => "cpus = = 1", at "cpus = = 1", "", ""),
    case!("cpus = 1" => "cpus = 1\ncpus = 2", at "cpus = 2", "", "duplicate key"),
    // Fields: unknown, missing, of another type.
    case!("cpus = 1" => "cores = 1", at "cores = 1", "machine.cores", "unknown field `cores`"),
    case!("restart = true" => "restarts = true", at "restarts", "workers.hog.restarts", "unknown field"),
    case!("seconds = 2" => "", at "[[scenes]]", "scenes[1]", "missing field `seconds`"),
    case!("title = \"All in order\"\n" => "", at "about", "", "missing field `title`"),
    case!("memory_mb = 200" => "memory_mb = \"200\"", at "memory_mb", "machine.memory_mb", "\"200\": expected a whole number"),
    case!("count = 2" => "count = -2", at "count", "workers.hog.count", "-2: expected a whole number, 0 or more"),
    case!("run = [\"probe\"]" => "run = \"probe\"", at "run", "scenes[0].run", "expected a list"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = \"stock\"\nversion", at "stock", "arms[1].kernel", "unknown variant `stock`, expected one of `vanilla`, `series`"),
    // Kernels of the user.
    case!("kernel = \"vanilla\"\nversion" => "kernel = { series_dir = \"x\" }\nversion", at "series_dir", "arms[1].kernel.series_dir", "unknown field `series_dir`, expected one of `series-dir`, `tree`"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = {}\nversion", at "kernel = {}", "arms[1].kernel", "expected series-dir, tree or image"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = { series-dir = \"none\" }\nversion", at "none", "arms[1].kernel.series-dir", "none: no patch (NNNN-name.patch) there"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = { tree = \"none\" }\nversion", at "none", "arms[1].kernel.tree", "none"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = { image = \"none\" }\nversion", at "none", "arms[1].kernel.image", "none: there is no such file"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = { image = \"x\", tree = \"y\" }\nversion", at "image", "arms[1].kernel.image", "give `image` alone"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = { patches = \"series\" }\nversion", at "patches", "arms[1].kernel.patches", "write kernel = \"series\""),
    case!("lru = \"classic\"" => "lru = \"lru\"", at "lru = \"lru\"", "arms[0].lru", "expected `classic` or `mglru`"),
    case!("does.hog =" => "does.pig =", at "does.pig", "workers.hog.does.pig", "unknown variant `pig`"),
    case!("fill = \"mixed\"" => "fill = \"ones\"", at "does.hog", "workers.hog.does.hog.fill", "unknown variant `ones`"),
    case!("better = \"higher\"" => "better = \"more\"", at "better", "figures[0].better", "unknown variant `more`"),
    case!("{ \"vm.swappiness\" = 100" => "{ \"vm.swappiness\" = 1.5", at "knobs", "arms[1].knobs.vm.swappiness", "expected a string, an integer or a switch"),
    case!("seconds = 2" => "seconds = \"30s\"", at "30s", "scenes[1].seconds", "\"30s\": expected a number"),
    case!("does.probe = { file = \"probe\", period_ms = 100 }" => "does = \"probe\"", at "does =", "workers.probe.does", "expected probe with its fields: does.probe = { ... }"),
    // Sizes.
    case!("probe = \"10%\"" => "probe = \"ten\"", at "ten", "files.probe", "expected a size"),
    case!("probe = \"10%\"" => "probe = -5", at "-5", "files.probe", "expected a size"),
    case!("probe = \"10%\"" => "probe = \"2000%\"", at "2000%", "files.probe", "expected a share of memory from 0% to 1000%, not 2000%"),
    case!("probe = \"10%\"" => "probe = 0", at "probe = 0", "files.probe", "expected a size above 0"),
    case!("size = \"25%\"" => "size = \"25 %%\"", at "25 %%", "workers.hog.does.hog.size", "expected a size"),
    case!("size = \"25%\"" => "size = \"1001%\"", at "1001%", "workers.hog.does.hog.size", "expected a share"),
    case!("disk_read = \"100MB\"" => "disk_read = \"5%\"", at "disk_read", "machine.disk_read", "expected bytes a second"),
    // Numbers out of range.
    case!("repetitions = 3" => "repetitions = 0", at "repetitions = 0", "repetitions", "expected 1 to 1000"),
    case!("memory_mb = 200" => "memory_mb = 8", at "memory_mb = 8", "machine.memory_mb", "expected 32 to 65536, not 8"),
    case!("cpus = 1" => "cpus = 0", at "cpus", "machine.cpus", "expected 1 to 64"),
    case!("cpus = 1" => "cpus = 1\nicount = true", at "icount", "machine.icount", "needs bed = \"qemu\""),
    case!("sample_ms = 200" => "sample_ms = 60000\nsilent_s = 100", at "silent_s", "machine.silent_s", "twice `sample_ms`"),
    case!("count = 2" => "count = 0", at "count", "workers.hog.count", "expected 1 to 1000"),
    case!("period_ms = 100" => "period_ms = 0", at "period_ms", "workers.probe.does.probe.period_ms", "at least 1"),
    case!("count = 2" => "oom_score_adj = 1001", at "oom_score_adj", "workers.hog.oom_score_adj", "expected -1000 to 1000"),
    case!("seconds = 0.5" => "seconds = 0", at "seconds = 0", "scenes[0].seconds", "above 0"),
    case!("seconds = 0.5" => "seconds = 0.5\nuntil = \"exhausted\"", at "until", "scenes[0].until", "never exhausted while `exhausted_below` is 0"),
    case!("label = \"MGLRU\"" => "in_proportion = true", at "in_prop", "arms[1].in_proportion", "goes with `memory_mb`"),
    case!("\"vm.swappiness\" = 100" => "\"vm.clean_min_ratio\" = 101", at "clean_min", "arms[1].knobs.vm.clean_min_ratio", "a percentage, 0 to 100, not 101"),
    // Names that are not defined.
    case!("run = [\"probe\", \"hog\"]" => "run = [\"probe\", \"hgo\"]", at "hgo", "scenes[1].run[1]", "no worker is called \"hgo\"; there are hog, probe"),
    case!("file = \"probe\"" => "file = \"prob\"", at "does.probe", "workers.probe.does.probe.file", "[files] has no \"prob\"; there are huge, probe"),
    case!("baseline = \"classic\"" => "baseline = \"clasic\"", at "clasic", "arms[1].baseline", "no arm is called \"clasic\"; there are classic, mglru"),
    case!("title = \"Resident\"\nscene = \"pressure\"" => "title = \"Resident\"\nscene = \"presure\"", at "presure", "figures[0].scene", "no scene is called \"presure\"; there are calm, pressure"),
    case!("arms = [\"mglru\"]" => "arms = [\"mglru\", \"lru\"]", at "arms = [", "promises[0].arms[1]", "no arm is called \"lru\""),
    case!("arms = [\"mglru\"]" => "arms = [\"classic\"]", at "arms = [", "promises[0].arms[0]", "has no baseline"),
    case!("relative_to = \"baseline\"" => "relative_to.scene = \"quiet\"", at "quiet", "promises[0].relative_to.scene", "no scene is called \"quiet\""),
    // Names used twice, or not fit for a file's name.
    case!("name = \"mglru\"" => "name = \"classic\"", at "name = \"classic\"", "arms[1].name", "another arm is called \"classic\""),
    case!("name = \"pressure\"" => "name = \"calm\"", at "name = \"calm\"", "scenes[1].name", "another scene is called \"calm\""),
    case!("name = \"mglru\"" => "name = \"../mglru\"", at "../mglru", "arms[1].name", "an arm's name is made of"),
    // Settings and promises.
    case!("\"/proc/sys/vm/panic_on_oom\" = false" => "\"/etc/passwd\" = 1", at "/etc/passwd", "arms[1].knobs./etc/passwd", "below /proc or /sys"),
    case!("at_least = 0.01" => "", at "[[promises]]", "promises[0]", "expected at_least or at_most"),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"\"\nbetter", at "metric = \"\"", "figures[0].metric", "expected a measure"),
    case!("at_least = 0.01" => "at_least = 2\nat_most = 1", at "at_least = 2", "promises[0].at_least", "2 is above at_most = 1"),
    case!("baseline = \"classic\"" => "baseline = \"mglru\"", at "baseline = \"mglru\"", "arms[1].baseline", "no baseline of itself"),
    case!("seed = 7" => "seed = 7\nexhausted_below = \"155%\"", at "155%", "exhausted_below", "at most 100%, not 155%"),
    // Metrics that nothing records, or not in this way.
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"probe.residnt\"\nbetter", at "residnt", "figures[0].metric", "worker \"probe\", a probe, does not observe \"residnt\"; there are resident, read_ms, deaths; did you mean resident?"),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"prob.resident\"\nbetter", at "prob.", "figures[0].metric", "did you mean probe.resident?"),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"pgscan_direct\"\nbetter", at "pgscan", "figures[0].metric", "did you mean vmstat.pgscan_direct?"),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"vmstat.pgscan_direct\"\nbetter", at "pgscan", "figures[0].metric", "set statistic to \"delta\" or \"rate\""),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"probe.resident+probe.read_ms\"\nbetter", at "read_ms", "figures[0].metric", "only counters are added"),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"hog.mb_per_s\"\nbetter", at "mb_per_s", "figures[0].metric", "with from_outside = true alone"),
    case!("metric = \"probe.resident\"\nrelative_to" => "metric = \"direct_reclaim.count\"\nrelative_to", at "direct", "promises[0].metric", "set machine.trace = [\"direct-reclaim\"]"),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"direct_reclaim.cuont\"\nbetter", at "cuont", "figures[0].metric", "did you mean count?"),
    case!("metric = \"probe.resident\"\nrelative_to" => "metric = \"probe.resident\"\nstatistic = \"rate\"\nrelative_to", at "metric", "promises[0].metric", "has no delta or rate"),
    // Settings that the arm's kernel or daemon lacks.
    case!("\"vm.swappiness\" = 100" => "\"vm.claen_min_ratio\" = 10", at "claen", "arms[1].knobs.vm.claen_min_ratio", "did you mean vm.clean_min_ratio?"),
    case!("\"vm.swappiness\" = 100" => "\"vm.clean_min_ratio\" = 10", at "clean", "arms[1].knobs.vm.clean_min_ratio", "it needs \"series\" or \"both\""),
    case!("label = \"MGLRU\"" => "daemon = { config = { agressiveness = 2 } }", at "agress", "arms[1].daemon.config.agressiveness", "did you mean aggressiveness?"),
    case!("label = \"MGLRU\"" => "daemon = { config = { protect = { anon_min_ratio = 200 } } }", at "200", "arms[1].daemon.config.protect.anon_min_ratio", "out of range"),
    // In presets, at the preset's own line.
    case!("memory_mb = 128" => "memory_mb = 1", at "memory_mb = 1", "machine.memory_mb", "expected 32 to 65536"),
    case!("memory_mb = 128" => "memory = 128", at "memory = 128", "machine.memory", "unknown field"),
];

#[test]
fn each_error_names_its_line_and_field() {
    for case in CASES {
        assert_eq!(
            GOOD.matches(case.replace).count(),
            1,
            "{:?} is not unique",
            case.replace
        );
        let text = GOOD.replace(case.replace, case.with);
        let changes = Changes {
            preset: Some("small".into()),
            set: vec![],
        };
        // Presets replace some fields. An error in a replaced field shows only without the preset.
        let plain = Experiment::parse(Path::new("dir/x.toml"), &text, &Changes::default());
        let broken =
            plain.and_then(|_| Experiment::parse(Path::new("dir/x.toml"), &text, &changes));
        let broken = match broken {
            Err(broken) => broken,
            Ok(_) => panic!("no error for {:?}", case.with),
        };
        let shown = format!("{:?} gave:\n{broken}", case.with);
        assert_eq!(broken.file, "dir/x.toml", "{shown}");
        assert_eq!(broken.field, case.field, "{shown}");
        assert!(broken.message.contains(case.message), "{shown}");
        let line = text.lines().nth(broken.line - 1).unwrap_or_default();
        assert!(
            line.contains(case.line),
            "{shown}\nexpected a line with {:?}",
            case.line
        );
        assert_eq!(broken.excerpt.0, line, "{shown}");
        assert!(broken.to_string().starts_with("dir/x.toml:"), "{shown}");
    }
}

#[test]
fn the_message_marks_the_columns_of_the_error() {
    let text = GOOD.replace("[\"probe\", \"hog\"]", "[\"probe\", \"hgo\"]");
    let broken = Experiment::parse(Path::new("x.toml"), &text, &Changes::default()).unwrap_err();
    let number = text.lines().position(|line| line.contains("hgo")).unwrap() + 1;
    let expected = format!(
        "x.toml:{number}: scenes[1].run[1]: no worker is called \"hgo\"; there are hog, probe\n  \
         {number} | run = [\"probe\", \"hgo\"]\n     |                 ^^^^^"
    );
    assert_eq!(broken.to_string(), expected);
}

/// A line of any length is cut around the error, and so is a value in a message.
#[test]
fn a_long_line_is_cut_around_the_place() {
    let before = " ".repeat(70_000);
    let text = GOOD.replace("cpus = 1", &format!("cpus = {before}\"x\" # {before}"));
    let broken = Experiment::parse(Path::new("x.toml"), &text, &Changes::default()).unwrap_err();
    let shown = broken.to_string();
    assert!(shown.contains("\"x\""), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() < 140),
        "{shown}"
    );
    let columns = broken.excerpt.1.clone();
    let marked: String = { broken.excerpt.0.chars().skip(columns.start) }
        .take(columns.len())
        .collect();
    assert_eq!(marked, "\"x\"");
    let text = GOOD.replace("cpus = 1", &format!("cpus = \"{}\"", "x".repeat(70_000)));
    let broken = Experiment::parse(Path::new("x.toml"), &text, &Changes::default()).unwrap_err();
    assert!(
        broken.to_string().len() < 1000,
        "{}",
        broken.to_string().len()
    );
}

#[test]
fn what_has_no_effect_is_a_note_with_its_place() {
    let notes = |text: &str| {
        let read = Experiment::parse(Path::new("x.toml"), text, &Changes::default());
        read.unwrap_or_else(|broken| panic!("{broken}")).notes
    };
    let found = notes(GOOD);
    let fields: Vec<&str> = found.iter().map(|note| note.field.as_str()).collect();
    assert_eq!(fields, ["files.huge"], "{found:?}");
    assert!(found[0].line > 0);
    let text = GOOD.replace(
        "metric = \"probe.resident\"\nbetter",
        "metric = \"vmstat.pgscan_dirct\"\nstatistic = \"delta\"\nbetter",
    );
    let found = notes(&text.replace("huge = \"64MiB\"\n", ""));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].field, "figures[0].metric");
    assert!(
        found[0].message.contains("did you mean pgscan_direct?"),
        "{found:?}"
    );
}

/// A list is one value: a `--set` cannot reach into it.
#[test]
fn a_change_of_an_entry_of_a_list_says_what_to_do() {
    for set in [
        "scenes.0.seconds=9",
        "scenes[0].seconds=9",
        "arms.mglru.version=\"6.12\"",
    ] {
        let changes = Changes {
            preset: None,
            set: vec![set.into()],
        };
        let broken = Experiment::parse(Path::new("x.toml"), GOOD, &changes).unwrap_err();
        let list = &set[..set.find(['.', '[']).unwrap()];
        let wanted = format!("[[{list}]] needs a preset, which has the whole list, or a copy");
        assert!(broken.message.contains(&wanted), "{set}: {broken}");
        assert_eq!(
            (broken.file.as_str(), broken.field.as_str()),
            ("--set", list)
        );
    }
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let broken = Experiment::load(Path::new("/nowhere/x.toml"), &Changes::default()).unwrap_err();
    let message = broken.to_string();
    assert!(
        message.starts_with("/nowhere/x.toml: cannot be read: No such file"),
        "{message}"
    );
}
