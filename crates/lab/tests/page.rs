//! docs/guide/experiment.md has every field and every metric that the lab knows.
use lab::experiment::{Changes, Experiment};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../docs/guide/experiment.md");
const GOOD: &str = include_str!("data/good.toml");

/// The text below a heading, up to the next heading of any level.
fn section(heading: &str) -> &'static str {
    let begin = PAGE.find(&format!("\n{heading}\n"));
    let begin = begin.unwrap_or_else(|| panic!("the page has no {heading:?}")) + heading.len() + 2;
    let rest = &PAGE[begin..];
    &rest[..rest.find("\n#").unwrap_or(rest.len())]
}

fn error(text: &str) -> String {
    let read = Experiment::parse(Path::new("x.toml"), text, &Changes::default());
    match read {
        Err(broken) => broken.message,
        Ok(_) => panic!("no error: {text}"),
    }
}

/// The names that a message of an unknown one lists.
fn listed(message: &str) -> Vec<String> {
    assert!(message.contains("no_such"), "{message}");
    let names = message.split('`').skip(3).step_by(2);
    names.map(str::to_string).collect()
}

/// The error of the hog with other work.
fn with_work(work: &str) -> String {
    let hog = "does.hog = { size = \"25%\", fill = \"mixed\" }";
    assert!(GOOD.contains(hog));
    error(&GOOD.replace(hog, work))
}

fn kinds() -> Vec<String> {
    listed(&with_work("does.no_such = {}"))
}

#[test]
fn every_field_is_on_the_page() {
    let daemon = "daemon = { no_such = 1 }\nlabel = \"MGLRU\"";
    for (heading, from, to) in [
        ("## The top of the file", "seed = 7", "no_such = 7"),
        ("## machine", "cpus = 1", "no_such = 1"),
        ("## workers", "restart = true", "no_such = true"),
        ("## scenes", "until = ", "no_such = "),
        ("## arms", "label = \"MGLRU\"", "no_such = 1"),
        ("### Daemons", "label = \"MGLRU\"", daemon),
        ("## figures", "better = ", "no_such = "),
        (
            "## charts",
            "[[figures]]",
            "[[charts]]\nno_such = 1\n[[figures]]",
        ),
        (
            "## curves",
            "[[figures]]",
            "[[curves]]\nno_such = 1\n[[figures]]",
        ),
        (
            "## sweeps",
            "[[figures]]",
            "[[sweeps]]\nno_such = 1\n[[figures]]",
        ),
        (
            "## comparisons",
            "[[figures]]",
            "[[comparisons]]\nno_such = 1\n[[figures]]",
        ),
        ("## promises", "at_least = 0.01", "no_such = 1"),
        (
            "### Kernels",
            "kernel = \"vanilla\"\nversion",
            "kernel = \"no_such\"\nversion",
        ),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let fields = listed(&error(&GOOD.replacen(from, to, 1)));
        assert!(fields.len() > 2, "{heading}: {fields:?}");
        let text = section(heading);
        for field in fields {
            assert!(
                text.contains(&format!("`{field}`")),
                "{heading} lacks {field}"
            );
        }
    }
}

#[test]
fn every_kind_of_work_is_on_the_page_with_its_fields() {
    let kinds = kinds();
    assert!(kinds.len() > 20, "{kinds:?}");
    for kind in kinds {
        let text = section(&format!("### {kind}"));
        let message = with_work(&format!("does.{kind} = {{ no_such = 1 }}"));
        for field in listed(&message) {
            assert!(text.contains(&format!("`{field}`")), "{kind} lacks {field}");
        }
    }
}

/// By the workers of this repository's experiments: all kinds but a few are among them.
#[test]
fn every_metric_of_a_worker_is_on_the_page() {
    let mut seen = BTreeSet::new();
    for path in experiments() {
        let experiment = Experiment::load(&path, &Changes::default());
        let experiment = experiment.unwrap_or_else(|broken| panic!("{broken}"));
        for worker in experiment.workers.values() {
            let kind = worker.does.name();
            let text = section(&format!("### {kind}"));
            for metric in worker.does.observes() {
                assert!(
                    text.contains(&format!("`{metric}`")),
                    "{kind} lacks {metric}"
                );
            }
            seen.insert(kind);
        }
    }
    assert!(seen.len() >= kinds().len() - 2, "{seen:?}");
}

#[test]
fn every_metric_of_a_guest_is_on_the_page() {
    let text = section("## Metrics");
    for (name, _) in protocol::metric::of_guest(1) {
        let end = name.rsplit('.').next().unwrap();
        let whole = text.contains(&format!("`{name}`")) || name.starts_with("psi.");
        let listed = name.starts_with("meminfo.") && text.contains(&format!("`{end}`"))
            || name.starts_with("node0.") && text.contains(&format!("`nodeN.{end}`"));
        assert!(whole || listed, "{name}");
    }
    use protocol::spec::Trace::{DirectReclaim, PageCache};
    for (of, names) in [DirectReclaim, PageCache].map(protocol::metric::of_trace) {
        assert!(text.contains(&format!("`{of}.NAME`")));
        for name in names {
            assert!(text.contains(&format!("`{name}`")), "{of}.{name}");
        }
    }
}

fn experiments() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let files = inside(&root).into_iter().flat_map(|folder| inside(&folder));
    files
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        // The league's answers are no experiment.
        .filter(|path| path.file_stem() != Some("challengers".as_ref()))
        .collect()
}
