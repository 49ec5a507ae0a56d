//! Broken experiment files: the error names the file, the line and the field, and what was expected.
//!
//! Each case changes one thing of the good file.
mod common;

use common::GOOD;
use lab::experiment::{Changes, Experiment};
use std::path::Path;

/// What to replace, with what, the text that the reported line must contain, field and message.
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
    case!("memory_mb = 200" => "memory_mb = \"200\"", at "memory_mb", "machine.memory_mb", "invalid type: string \"200\", expected u64"),
    case!("count = 2" => "count = -2", at "count", "workers.hog.count", "invalid value"),
    case!("run = [\"probe\"]" => "run = \"probe\"", at "run", "scenes[0].run", "expected a sequence"),
    case!("kernel = \"vanilla\"\nversion" => "kernel = \"stock\"\nversion", at "stock", "arms[1].kernel", "unknown variant `stock`, expected one of `vanilla`, `series`"),
    case!("lru = \"classic\"" => "lru = \"lru\"", at "lru = \"lru\"", "arms[0].lru", "expected `classic` or `mglru`"),
    case!("does.hog =" => "does.pig =", at "does.pig", "workers.hog.does.pig", "unknown variant `pig`"),
    case!("fill = \"mixed\"" => "fill = \"ones\"", at "does.hog", "workers.hog.does.hog.fill", "unknown variant `ones`"),
    case!("better = \"higher\"" => "better = \"more\"", at "better", "figures[0].better", "unknown variant `more`"),
    case!("{ \"vm.swappiness\" = 100" => "{ \"vm.swappiness\" = 1.5", at "knobs", "arms[1].knobs.vm.swappiness", "expected a string, an integer or a switch"),
    // Sizes.
    case!("probe = \"10%\"" => "probe = \"ten\"", at "ten", "files.probe", "expected a size: bytes, \"64MiB\", \"100MB\" or a share"),
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
    case!("sample_ms = 200" => "sample_ms = 60000\nsilent_s = 100", at "silent_s", "machine.silent_s", "silence cannot be told"),
    case!("count = 2" => "count = 0", at "count", "workers.hog.count", "expected 1 to 1000"),
    case!("period_ms = 100" => "period_ms = 0", at "period_ms", "workers.probe.does.probe.period_ms", "at least 1"),
    case!("count = 2" => "oom_score_adj = 1001", at "oom_score_adj", "workers.hog.oom_score_adj", "expected -1000 to 1000"),
    case!("seconds = 0.5" => "seconds = 0", at "seconds = 0", "scenes[0].seconds", "above 0"),
    case!("\"vm.swappiness\" = 100" => "\"vm.clean_min_ratio\" = 101", at "clean_min", "arms[1].knobs.vm.clean_min_ratio", "a percentage, 0 to 100, not 101"),
    // Names that nothing has.
    case!("run = [\"probe\", \"hog\"]" => "run = [\"probe\", \"hgo\"]", at "hgo", "scenes[1].run[1]", "no worker is called \"hgo\"; there are hog, probe"),
    case!("file = \"probe\"" => "file = \"prob\"", at "does.probe", "workers.probe.does.probe.file", "[files] has no \"prob\"; there are huge, probe"),
    case!("baseline = \"classic\"" => "baseline = \"clasic\"", at "clasic", "arms[1].baseline", "no arm is called \"clasic\"; there are classic, mglru"),
    case!("title = \"Resident\"\nscene = \"pressure\"" => "title = \"Resident\"\nscene = \"presure\"", at "presure", "figures[0].scene", "no scene is called \"presure\"; there are calm, pressure"),
    case!("arms = [\"mglru\"]" => "arms = [\"mglru\", \"lru\"]", at "arms = [", "promises[0].arms[1]", "no arm is called \"lru\""),
    case!("arms = [\"mglru\"]" => "arms = [\"classic\"]", at "arms = [", "promises[0].arms[0]", "has no baseline"),
    case!("relative_to = \"baseline\"" => "relative_to.scene = \"quiet\"", at "quiet", "promises[0].relative_to.scene", "no scene is called \"quiet\""),
    // Names twice, or not fit for a file's name.
    case!("name = \"mglru\"" => "name = \"classic\"", at "name = \"classic\"", "arms[1].name", "another arm is called \"classic\""),
    case!("name = \"pressure\"" => "name = \"calm\"", at "name = \"calm\"", "scenes[1].name", "another scene is called \"calm\""),
    case!("name = \"mglru\"" => "name = \"../mglru\"", at "../mglru", "arms[1].name", "an arm's name is made of"),
    // Settings and promises.
    case!("\"/proc/sys/vm/panic_on_oom\" = false" => "\"/etc/passwd\" = 1", at "/etc/passwd", "arms[1].knobs./etc/passwd", "below /proc or /sys"),
    case!("at_least = 0.01" => "", at "[[promises]]", "promises[0]", "expected at_least or at_most"),
    case!("metric = \"probe.resident\"\nbetter" => "metric = \"\"\nbetter", at "metric = \"\"", "figures[0].metric", "expected a measure"),
    // In presets, at the preset's own line.
    case!("memory_mb = 128" => "memory_mb = 1", at "memory_mb = 1", "machine.memory_mb", "expected 32 to 65536"),
    case!("memory_mb = 128" => "memory = 128", at "memory = 128", "machine.memory", "unknown field"),
];

#[test]
fn each_fault_is_told_with_line_and_field() {
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
        // Presets replace some fields: a fault there shows without them.
        let plain = Experiment::parse(Path::new("dir/x.toml"), &text, &Changes::default());
        let broken =
            plain.and_then(|_| Experiment::parse(Path::new("dir/x.toml"), &text, &changes));
        let broken = match broken {
            Err(broken) => broken,
            Ok(_) => panic!("not noticed: {:?}", case.with),
        };
        let told = format!("{:?} gave:\n{broken}", case.with);
        assert_eq!(broken.file, "dir/x.toml", "{told}");
        assert_eq!(broken.field, case.field, "{told}");
        assert!(broken.message.contains(case.message), "{told}");
        let line = text.lines().nth(broken.line - 1).unwrap_or_default();
        assert!(
            line.contains(case.line),
            "{told}\nexpected a line with {:?}",
            case.line
        );
        assert_eq!(broken.excerpt.0, line, "{told}");
        assert!(broken.to_string().starts_with("dir/x.toml:"), "{told}");
    }
}

#[test]
fn the_message_points_at_the_place() {
    let text = GOOD.replace("[\"probe\", \"hog\"]", "[\"probe\", \"hgo\"]");
    let broken = Experiment::parse(Path::new("x.toml"), &text, &Changes::default()).unwrap_err();
    let number = text.lines().position(|line| line.contains("hgo")).unwrap() + 1;
    let expected = format!(
        "x.toml:{number}: scenes[1].run[1]: no worker is called \"hgo\"; there are hog, probe\n  \
         {number} | run = [\"probe\", \"hgo\"]\n     |                 ^^^^^"
    );
    assert_eq!(broken.to_string(), expected);
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let broken = Experiment::load(Path::new("/nowhere/x.toml"), &Changes::default()).unwrap_err();
    let said = broken.to_string();
    assert!(
        said.starts_with("/nowhere/x.toml: cannot be read: No such file"),
        "{said}"
    );
}
